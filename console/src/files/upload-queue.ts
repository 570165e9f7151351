// Chunked uploads. They continue while navigating, can be paused, and survive a lost network; after a reload,
// choosing the same file again resumes it.
import { useSyncExternalStore } from 'react';
import { call, Failure } from '../contract/api.ts';

export interface Upload {
  key: string;
  file: File;
  state: 'hashing' | 'uploading' | 'paused' | 'offline' | 'merging' | 'done' | 'failed';
  /** Bytes stored by the service. */
  sent: number;
  /** Bytes per second. */
  rate: number;
  failure?: Failure;
}

const chunkBytes = 5 * 1024 * 1024;
/** Hashed in memory by the page; larger files are hashed by the service only. */
const largestHashed = 256 * 1024 * 1024;
const retryMs = 2000;
const pollMs = 1000;

let uploads: readonly Upload[] = [];
const watchers = new Set<() => void>();
const doneListeners = new Set<() => void>();

function publish(next: readonly Upload[]): void {
  uploads = next;
  for (const watcher of watchers) watcher();
}

const change = (key: string, changes: Partial<Upload>): void =>
  publish(uploads.map((one) => (one.key === key ? { ...one, ...changes } : one)));

const find = (key: string): Upload | undefined => uploads.find((one) => one.key === key);

export const useUploads = (): readonly Upload[] =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => uploads,
  );

/** Calls back whenever a file has become an attachment. */
export function onUploaded(listener: () => void): () => void {
  doneListeners.add(listener);
  return () => doneListeners.delete(listener);
}

/** The same file gets the same key. */
const keyOf = ({ name, size, lastModified }: File): string => `${name} ${size} ${lastModified}`;

const placeOf = (key: string): string => `console.upload ${key}`;

export function addFiles(files: Iterable<File>): void {
  for (const file of files) {
    const key = keyOf(file);
    const known = find(key);
    if (known && known.state !== 'done' && known.state !== 'failed') continue;
    publish([...uploads.filter((one) => one.key !== key), { key, file, state: 'hashing', sent: 0, rate: 0 }]);
    void run(key);
  }
}

export const pause = (key: string): void => change(key, { state: 'paused', rate: 0 });

export function resume(key: string): void {
  change(key, { state: 'uploading', failure: undefined });
  void run(key);
}

export function forget(key: string): void {
  const chunkId = sessionStorage.getItem(placeOf(key));
  const isOpen = find(key)?.state !== 'done';
  sessionStorage.removeItem(placeOf(key));
  publish(uploads.filter((one) => one.key !== key));
  if (chunkId && isOpen)
    void call('POST /api/admin/attachments/chunk', { body: { action: 'cancel', chunk_id: chunkId } }).catch(
      () => undefined,
    );
}

async function run(key: string): Promise<void> {
  const upload = find(key);
  if (!upload) return;
  try {
    await send(upload);
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure(String(error), -1);
    const isWanted = find(key)?.state !== 'paused';
    if (!isWanted) return;
    if (!failure.isPassing) return change(key, { state: 'failed', failure, rate: 0 });
    change(key, { state: 'offline', rate: 0 });
    setTimeout(
      () => find(key)?.state === 'offline' && resume(key),
      (failure.details.retryAfter ?? 0) * 1000 || retryMs,
    );
  }
}

async function send({ key, file }: Upload): Promise<void> {
  const { chunk_id, has } = await openSession(key, file);
  if (find(key)?.state === 'hashing') change(key, { state: 'uploading' });
  const total = Math.ceil(file.size / chunkBytes);
  const started = performance.now();
  let fresh = 0;
  for (let index = 0; index < total; index += 1) {
    if (find(key)?.state !== 'uploading') return;
    if (has.has(index)) continue;
    const chunk = file.slice(index * chunkBytes, (index + 1) * chunkBytes);
    const body = new FormData();
    for (const [name, value] of Object.entries({ action: 'upload', chunk_id, chunk_index: String(index) }))
      body.append(name, value);
    body.append('file', chunk, file.name);
    await call('POST /api/admin/attachments/chunk', { body });
    has.add(index);
    fresh += chunk.size;
    const rate = fresh / Math.max((performance.now() - started) / 1000, 0.05);
    change(key, { sent: Math.min(has.size * chunkBytes, file.size), rate });
  }
  change(key, { state: 'merging', rate: 0 });
  await merge(chunk_id);
  sessionStorage.removeItem(placeOf(key));
  change(key, { state: 'done', sent: file.size });
  for (const listener of doneListeners) listener();
}

// Resumes a session the service still has, or opens a new one.
async function openSession(key: string, file: File): Promise<{ chunk_id: string; has: Set<number> }> {
  const known = sessionStorage.getItem(placeOf(key));
  if (known) {
    try {
      const { uploaded_chunks } = await call('GET /api/admin/attachments/chunk', {
        query: { action: 'progress', chunk_id: known },
      });
      change(key, { sent: Math.min(uploaded_chunks.length * chunkBytes, file.size) });
      return { chunk_id: known, has: new Set(uploaded_chunks) };
    } catch (error) {
      if (error instanceof Failure && error.isPassing) throw error;
    }
  }
  const sha256 = file.size <= largestHashed ? await hashOf(file) : undefined;
  const body = {
    action: 'init' as const,
    filename: file.name,
    total_size: file.size,
    chunk_size: chunkBytes,
    sha256,
  };
  const answer = await call('POST /api/admin/attachments/chunk', { body });
  const chunk_id = 'chunk_id' in answer ? answer.chunk_id : '';
  sessionStorage.setItem(placeOf(key), chunk_id);
  return { chunk_id, has: new Set() };
}

async function hashOf(file: File): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function merge(chunk_id: string): Promise<void> {
  const answer = await call('POST /api/admin/attachments/chunk', { body: { action: 'merge', chunk_id } });
  if (!('status' in answer) || answer.status !== 'merging') return;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    const { status, error } = await call('GET /api/admin/attachments/chunk', {
      query: { action: 'progress', chunk_id },
    });
    if (status === 'completed') return;
    if (status === 'failed') throw new Failure(error ?? '', 422);
  }
}
