// Merges survive faults: a killed worker, an emptied or absent Redis, runs that overlap, a full disk. And notifications are the
// outbox of their frames: when a worker is killed between commit and delivery, the frame is still sent.
import '../support/settings/environment.js';
import { own } from '../support/servers/own-redis-service.js';
import test from 'ava';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { config } from '../../config/index.js';
import { change, select } from '../../src/lib/database/db.js';
import { mergeChunks } from '../../src/jobs/merge-chunks.js';
import { paymentKey } from '../../src/lib/values/numbers.js';
import { beginMerge, stopWaiting } from '../../src/models/files/chunk-merge.js';
import { recordVerified } from '../../src/models/trade/callback-intake.js';
import { outcome, type Answer } from '../support/client.js';
import { askExport } from '../support/exports.js';
import { makePayment, unique } from '../support/factories.js';
import { chunksOf, sendChunk, sha256, textOf } from '../support/files.js';
import { sheet, startImport } from '../support/imports.js';
import { startWorkerProcess, type TestProcess } from '../support/processes.js';
import { openSocket, ticketOf, type Notice } from '../support/socket.js';
import { connectionsAt, holding, lockWaits } from '../support/other-connection.js';
import { until } from '../support/until.js';

let worker: TestProcess;

const size = 50_000;
const quickSweeps = { SWEEP_SECONDS: '1', SWEEP_AGE_SECONDS: '1' };
const noSweeps = { SWEEP_SECONDS: '59', SWEEP_AGE_SECONDS: '3600' };

/** A session with all its chunks. */
async function uploaded(
  content: Buffer,
  { filename = `${unique('merge-')}.txt`, chunkSize = size } = {},
): Promise<{ chunk_id: string; filename: string; key: { admin_id: number; chunk_id: string } }> {
  const chunk_id = unique('merge-');
  const chunks = chunksOf(content, chunkSize);
  for (const [index, chunk] of chunks.entries()) {
    const answer = await sendChunk(own.admin, chunk_id, index, chunk, {
      total_chunks: chunks.length,
      filename,
    });
    if (answer.status !== 200) throw new Error(answer.text);
  }
  return { chunk_id, filename, key: { admin_id: own.adminId, chunk_id } };
}

interface Progress {
  status: string;
  error: string | null;
  uploaded_count: number;
}

const merge = (chunk_id: string, client = own.admin): Promise<Answer> =>
  client.post('/attachments/chunk', { action: 'merge', chunk_id });

const progress = async (chunk_id: string): Promise<Progress> =>
  (await own.admin.get(`/attachments/chunk?action=progress&chunk_id=${chunk_id}`)).data as Progress;

const made = async (filename: string): Promise<{ id: number; sha256: string }[]> =>
  (await own.admin.get(`/attachments?filename=${filename}`)).data.list as { id: number; sha256: string }[];

const notices = async (text: string): Promise<Notice[]> =>
  ((await own.admin.get('/notifications?page_size=100')).data.list as Notice[]).filter(({ content }) =>
    content.includes(text),
  );

test.serial('the merge of a killed worker is completed once by another', async (t) => {
  const content = textOf(24 * 1024 * 1024);
  const { chunk_id, filename, key } = await uploaded(content, { chunkSize: 8 * 1024 * 1024 });
  // The session is locked, so the worker is caught when its file is whole but not yet an attachment.
  await beginMerge(key, {});
  const letGo = await holding('SELECT chunk_id FROM chunk_sessions WHERE chunk_id = ? FOR UPDATE', [
    chunk_id,
  ]);
  const reserved = () =>
    select<{ storage_key: string }>(
      `SELECT storage_key FROM stored_files WHERE state = 'reserved' AND storage_key LIKE 'attachments/%'`,
    );
  const first = await startWorkerProcess(quickSweeps, 'files');
  const abandoned = await until(async () => (await reserved())[0]?.storage_key, 30_000);
  await until(() => existsSync(join(config.storage.root, abandoned)), 30_000);
  await first.kill();
  await letGo();
  t.deepEqual([(await progress(chunk_id)).status, (await made(filename)).length], ['merging', 0]);
  const killedAt = Date.now();
  worker = await startWorkerProcess(quickSweeps, 'files');
  await until(async () => (await progress(chunk_id)).status === 'completed', 40_000);
  t.true(Date.now() - killedAt < 35_000, `merged after ${Date.now() - killedAt} ms`);
  const list = await made(filename);
  t.deepEqual(
    list.map((item) => item.sha256),
    [sha256(content)],
  );
});

test.serial('the sweeper finds a merge after Redis was emptied', async (t) => {
  const content = textOf(2 * size);
  const { chunk_id, filename, key } = await uploaded(content);
  await beginMerge(key, {});
  await own.redis.run('FLUSHALL');
  await until(async () => (await progress(chunk_id)).status === 'completed');
  t.deepEqual(
    (await made(filename)).map((item) => item.sha256),
    [sha256(content)],
  );
  t.is((await notices(filename)).length, 1, 'the request that began it has gone');
});

test.serial('a merge requested without Redis is done when Redis is back', async (t) => {
  const content = textOf(2 * size);
  const { chunk_id, filename } = await uploaded(content);
  await own.redis.stop();
  const begun = Date.now();
  const answer = await merge(chunk_id);
  t.deepEqual([answer.status, answer.data], [200, { chunk_id, status: 'merging' }], answer.text);
  t.true(Date.now() - begun < 5000);
  await own.redis.start();
  await until(async () => (await progress(chunk_id)).status === 'completed', 60_000);
  t.is((await made(filename)).length, 1);
  await until(async () => (await notices(filename)).length === 1);
  await worker.kill();
});

/** A text of the content of a notification, and the row whose lock keeps the work from ending. */
interface Ending {
  content: string;
  table: string;
  where: string;
}

/** By queue: begins work whose end is notified. */
const works: Record<string, () => Promise<Ending>> = {
  async files() {
    const { chunk_id, filename, key } = await uploaded(Buffer.from('x'));
    await beginMerge(key, {});
    await stopWaiting(key);
    return { content: filename, table: 'chunk_sessions', where: `chunk_id = '${chunk_id}'` };
  },
  async exports() {
    const id = await askExport(own.admin, '/users');
    const { filename } = (await own.admin.get(`/exports/${id}`)).data as { filename: string };
    return { content: filename, table: 'exports', where: `id = ${id}` };
  },
  async imports() {
    const id = await startImport(own.admin, sheet(1, 1).content);
    const { filename } = (await own.admin.get(`/imports/${id}`)).data as { filename: string };
    return { content: filename, table: 'imports', where: `id = ${id}` };
  },
  /** A payment that needs attention. */
  async payments() {
    const payment = await makePayment(own.admin);
    await own.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
    const paymentNo = payment.payment_no;
    await recordVerified({
      ...{ type: 'mock', ...paymentKey(paymentNo), third_party_no: unique('T-') },
      ...{ fields: {}, ip: '127.0.0.1', trace_id: 'test' },
    });
    return { content: paymentNo, table: 'payments', where: `payment_no = '${paymentNo}'` };
  },
};

const notified = (content: string): Promise<{ undelivered_since: Date | null }[]> =>
  select('SELECT undelivered_since FROM notifications WHERE content LIKE ?', [`%${content}%`]);

test.serial('work whose worker is killed between commit and delivery is notified once', async (t) => {
  const queues = [...Object.keys(works), 'notifications'].join();
  const endings = await Promise.all(Object.values(works).map((begin) => begin()));
  const held = await Promise.all(
    endings.map(({ table, where }) => holding(`SELECT 1 FROM ${table} WHERE ${where} FOR UPDATE`)),
  );
  // The ends wait for the locks, then find no Redis to send their frames over.
  const patient = { DB_LOCK_WAIT_SECONDS: '60', DB_STATEMENT_SECONDS: '60', DB_BULK_SECONDS: '60' };
  const first = await startWorkerProcess({ ...quickSweeps, ...patient }, queues);
  for (const { table } of endings) await until(async () => (await lockWaits(table)) > 0, 60_000);
  await own.redis.stop('SIGKILL');
  await Promise.all(held.map((letGo) => letGo()));
  for (const { content } of endings) await until(async () => (await notified(content)).length > 0, 60_000);
  await first.kill();
  for (const { content } of endings) t.truthy((await notified(content))[0]?.undelivered_since, content);

  await own.redis.start();
  const socket = await openSocket(own.admin.url, await ticketOf(own.admin));
  worker = await startWorkerProcess(quickSweeps, queues);
  for (const { content } of endings) {
    const frames = () =>
      socket.frames.filter(
        ({ type, data }) => type === 'notification' && String(data?.content).includes(content),
      );
    await until(() => frames().length > 0, 60_000);
    await until(async () => (await notified(content))[0]?.undelivered_since === null);
    t.deepEqual([frames().length, (await notified(content)).length], [1, 1], content);
  }
  socket.socket.close();
  await worker.kill();
});

test.serial('a merge that exceeds its deadline answers merging', async (t) => {
  const content = textOf(3 * size);
  const { chunk_id, filename } = await uploaded(content);
  const socket = await openSocket(own.admin.url, await ticketOf(own.admin));
  const begun = Date.now();
  const answer = await merge(chunk_id);
  t.deepEqual([answer.status, answer.data], [200, { chunk_id, status: 'merging' }]);
  t.true(Date.now() - begun >= 9000 && Date.now() - begun < 13_000);
  t.is((await progress(chunk_id)).status, 'merging');
  t.is((await sendChunk(own.admin, chunk_id, 0, 'x')).errorCode, 'chunk_session_closed');
  worker = await startWorkerProcess(noSweeps, 'files');
  const { data } = await socket.frame<Record<string, unknown>>('merge');
  t.deepEqual([data.chunk_id, data.status], [chunk_id, 'completed']);
  const notice = await socket.frame('notification');
  t.regex(notice.data.title, /上传完成.*complete/);
  t.is(notice.data.content, filename);
  const [attachment] = await made(filename);
  t.deepEqual([attachment?.id, attachment?.sha256], [data.attachment_id, sha256(content)]);
  t.is((await notices(filename)).length, 1);
  socket.socket.close();
});

test.serial('a merge that could not read its session is attempted again', async (t) => {
  const content = textOf(2 * size);
  const { chunk_id, filename, key } = await uploaded(content);
  await beginMerge(key, {});
  const letGo = await holding('LOCK TABLES chunk_sessions WRITE', []);
  await mergeChunks.enqueue(key);
  const reading = await until(async () => (await connectionsAt(`%${chunk_id}%`))[0]);
  await change('KILL ?', [reading]);
  await letGo();
  await until(async () => (await progress(chunk_id)).status === 'completed');
  t.deepEqual(
    (await made(filename)).map((item) => item.sha256),
    [sha256(content)],
  );
});

test.serial('a failed merge can be started again', async (t) => {
  const content = textOf(2 * size);
  const { chunk_id, filename, key } = await uploaded(content);
  await beginMerge(key, {});
  await mergeChunks.onAbandoned?.(key, new Error('the storage was away'));
  const failed = await progress(chunk_id);
  t.deepEqual([failed.status, failed.error, failed.uploaded_count], ['failed', 'upload_failed', 2]);
  t.is((await merge(chunk_id)).data.sha256, sha256(content));
  t.deepEqual(await notices(filename), [], 'its request has answered');
});

test.serial('a missing chunk fails the merge', async (t) => {
  const content = textOf(2 * size);
  const { chunk_id, key } = await uploaded(content);
  const [{ storage_key } = { storage_key: '' }] = await select<{ storage_key: string }>(
    'SELECT storage_key FROM chunks WHERE chunk_id = ? AND chunk_index = 1',
    [chunk_id],
  );
  const file = join(config.storage.root, storage_key);
  renameSync(file, `${file}.away`);
  await beginMerge(key, {});
  t.like(await mergeChunks.run(key, new AbortController().signal), { status: 'failed' });
  const failed = await progress(chunk_id);
  t.deepEqual([failed.status, failed.error, failed.uploaded_count], ['failed', 'upload_failed', 2]);
  renameSync(`${file}.away`, file);
  t.is((await merge(chunk_id)).data.sha256, sha256(content));
});

test.serial('overlapping runs make one attachment', async (t) => {
  for (let round = 0; round < 5; round++) {
    const content = textOf(2 * size);
    const { chunk_id, filename, key } = await uploaded(content);
    await beginMerge(key, {});
    const signal = new AbortController().signal;
    const runs = await Promise.all([1, 2, 3, 4].map(() => mergeChunks.run(key, signal)));
    t.deepEqual([...new Set(runs.map((run) => run?.status))], ['completed']);
    t.is(new Set(runs.map((run) => run?.attachment_id)).size, 1);
    t.is((await made(filename)).length, 1);
    t.like(await mergeChunks.run(key, signal), { status: 'completed' });
    await mergeChunks.onAbandoned?.(key, new Error('the last run, which found no chunks'));
    t.like(await progress(chunk_id), { status: 'completed', error: null });
  }
  const owned = await select<{ storage_key: string }>('SELECT storage_key FROM attachments');
  const files = readdirSync(join(config.storage.root, 'attachments'), {
    recursive: true,
    withFileTypes: true,
  });
  // The killed worker's file is left to the sweeper for a day.
  t.is(files.filter((file) => file.isFile()).length, owned.length + 1);
});

test.serial('a merge that ends before its deadline is answered', async (t) => {
  const { key } = await uploaded(textOf(size));
  await beginMerge(key, {});
  await mergeChunks.run(key, new AbortController().signal);
  t.like(await stopWaiting(key), { status: 'completed' });
  const [row] = await select<{ to_be_told: number }>(
    'SELECT to_be_told FROM chunk_sessions WHERE chunk_id = ?',
    [key.chunk_id],
  );
  t.is(row?.to_be_told, 0);
});

test.serial('a full disk fails the merge', async (t) => {
  const content = textOf(6 * 1024 * 1024);
  const { chunk_id } = await uploaded(content, { chunkSize: 1024 * 1024 });
  await worker.kill();
  // No file of this worker may grow beyond 4 MiB (in blocks of 1 KiB).
  await startWorkerProcess(noSweeps, 'files', 4096);
  const answer = await merge(chunk_id);
  t.deepEqual(outcome(answer), [500, 40005, 'storage_full'], answer.text);
  t.deepEqual(readdirSync(join(config.storage.root, 'partial')), []);
  const failed = await progress(chunk_id);
  t.deepEqual([failed.status, failed.error, failed.uploaded_count], ['failed', 'storage_full', 6]);
});
