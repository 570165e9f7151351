// npm run bench -- files: a file of 1 GiB in chunks of 10 MiB, uploaded, merged and downloaded through the service.
//
// What is compared, and why that is fair:
// - API, one worker (--queues files) and the baseline are processes of their own over one MariaDB with durable commits, one
//   Redis and the same disk. The sender (this process) sends the same multipart bodies to both, two at a time.
// - Upload: the baseline (baselines/files.ts) streams every body to a file as it is and calls fsync before it answers. The
//   service parses the form, and its answer promises as much: file and folder are synced, the row is committed.
//   Both take turns; the ratio is that of the medians of three runs each.
// - Merge: from the request to the answer with the attachment, against `cat CHUNKS > FILE && sync FILE` with the same
//   chunks just before. The service also computes the SHA-256, looks into the content and syncs file, folder and row.
// - Download: the bytes must have the SHA-256 of what was sent, and so must the attachment say, else the exit code is 1.
// - The API's resident memory is sampled every 20 ms throughout.
//
// BENCH_FILES_MIB changes the size for a try.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startApi, startBaseline, startWorker, type Process } from './support/processes.js';
import { median, printTable, say, type Row } from './support/report.js';
import { runBench } from './support/run.js';
import { call, signIn } from './support/session.js';
import { makeSite, rows, type Site } from './support/site.js';

const mebibyte = 1024 * 1024;
const chunkMiB = 10;
const totalMiB = Number(process.env.BENCH_FILES_MIB ?? 1024);
const totalChunks = Math.ceil(totalMiB / chunkMiB);
const rounds = 3;
const atOnce = 2;
const root = process.env.STORAGE_ROOT as string;
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

type Headers = Record<string, string>;

// A film by its head; what follows is the same for all chunks but for their number.
const filmHead = Buffer.from(
  '0000001c6674797069736f6d0000020069736f6d69736f326d703431000000086d646174',
  'hex',
);
const noise = randomBytes(chunkMiB * mebibyte);

await runBench(async () => {
  const site = await makeSite('files');
  const api = await startApi(site);
  const [worker, baseline] = [await startWorker(site, 'files'), await startBaseline('files', site)];
  const headers = await signIn(api.url);
  const digest = createHash('sha256');
  for (let index = 0; index < totalChunks; index++) digest.update(contentOf(index));
  const sha256 = digest.digest('hex');
  const memory = watch(api);

  const [own, bare]: [number[], number[]] = [[], []];
  let session = '';
  for (let round = 0; round < rounds; round++) {
    session = await openSession(api, headers);
    own.push(
      await timed('upload to the service', () =>
        sendAll(`${api.url}/api/admin/attachments/chunk`, headers, session),
      ),
    );
    bare.push(await timed('upload to the baseline', () => sendAll(`${baseline.url}/`, {}, session)));
    await rm(join(root, 'baseline'), { recursive: true, force: true, maxRetries: 3 });
    await promisify(execFile)('mkdir', ['-p', join(root, 'baseline')]);
  }
  const cat = await timed('cat and sync', () => concatenate(site, session));
  let id = 0;
  const merged = await timed('merge', async () => (id = await merge(api, headers, session, sha256)));
  const downloaded = await timed('download', () => download(api, headers, id, sha256));
  const peak = memory();
  await worker.stop();

  const upload = median(bare) / median(own);
  const merging = cat / merged;
  const table: Row[] = [
    {
      name: 'upload',
      value: `${rate(median(own))}, ${upload.toFixed(2)} × baseline`,
      target: '≥ 0.5',
      reached: upload >= 0.5,
    },
    { name: '  its baseline', value: rate(median(bare)) },
    {
      name: 'merge',
      value: `${rate(merged)}, ${merging.toFixed(2)} × cat`,
      target: '≥ 0.5',
      reached: merging >= 0.5,
    },
    { name: '  cat and sync', value: rate(cat) },
    { name: 'download, digest equal', value: rate(downloaded) },
    {
      name: 'memory of the API, at most',
      value: `${peak.toFixed(0)} MB`,
      target: '< 220 MB',
      reached: peak < 220,
    },
  ];
  printTable(
    `bench:files (${totalMiB} MiB in chunks of ${chunkMiB} MiB, ${atOnce} at a time; medians of ${rounds} uploads)`,
    table,
  );
});

function contentOf(index: number): Buffer {
  const content = Buffer.from(noise.subarray(0, Math.min(chunkMiB, totalMiB - index * chunkMiB) * mebibyte));
  if (index === 0) filmHead.copy(content);
  else content.writeUInt32BE(index, 0);
  return content;
}

function openSession({ url }: Process, headers: Headers): Promise<string> {
  const body = {
    action: 'init',
    filename: 'bench.mp4',
    total_size: totalMiB * mebibyte,
    chunk_size: chunkMiB * mebibyte,
  };
  return call<{ chunk_id: string }>(`${url}/api/admin/attachments/chunk`, headers, body).then(
    ({ chunk_id }) => chunk_id,
  );
}

async function sendAll(url: string, headers: Headers, session: string): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < totalChunks) await send(url, headers, session, next++);
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
}

function send(url: string, headers: Headers, chunk_id: string, index: number): Promise<void> {
  const field = (name: string, value: string): string =>
    `--bench\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const fields = [
    ['action', 'upload'],
    ['chunk_id', chunk_id],
    ['chunk_index', String(index)],
  ];
  const head = `${fields.map(([name, value]) => field(name as string, value as string)).join('')}--bench\r\nContent-Disposition: form-data; name="file"; filename="blob"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const pieces = [Buffer.from(head), contentOf(index), Buffer.from('\r\n--bench--\r\n')];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      ...{ method: 'POST', agent },
      headers: {
        ...headers,
        'Content-Type': 'multipart/form-data; boundary=bench',
        'Content-Length': length,
      },
    });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      answer.resume();
      answer.on('end', () =>
        answer.statusCode === 200
          ? resolve()
          : reject(new Error(`chunk ${index} was answered ${answer.statusCode}`)),
      );
    });
    for (const piece of pieces) sent.write(piece);
    sent.end();
  });
}

async function concatenate({ db }: Site, session: string): Promise<void> {
  const chunks = await rows<{ storage_key: string }>(
    db,
    'SELECT storage_key FROM chunks WHERE chunk_id = ? ORDER BY chunk_index',
    [session],
  );
  const target = join(root, 'concatenated');
  const paths = chunks.map(({ storage_key }) => join(root, storage_key));
  await promisify(execFile)('sh', [
    '-c',
    'target=$1; shift; cat "$@" > "$target" && sync "$target"',
    'sh',
    target,
    ...paths,
  ]);
  await rm(target);
}

async function merge({ url }: Process, headers: Headers, chunk_id: string, sha256: string): Promise<number> {
  const path = `${url}/api/admin/attachments/chunk`;
  const answer = await call<{ id?: number }>(path, headers, { action: 'merge', chunk_id, sha256 });
  if (answer.id !== undefined) return answer.id;
  for (;;) {
    const progress = await call<{ attachment_id: number | null; error: string | null }>(
      `${path}?action=progress&chunk_id=${chunk_id}`,
      headers,
    );
    if (progress.attachment_id !== null) return progress.attachment_id;
    if (progress.error !== null) throw new Error(`the merge failed: ${progress.error}`);
    await sleep(20);
  }
}

async function download({ url }: Process, headers: Headers, id: number, sha256: string): Promise<void> {
  const response = await fetch(`${url}/api/admin/attachments/${id}/download`, { headers });
  const hash = createHash('sha256');
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) hash.update(bytes);
  if (hash.digest('hex') !== sha256) throw new Error('the download differs from what was sent');
}

/** Samples the memory of a process. @returns how to stop, and its peak in MB */
function watch(process: Process): () => number {
  let peak = 0;
  const sample = (): void => {
    try {
      peak = Math.max(peak, process.memory());
    } catch {
      clearInterval(timer); // The process has ended.
    }
  };
  const timer = setInterval(sample, 20);
  return () => {
    clearInterval(timer);
    return peak;
  };
}

/** @returns seconds */
async function timed(name: string, run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  const seconds = (performance.now() - begun) / 1000;
  say(`  ${name.padEnd(30)} ${seconds.toFixed(2).padStart(6)} s   ${rate(seconds)}`);
  return seconds;
}

function rate(seconds: number): string {
  return `${(totalMiB / seconds).toFixed(0)} MiB/s`;
}
