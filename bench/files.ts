// npm run bench -- files [MIB]: a file of 1,024 MiB (or MIB) in chunks of 10 MiB, uploaded, merged and downloaded.
//
// Upload: this process sends the same multipart bodies, two at a time, to the service and to a server that streams every body
// to a file and syncs it (baselines/files.ts); the service also parses the form and commits a row. Both take turns. Merge: from
// the request to the attachment, against `cat CHUNKS > FILE && sync FILE` just before; the service also computes the SHA-256
// and looks into the content. Download: the bytes must have the SHA-256 of what was sent. Memory is that of the API.
import { exec } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startApi, startBulkWorker, startScript } from './support/processes.js';
import { mb, median, printTable, times } from './support/report.js';
import { runBench, takeTurns } from './support/run.js';
import { call, signIn, type Headers } from './support/session.js';
import { makeSite } from './support/site.js';

const chunkSize = 10 * 1024 * 1024;
const totalMiB = Number(process.argv[2] ?? 1024);
const totalSize = totalMiB * 1024 * 1024;
const chunks = Math.ceil(totalSize / chunkSize);
const root = process.env.STORAGE_ROOT as string;
const received = join(root, 'baseline');

const filmHead = Buffer.from('\0\0\0\x1cftypisom\0\0\x02\0isomiso2mp41\0\0\0\x08mdat');
const agent = new Agent({ keepAlive: true });
const noise = randomBytes(chunkSize);

await runBench(async () => {
  const site = await makeSite('files');
  const api = await startApi(site);
  await startBulkWorker(site);
  const baseline = await startScript('baselines/files', site);
  const headers = await signIn(api.url);
  const url = `${api.url}/api/admin/attachments/chunk`;
  const digest = createHash('sha256');
  for (let index = 0; index < chunks; index++) for (const piece of contentOf(index)) digest.update(piece);
  const sha256 = digest.digest('hex');
  api.peakMemory();

  const file = { action: 'init', filename: 'bench.mp4', total_size: totalSize, chunk_size: chunkSize };
  let chunk_id = '';
  const { own, bare } = await takeTurns(3, {
    own: async () => {
      ({ chunk_id } = await call<{ chunk_id: string }>(url, headers, file));
      return secondsOf(() => sendAll(url, headers, chunk_id));
    },
    bare: () => {
      rmSync(received, { recursive: true });
      mkdirSync(received);
      return secondsOf(() => sendAll(baseline.url, {}, chunk_id));
    },
  });
  const cat = 'cat baseline/* > concatenated && sync concatenated';
  const concatenated = await secondsOf(() => promisify(exec)(cat, { cwd: root }));
  let id: number | null = null;
  const merged = await secondsOf(async () => {
    await call(url, headers, { action: 'merge', chunk_id, sha256 });
    while (id === null) id = await attachmentOf(`${url}?action=progress&chunk_id=${chunk_id}`, headers);
  });
  const downloaded = await secondsOf(async () => {
    const response = await fetch(`${api.url}/api/admin/attachments/${id}/download`, { headers });
    const hash = createHash('sha256');
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) hash.update(bytes);
    if (hash.digest('hex') !== sha256) throw new Error('the download differs from what was sent');
  });
  printTable(`bench:files (${totalMiB} MiB in chunks of 10 MiB, two at a time)`, {
    upload: rate(median(own)),
    [`  against the baseline, ${rate(median(bare))}`]: times(median(bare) / median(own)),
    merge: rate(merged),
    [`  against cat and sync, ${rate(concatenated)}`]: times(concatenated / merged),
    'download, digest equal': rate(downloaded),
    'memory of the API, at most': mb(api.peakMemory()),
  });
});

/** The first chunk begins as a film does, the others with their number; what follows is the same for all. */
function contentOf(index: number): [Buffer, Buffer] {
  const start = index === 0 ? filmHead : Buffer.from(String(index));
  const size = Math.min(chunkSize, totalSize - index * chunkSize);
  return [start, noise.subarray(start.length, size)];
}

async function sendAll(url: string, headers: Headers, chunkId: string): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < chunks) await send(url, headers, chunkId, next++);
  };
  await Promise.all([sender(), sender()]);
}

async function send(url: string, headers: Headers, chunkId: string, index: number): Promise<void> {
  const part = (head: string): string => `--bench\r\nContent-Disposition: form-data; ${head}\r\n\r\n`;
  const fields = [
    `${part('name="action"')}upload\r\n`,
    `${part('name="chunk_id"')}${chunkId}\r\n`,
    `${part('name="chunk_index"')}${index}\r\n`,
    part('name="file"; filename="blob"'),
  ];
  const pieces = [Buffer.from(fields.join('')), ...contentOf(index), Buffer.from('\r\n--bench--\r\n')];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const form = { 'content-type': 'multipart/form-data; boundary=bench', 'content-length': length };
  const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...form } });
  for (const piece of pieces) sent.write(piece);
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  await text(answer);
  if (answer.statusCode !== 200) throw new Error(`chunk ${index} was answered ${answer.statusCode}`);
}

/** The id of the attachment that the chunks have become, or null after a while. @throws Error when it failed */
async function attachmentOf(progressUrl: string, headers: Headers): Promise<number | null> {
  const progress = await call<{ attachment_id: number | null; error: string | null }>(progressUrl, headers);
  if (progress.error !== null) throw new Error(`the merge failed: ${progress.error}`);
  if (progress.attachment_id === null) await sleep(20);
  return progress.attachment_id;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

function rate(seconds: number): string {
  return `${(totalMiB / seconds).toFixed(0)} MiB/s`;
}
