// Files in S3 when something fails: a store that does not answer delays nothing but its files, a worker is killed while it
// puts a merge together; and exports and imports, whose files go through the same storage.
import '../support/settings/environment.js';
import { s3 } from '../support/settings/s3-environment.js';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { storage } from '../../src/lib/storage/index.js';
import { paymentKey } from '../../src/lib/values/numbers.js';
import { recordAttempt } from '../../src/models/trade/callback-intake.js';
import { stateChanges, watchStates } from '../support/model/changes.js';
import { Client } from '../support/client.js';
import { askExport, endOf, readCsv } from '../support/exports.js';
import { makePayment, makeUser, unique } from '../support/factories.js';
import { chunksOf, sendChunk, sha256, storedOf, textOf } from '../support/files.js';
import { concluded, errorFileOf, expected, outcomeOf, sheet, startImport } from '../support/imports.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';

let admin: Client;
/** The same caller at an API that passes files through. */
let proxied: Client;
let url: string;
let patient: TestProcess;

const mebibyte = 1024 * 1024;
const settings = { SWEEP_SECONDS: '1', S3_TIMEOUT_SECONDS: '1', S3_PRESIGNED_DOWNLOADS: 'true' };
const worker = () => startWorkerProcess(settings, 'files,exports,imports');

processesTest();

test.before(async () => {
  const [api, proxy] = [
    await startApi(settings),
    await startApi({ ...settings, S3_PRESIGNED_DOWNLOADS: 'false' }),
  ];
  ({ url } = api);
  admin = await new Client(url).signIn();
  await watchStates();
  proxied = admin.at(proxy.url);
});

/** As many as are removed at once, three times. */
const files = 12;
const atOnce = 4;

const released = () => select(`SELECT 1 FROM stored_files WHERE state = 'released'`);

/** A session whose chunks have arrived. */
async function uploaded(content: Buffer): Promise<string> {
  const chunk_id = unique('s3-');
  const chunks = chunksOf(content, 6 * mebibyte);
  for (const [index, chunk] of chunks.entries()) {
    const more = { total_chunks: chunks.length, filename: `${chunk_id}.txt` };
    const answer = await sendChunk(admin, chunk_id, index, chunk, more);
    if (answer.status !== 200) throw new Error(answer.text);
  }
  return chunk_id;
}

const mergeOf = (chunk_id: string) => admin.post('/attachments/chunk', { action: 'merge', chunk_id });

const progress = async (chunk_id: string): Promise<{ status: string }> =>
  (await admin.get(`/attachments/chunk?chunk_id=${chunk_id}`)).data as { status: string };

const isMerged = (chunk_id: string) =>
  until(async () => (await progress(chunk_id)).status === 'completed', 60_000);

/** Through the presigned address that the answer leads to. */
async function fetched(path: string): Promise<{ headers: Headers; bytes: Buffer }> {
  const response = await fetch(`${url}/api/admin${path}`, { headers: admin.headers });
  if (!response.redirected) throw new Error(`${path} did not lead to the store: ${response.status}`);
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

test.serial('files are no longer removed once the store has not answered for one', async (t) => {
  const ids: number[] = [];
  for (let count = 0; count < files; count++)
    ids.push((await admin.upload('/attachments/upload', 'text', { filename: 'a.txt' })).data.id);
  const asked = new Set<string>();
  s3().hold((method, url) => {
    if (method === 'DELETE') asked.add(new URL(url, 'http://store').pathname);
    return method === 'DELETE';
  });
  const { status, text } = await admin.post('/attachments/batch-delete', { ids });
  t.is(status, 200, text);
  t.is(asked.size, atOnce);
  t.is((await released()).length, files);
});

test.serial('an upload waits for a silent store once, not once more to remove the file', async (t) => {
  const asked = new Set<string>();
  s3().hold((method) => Boolean(asked.add(method)));
  const before = (await released()).length;
  const { status, text } = await admin.upload('/attachments/upload', 'text', { filename: 'a.txt' });
  t.is(status, 502, text);
  t.deepEqual([...asked], ['PUT']);
  t.is((await released()).length, before + 1);
});

test.serial('a callback without a job is settled while the store does not answer the sweeper', async (t) => {
  const payment = await makePayment(admin);
  s3().hold((method) => method === 'DELETE');
  // A removal takes three times as long, which is longer than the callback is waited for.
  const patientWorker = await startWorkerProcess({ S3_TIMEOUT_SECONDS: '10', SWEEP_SECONDS: '1' });
  await until(() => s3().held() > 0);
  const paymentNo = payment.payment_no;
  await recordAttempt({
    ...{ type: 'mock', ...paymentKey(paymentNo), third_party_no: unique('MOCK-') },
    ...{ fields: {}, ip: '127.0.0.1', state: 'pending', verdict: 'verified', trace_id: unique('trace') },
  });
  await until(async () => (await stateChanges(paymentNo)).length > 0);
  t.is((await released()).length, files + 1);
  await patientWorker.kill();
});

test.serial('the merge of a worker killed during composition is completed once by another', async (t) => {
  const content = textOf(13 * mebibyte);
  const chunk_id = await uploaded(content);
  s3().hold((method, url) => method === 'POST' && url.includes('uploadId='));
  const merging = mergeOf(chunk_id);
  const first = await worker();
  await until(() => s3().held() > 0, 30_000);
  await first.kill();
  t.is(s3().uploads().length, 1);
  s3().hold(() => false);
  await worker();
  await merging;
  await isMerged(chunk_id);
  await until(async () => (await released()).length === 0);
  const { list } = (await admin.get(`/attachments?filename=${chunk_id}`)).data;
  t.deepEqual(
    list.map((item: { sha256: string }) => item.sha256),
    [sha256(content)],
  );
  t.is(sha256((await fetched(`/attachments/${list[0].id}/download`)).bytes), sha256(content));
  // What the killed one had begun is removed when a day has passed.
  const driver = await storage();
  await driver.sweep(new Date(Date.now() - 3_600_000), ['attachments']);
  t.is(s3().uploads().length, 1);
  await driver.sweep(new Date(Date.now() + 1000), ['attachments']);
  t.deepEqual(s3().uploads(), []);
});

test.serial('files are refused with their own error while the store is unreachable', async (t) => {
  const { id } = (await admin.upload('/attachments/upload', 'there', { filename: 'a.txt' })).data;
  const content = textOf(7 * mebibyte);
  const chunk_id = await uploaded(content);
  const before = await select('SELECT storage_key FROM stored_files');
  s3().hold(() => true);
  const merging = mergeOf(chunk_id);
  const answers = await Promise.all([
    admin.upload('/attachments/upload', 'text', { filename: 'a.txt' }),
    sendChunk(admin, unique('away-'), 0, 'text', { total_chunks: 1, filename: 'a.txt' }),
    admin.upload('/orders/import', sheet(1, 3).content, { filename: 'orders.csv' }),
    proxied.get(`/attachments/${id}/download`),
  ]);
  for (const { status, code, errorCode, text } of answers)
    t.deepEqual([status, code, errorCode], [502, 50005, 'storage_unavailable'], text);
  t.is((await progress(chunk_id)).status, 'merging');
  s3().hold(() => false);
  await isMerged(chunk_id);
  await merging;
  t.is((await proxied.download(`/attachments/${id}/download`)).bytes.toString(), 'there');
  const merged = (await admin.get(`/attachments?filename=${chunk_id}`)).data.list[0];
  t.is(merged.sha256, sha256(content));
  const keys = before as { storage_key: string }[];
  await until(async () => (await select('SELECT storage_key FROM stored_files')).length < keys.length);
});

test.serial('a client may pause a download for longer than the store may be silent', async (t) => {
  // More than the buffers of all connections on its way hold.
  const content = textOf(20 * mebibyte);
  patient = await startApi({ S3_TIMEOUT_SECONDS: '60' });
  const { id } = (await admin.at(patient.url).upload('/attachments/upload', content, { filename: 'a.txt' }))
    .data;
  const [answer] = (await once(
    get(`${proxied.url}/api/admin/attachments/${id}/download`, { headers: proxied.headers }),
    'response',
  )) as [IncomingMessage];
  const pieces = answer[Symbol.asyncIterator]();
  const received = [(await pieces.next()).value as Buffer];
  const paused = Date.now();
  await until(() => Date.now() - paused > 5000);
  for await (const piece of pieces) received.push(piece as Buffer);
  t.is(sha256(Buffer.concat(received)), sha256(content));
});

test.serial('downloads that wait for the store or their client leave connections for others', async (t) => {
  const { id } = (await admin.upload('/attachments/upload', 'there', { filename: 'a.txt' })).data;
  const caller = admin.at(patient.url);
  const many = 60;
  s3().hold((method) => method === 'GET');
  const downloads = Array.from({ length: many }, () =>
    caller.get(`/attachments/${id}/download`).catch(() => undefined),
  );
  await until(() => s3().held() === many, 15_000);
  const { status, text } = await caller.upload('/attachments/upload', 'text', { filename: 'a.txt' });
  t.is(status, 200, text);
  s3().hold(() => false);
  await patient.kill();
  await Promise.all(downloads);
});

test.serial('a store that refuses the key is answered as one that is away', async (t) => {
  const { id } = (await admin.upload('/attachments/upload', 'there', { filename: 'a.txt' })).data;
  const refused = admin.at(
    (await startApi({ ...settings, S3_PRESIGNED_DOWNLOADS: 'false', S3_ACCESS_KEY_ID: 'other' })).url,
  );
  const answers = [
    await refused.upload('/attachments/upload', 'text', { filename: 'a.txt' }),
    await refused.upload('/orders/import', sheet(1, 3).content, { filename: 'orders.csv' }),
    await refused.get(`/attachments/${id}/download`),
  ];
  for (const { status, code, errorCode, text } of answers)
    t.deepEqual([status, code, errorCode], [502, 50005, 'storage_unavailable'], text);
});

test.serial('exports and imports use the store', async (t) => {
  const user = (await makeUser(admin)).id;
  const file = sheet(user, 20);
  const imported = await startImport(admin, file.content);
  await concluded(imported);
  t.deepEqual(await outcomeOf(imported, user), expected(file, 20));
  const { rows } = await errorFileOf(admin, imported);
  t.deepEqual(
    rows.slice(1).map(([, remark]) => remark),
    ['order 9', 'order 19'],
  );
  const id = await askExport(admin, '/orders', { user_id: user });
  const { filename, status } = await endOf(admin, id);
  t.is(status, 1);
  const { headers, bytes } = await fetched(`/exports/${id}/download`);
  t.is(
    headers.get('Content-Disposition'),
    `attachment; filename="${filename}"; filename*=UTF-8''${filename}`,
  );
  t.is(headers.get('Content-Type'), 'text/csv; charset=utf-8');
  t.is(readCsv(bytes).length, 1 + 18 + 3);
  const [row] = await select<{ storage_key: string }>('SELECT storage_key FROM exports WHERE id = ?', [id]);
  await admin.delete(`/exports/${id}`);
  t.deepEqual(await storedOf([row?.storage_key as string]), []);
});
