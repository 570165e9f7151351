// Chunked uploads. They continue while navigating, can be paused, and survive a lost network; after a reload,
// choosing the same file again resumes it. The next administrator in the tab neither sees nor sends them.
import { call, Failure } from '../contract/api.ts';
import { contentOf } from '../contract/file-content.ts';
import { hexOf } from '../contract/plain-http.ts';
import { session } from '../contract/session.ts';
import { createStore } from '../contract/store.ts';
import { namesInTab, tabStorage } from '../contract/tab-storage.ts';

export interface Upload {
  key: string;
  /** The administrator who has chosen it. */
  ownerId: number;
  file: File;
  state: 'waiting' | 'hashing' | 'uploading' | 'paused' | 'offline' | 'merging' | 'done' | 'failed';
  /** Bytes stored by the service. */
  sent: number;
  /** Bytes per second. */
  rate: number;
  failure?: Failure;
}

const chunkBytes = 5 * 1024 * 1024;
/** Hashed in memory by a page that came over https; all others by the service only. */
const largestHashed = 256 * 1024 * 1024;
/** The others wait: a whole folder at once would open more sessions than one administrator may have. */
const sentAtOnce = 4;
const retryMs = 2000;
const pollMs = 1000;

const uploads = createStore<readonly Upload[]>([]);
const doneListeners = new Set<() => void>();
/** The administrator who has signed in, once their files have been shown. */
let senderId: number | undefined;
/** What sends a file: one at a time, also when an upload is paused and resumed within a chunk. */
const senders = new Map<string, AbortController>();

const change = (key: string, changes: Partial<Upload>): void =>
  uploads.set(uploads.get().map((one) => (one.key === key ? { ...one, ...changes } : one)));

const find = (key: string): Upload | undefined => uploads.get().find((one) => one.key === key);

export const useUploads = uploads.use;

/** Calls back whenever a file has become an attachment. */
export function onUploaded(listener: () => void): () => void {
  doneListeners.add(listener);
  return () => doneListeners.delete(listener);
}

/** The same file of the same administrator gets the same key. */
const keyOf = (ownerId: number, { name, size, lastModified }: File): string =>
  `${ownerId} ${name} ${size} ${lastModified}`;

const placeOf = (key: string): string => `console.upload ${key}`;

/** Files that this tab has sent in part before it was loaded anew: each continues once it is chosen again. */
export const begun = (ownerId: number): { key: string; name: string }[] =>
  namesInTab()
    .filter((place) => place.startsWith(placeOf(`${ownerId} `)))
    .map((place) => place.slice(placeOf('').length))
    .filter((key) => !find(key))
    .map((key) => ({ key, name: /^\d+ (.*) \d+ \d+$/.exec(key)?.[1] ?? key }));

export function addFiles(ownerId: number, files: Iterable<File>): void {
  for (const file of files) {
    const key = keyOf(ownerId, file);
    const known = find(key);
    if (known && known.state !== 'done' && known.state !== 'failed') continue;
    const others = uploads.get().filter((one) => one.key !== key);
    uploads.set([...others, { key, ownerId, file, state: 'waiting', sent: 0, rate: 0 }]);
  }
  runWaiting();
}

/** Sends what waits, also since the end of the last session of that administrator. */
export function sendFor(ownerId: number): void {
  senderId = ownerId;
  runWaiting();
}

function runWaiting(): void {
  const all = uploads.get();
  const busy = all.filter(({ state }) => ['hashing', 'uploading', 'offline', 'merging'].includes(state));
  const waiting = all.filter(({ ownerId, state }) => state === 'waiting' && ownerId === senderId);
  for (const { key } of waiting.slice(0, Math.max(0, sentAtOnce - busy.length))) {
    change(key, { state: 'hashing' });
    void run(key).finally(runWaiting);
  }
}

export function pause(key: string): void {
  senders.get(key)?.abort();
  change(key, { state: 'paused', rate: 0 });
}

session.onLeave = () => {
  senderId = undefined;
  for (const { key, state } of uploads.get()) {
    if (state === 'done' || state === 'failed' || state === 'paused') continue;
    senders.get(key)?.abort();
    change(key, { state: 'waiting', rate: 0 });
  }
};

export function resume(key: string): void {
  change(key, { state: 'waiting', failure: undefined });
  runWaiting();
}

export function forget(key: string): void {
  senders.get(key)?.abort();
  uploads.set(uploads.get().filter((one) => one.key !== key));
  cancel(key);
  runWaiting();
}

/** Removes what the service has of a file that is not an attachment yet. */
function cancel(key: string): void {
  const chunkId = tabStorage.getItem(placeOf(key));
  tabStorage.removeItem(placeOf(key));
  if (chunkId)
    void call('POST /api/admin/attachments/chunk', { body: { action: 'cancel', chunk_id: chunkId } }).catch(
      () => undefined,
    );
}

async function run(key: string): Promise<void> {
  const upload = find(key);
  if (!upload) return;
  senders.get(key)?.abort();
  const sender = new AbortController();
  senders.set(key, sender);
  try {
    await send(upload, sender.signal);
  } catch (error) {
    // Removed while its session was being opened.
    if (!find(key)) return cancel(key);
    if (sender.signal.aborted) return;
    const failure = error instanceof Failure ? error : new Failure(String(error), -1);
    // What is refused for what it is cannot be continued after a reload.
    if (failure.status === 422) cancel(key);
    if (!failure.isPassing) return change(key, { state: 'failed', failure, rate: 0 });
    change(key, { state: 'offline', rate: 0 });
    setTimeout(
      () => find(key)?.state === 'offline' && resume(key),
      (failure.details.retryAfter ?? 0) * 1000 || retryMs,
    );
  }
}

async function send({ key, file }: Upload, signal: AbortSignal): Promise<void> {
  const { chunk_id, has } = await openSession(key, file, signal);
  signal.throwIfAborted();
  if (find(key)?.state === 'hashing') change(key, { state: 'uploading' });
  const total = Math.ceil(file.size / chunkBytes);
  const started = performance.now();
  let fresh = 0;
  for (let index = 0; index < total; index += 1) {
    if (has.has(index)) continue;
    // A file that cannot be read would look like a lost network to the call.
    const chunk = new Blob([await contentOf(file.slice(index * chunkBytes, (index + 1) * chunkBytes))]);
    const body = new FormData();
    for (const [name, value] of Object.entries({ action: 'upload', chunk_id, chunk_index: String(index) }))
      body.append(name, value);
    body.append('file', chunk, file.name);
    await call('POST /api/admin/attachments/chunk', { body, signal });
    signal.throwIfAborted();
    has.add(index);
    fresh += chunk.size;
    const rate = fresh / Math.max((performance.now() - started) / 1000, 0.05);
    change(key, { sent: Math.min(has.size * chunkBytes, file.size), rate });
  }
  change(key, { state: 'merging', rate: 0 });
  await merge(chunk_id, signal);
  signal.throwIfAborted();
  tabStorage.removeItem(placeOf(key));
  change(key, { state: 'done', sent: file.size });
  for (const listener of doneListeners) listener();
}

// Resumes a session the service still has, or opens a new one.
async function openSession(
  key: string,
  file: File,
  signal: AbortSignal,
): Promise<{ chunk_id: string; has: Set<number> }> {
  const known = tabStorage.getItem(placeOf(key));
  if (known) {
    try {
      const { uploaded_chunks, status } = await call('GET /api/admin/attachments/chunk', {
        query: { action: 'progress', chunk_id: known },
        signal,
      });
      // A merge that failed for want of room or of the storage keeps its chunks.
      if (status !== 'failed' || uploaded_chunks.length > 0) {
        change(key, { sent: Math.min(uploaded_chunks.length * chunkBytes, file.size) });
        return { chunk_id: known, has: new Set(uploaded_chunks) };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Failure && error.isPassing) throw error;
    }
  }
  const sha256 = isSecureContext && file.size <= largestHashed ? await hashOf(file) : undefined;
  signal.throwIfAborted();
  const body = {
    action: 'init' as const,
    filename: file.name,
    total_size: file.size,
    chunk_size: chunkBytes,
    sha256,
  };
  // Not to be aborted: a session that is opened must be known to be continued or cancelled.
  const answer = await call('POST /api/admin/attachments/chunk', { body });
  const chunk_id = 'chunk_id' in answer ? answer.chunk_id : '';
  tabStorage.setItem(placeOf(key), chunk_id);
  return { chunk_id, has: new Set() };
}

async function hashOf(file: File): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', await contentOf(file))));
}

async function merge(chunk_id: string, signal: AbortSignal): Promise<void> {
  const body = { action: 'merge' as const, chunk_id };
  const answer = await call('POST /api/admin/attachments/chunk', { body, signal });
  if (!('status' in answer) || answer.status !== 'merging') return;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    const { status, error_msg, uploaded_count } = await call('GET /api/admin/attachments/chunk', {
      query: { action: 'progress', chunk_id },
      signal,
    });
    if (status === 'completed') return;
    // It can be tried again as long as its chunks are there.
    if (status === 'failed') throw new Failure(error_msg ?? '', uploaded_count > 0 ? 500 : 422);
  }
}
