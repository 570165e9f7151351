// /imports: who sees an import, its progress, cancellation and deletion, and what remains of it.
import '../support/settings/environment.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { config } from '../../config/index.js';
import { importOrders } from '../../src/jobs/import-orders.js';
import { change, select } from '../../src/lib/database/db.js';
import { Money } from '../../src/lib/values/money.js';
import { queueNames } from '../../src/lib/queue/names.js';
import { checkBooks } from '../../src/models/figures/consistency.js';
import { writeBatch } from '../../src/models/imports/import-batch.js';
import type { OrderDraft } from '../../src/models/imports/order-draft.js';
import { startWorker } from '../../src/worker/worker.js';
import { openStream } from '../support/events.js';
import { endOf, readCsv } from '../support/exports.js';
import { makeUser, signedInWith, unique } from '../support/factories.js';
import { storedOf } from '../support/files.js';
import { stateOf } from '../support/imports.js';
import { connectionsAt, holding, lockWaits, otherConnection } from '../support/other-connection.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { outcome, type Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
let admin: Client;
let userId: number;

/** Starts once there is something that only it can do: tests may do without it. */
let worker: Awaited<ReturnType<typeof startWorker>>;

test.before(async () => {
  admin = service.admin;
  userId = (await makeUser(admin)).id;
});

const sheet = (...rows: string[]): string => ['user_id,amount,remark', ...rows].join('\n');
const good = (user = userId): string => `${user},1.50,`;
const rights = ['order.import', 'import.index', 'import.show', 'import.cancel', 'import.destroy'];

async function start(caller: Client, content: string, filename = 'orders.csv'): Promise<number> {
  const { data, text } = await caller.upload('/orders/import', content, { filename });
  if (!data) throw new Error(text);
  return data.import_id as number;
}

const begun: Promise<unknown>[] = [];

test.after(async () => {
  await Promise.all(begun);
  await worker.stop();
});

/** Without a worker the answer comes after 3 s; a test that needs the import alone does not wait for it. */
async function begin(content: string): Promise<number> {
  const filename = `${unique('import')}.csv`;
  begun.push(start(admin, content, filename));
  const { id } = await until(async () => {
    const [row] = await select<{ id: number }>('SELECT id FROM imports WHERE filename = ?', [filename]);
    return row;
  });
  return id;
}

const ended = (id: number, caller = admin) =>
  until(async () => {
    const { data } = await caller.get(`/imports/${id}`);
    return data.status !== 0 && data;
  }, 30_000);

const storedFile = async (id: number): Promise<{ storage_key: string; state: string | null }> => {
  return selectRow<{ storage_key: string; state: string | null }>(
    'SELECT i.storage_key, f.state FROM imports i LEFT JOIN stored_files f ON f.storage_key = i.storage_key WHERE i.id = ?',
    [id],
  );
};

test.serial('without a worker the request answers in time with a waiting import', async (t) => {
  const answer = await admin.upload('/orders/import', sheet(good()), { filename: '../../März "x".CSV' });
  t.like(answer.data, { status: 0, status_text: '等待处理', total_rows: null, errors: [] });
  const { data } = await admin.get(`/imports/${answer.data.import_id}`);
  t.like(data, {
    ...{
      type: 'orders',
      filename: 'März "x".CSV',
      dry_run: false,
      progress: 0,
      processed_rows: 0,
      order_count: 0,
    },
    ...{ error_msg: null, finished_at: null, error_file_url: null, size: Buffer.byteLength(sheet(good())) },
  });
  t.is(data.admin.username, 'admin');
  const file = await storedFile(data.id);
  t.is(file.state, 'kept');
  t.true(existsSync(join(config.storage.root, file.storage_key)));
});

const work = (id: number): Promise<unknown> => importOrders.run({ id }, AbortSignal.timeout(60_000));

const ordersOf = async (user: number): Promise<number> =>
  (await select('SELECT id FROM orders WHERE user_id = ?', [user])).length;

test.serial('two runs of one import create each order once', async (t) => {
  const user = (await makeUser(admin)).id;
  const id = await begin(sheet(...Array<string>(3000).fill(good(user))));
  await Promise.all([work(id), work(id)]);
  t.like(await ended(id), { status: 1, processed_rows: 3000, success_count: 3000, order_count: 3000 });
  t.is(await ordersOf(user), 3000);
});

test.serial('a cancelled import stops', async (t) => {
  const user = (await makeUser(admin)).id;
  const id = await begin(sheet(...Array<string>(40_000).fill(good(user))));
  const working = work(id);
  await until(async () => (await admin.get(`/imports/${id}`)).data.processed_rows > 0);
  t.is((await admin.post(`/imports/${id}/cancel`)).status, 200);
  const made = await ordersOf(user);
  t.true(made < 40_000);
  await working;
  t.is(await ordersOf(user), made);
  // A run that fails after all neither ends it once more nor opens it for people to retry.
  await importOrders.onAbandoned?.({ id }, new Error('the database was away'));
  t.false(await importOrders.reopen?.({ id }));
  t.like((await admin.get(`/imports/${id}`)).data, { status: 2, status_text: '已取消', order_count: made });
});

const amount = new Money(150n);

function draft(userId: number, row: number): OrderDraft {
  const lines = [{ product_id: null, product_name: 'Tea', price: amount, quantity: 1 }];
  return { ref: '', rows: [row], problems: [], userId, userRow: row, amount, remark: `row ${row}`, lines };
}

test.serial('a batch that does not begin at the position writes nothing', async (t) => {
  const { id: user } = await makeUser(admin);
  const id = await begin(`user_id,amount\n${user},1.50\n${user},1.50`);
  t.false(await writeBatch({ id, dry_run: false }, [draft(user, 3)], { from: 1, rows: 1, progress: 99 }));
  t.is(await ordersOf(user), 0);
  t.like(await stateOf(id), { position: 0 });
});

test.serial('the stream of an import that was deleted ends', async (t) => {
  const id = await begin(sheet(good()));
  const stream = await openStream(admin, `/imports/${id}/progress`);
  await stream.event('import');
  let isEnded = false;
  void stream.ended.then(() => (isEnded = true));
  t.is((await admin.post(`/imports/${id}/cancel`)).status, 200);
  t.is((await admin.delete(`/imports/${id}`)).status, 200);
  t.true(await until(() => isEnded));
});

test.serial('a stream reads again only when its last read has ended', async (t) => {
  const id = await begin(sheet(good()));
  // Whose answer waits reads as well.
  await Promise.all(begun);
  const stream = await openStream(admin, `/imports/${id}/progress`);
  await stream.event('import');
  const release = await holding('LOCK TABLES imports WRITE');
  const heldAt = performance.now();
  let most = 0;
  await until(async () => {
    most = Math.max(most, (await connectionsAt('SELECT%imports%')).length);
    return performance.now() - heldAt > 2300;
  });
  t.is(most, 1);
  await release();
  stream.close();
  t.is((await admin.post(`/imports/${id}/cancel`)).status, 200);
});

test.serial('an import that is reopened while it is being deleted stays', async (t) => {
  const id = await begin(sheet(good()));
  t.is((await admin.post(`/imports/${id}/cancel`)).status, 200);
  const other = await otherConnection();
  await other.query('START TRANSACTION');
  await other.query('UPDATE imports SET status = 0, concluded = 0 WHERE id = ?', [id]);
  const deletion = admin.delete(`/imports/${id}`);
  await until(async () => (await lockWaits('`imports`')) === 1);
  await other.query('COMMIT');
  await other.end();
  t.is((await deletion).errorCode, 'import_running');
  t.is((await admin.post(`/imports/${id}/cancel`)).data.status, 2);
  t.is((await admin.delete(`/imports/${id}`)).status, 200);
});

test.serial('a waiting import can be cancelled', async (t) => {
  const id = await begin(sheet(good()));
  t.deepEqual([(await admin.delete(`/imports/${id}`)).errorCode], ['import_running']);
  t.is((await admin.get(`/imports/${id}/error-file`)).errorCode, 'import_errors_missing');
  const { data } = await admin.with({ 'Accept-Language': 'en-US' }).post(`/imports/${id}/cancel`);
  t.like(data, {
    status: 2,
    status_text: 'Cancelled',
    error_msg: 'The import was cancelled',
    success_count: 0,
  });
  const again = await admin.post(`/imports/${id}/cancel`);
  t.deepEqual(outcome(again), [400, 40001, 'import_not_running']);
  t.is((await storedFile(id)).state, null, 'its file is removed at once');
  worker = await startWorker(queueNames, () => undefined);
  t.like(await ended(id), { status: 2, success_count: 0 });
});

test('the owner is notified once on the socket and the stream', async (t) => {
  const user = (await makeUser(admin)).id;
  const owner = await signedInWith(admin, rights);
  const socket = await openSocket(service.url, await ticketOf(owner));
  const before = (await admin.get(`/orders?user_id=${user}`)).data.total;
  const id = await start(owner, sheet(good(user), `${user},bad,`));
  const stream = await openStream(
    service.anonymous,
    `/imports/${id}/progress?ticket=${await ticketOf(owner)}`,
  );
  await stream.ended;
  const last = stream.events.at(-1);
  t.is(stream.events[0]?.type, 'connected');
  t.is(last?.type, 'import');
  t.like(last?.data, {
    id,
    status: 1,
    progress: 100,
    total_rows: 2,
    processed_rows: 2,
    success_count: 1,
    failed_count: 1,
  });
  const note = await socket.frame('notification');
  t.is(note.data.title, '订单导入完成');
  t.is(note.data.content, 'orders.csv：共 2 行，成功 1 行（1 个订单），失败 1 行');
  t.deepEqual(socket.frames.filter(({ type }) => type === 'import').at(-1)?.data, {
    id,
    status: 1,
    progress: 100,
  });
  t.is((await owner.get('/notifications')).data.total, 1);
  t.is((await admin.get(`/orders?user_id=${user}`)).data.total, before + 1);
  socket.socket.terminate();
});

test('an import is visible only to its owner and super administrators', async (t) => {
  const [owner, other] = [await signedInWith(admin, rights), await signedInWith(admin, rights)];
  const id = await start(owner, sheet(`${userId},bad,`), 'mine.csv');
  await ended(id);
  for (const caller of [owner, admin]) {
    const { list } = (await caller.get('/imports?type=orders&status=1&dry_run=0&order_by=created_at:desc'))
      .data;
    t.true(list.some((item: { id: number }) => item.id === id));
    t.is((await caller.get(`/imports/${id}`)).status, 200);
    t.is((await caller.get(`/imports/${id}/errors`)).data.total, 1);
    t.is((await caller.download(`/imports/${id}/error-file`)).status, 200);
  }
  t.deepEqual((await other.get('/imports')).data, { list: [], page: 1, page_size: 10, total: 0 });
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/errors'],
    ['GET', '/error-file'],
    ['GET', '/progress'],
    ['POST', '/cancel'],
    ['DELETE', ''],
  ] as const) {
    const answer = await other.request(
      method,
      `/imports/${id}${path}`,
      method === 'POST' ? { body: {} } : {},
    );
    t.deepEqual([answer.status, answer.code], [404, 20002], `${method} ${path}`);
  }
  t.deepEqual((await owner.get('/imports?dry_run=true')).data.list, []);
  t.is((await owner.get('/imports?status=3')).status, 422);
});

test('the file of an import is removed at its end unless rows failed', async (t) => {
  const [done, failed] = [await start(admin, sheet(good())), await start(admin, sheet(`${userId},bad,`))];
  for (const id of [done, failed]) await ended(id);
  await until(async () => (await storedFile(done)).state === null);
  const { state, storage_key } = await storedFile(failed);
  t.is(state, 'kept');
  t.deepEqual(await storedOf([storage_key]), [storage_key]);
});

test('a deleted import is removed with its failed rows', async (t) => {
  const user = (await makeUser(admin)).id;
  const [deleted, old] = [
    await start(admin, sheet(good(user), `${user},bad,`)),
    await start(admin, sheet(good(user), `${user},bad,`)),
  ];
  for (const id of [deleted, old])
    t.is((await ended(id)).error_file_url, `/api/admin/imports/${id}/error-file`);
  const keys = [(await storedFile(deleted)).storage_key, (await storedFile(old)).storage_key];
  const orders = (await admin.get(`/orders?user_id=${user}`)).data.total;
  t.is((await admin.delete(`/imports/${deleted}`)).status, 200);
  t.is((await admin.get(`/imports/${deleted}`)).status, 404);
  await until(async () => (await select('SELECT id FROM imports WHERE id = ?', [deleted])).length === 0);
  await change('UPDATE imports SET expires_at = ? WHERE id = ?', [new Date(Date.now() - 1000), old]);
  const errors = () => select('SELECT row_no FROM import_errors WHERE import_id IN (?)', [[deleted, old]]);
  await until(async () => (await errors()).length === 0);
  const { data } = await admin.get(`/imports/${old}`);
  t.like(data, { failed_count: 1, error_file_url: null });
  t.is((await admin.get(`/imports/${old}/error-file`)).errorCode, 'import_errors_missing');
  await until(async () => (await storedOf(keys)).length === 0);
  await until(async () => (await storedFile(old)).state === null);
  t.is((await admin.get(`/orders?user_id=${user}`)).data.total, orders);
});

test('verify finds nothing wrong with the files of imports and exports, ended or under way', async (t) => {
  const [done, old] = [await start(admin, sheet(good())), await start(admin, sheet(`${userId},bad,`))];
  for (const id of [done, old]) await ended(id);
  await change('UPDATE imports SET expires_at = ? WHERE id = ?', [new Date(Date.now() - 1000), old]);
  await until(async () => (await storedFile(old)).state === null);
  const { data } = await admin.post('/orders/export', { format: 'csv' });
  await endOf(admin, data.export_id);
  await change(
    `UPDATE exports e JOIN stored_files f ON f.storage_key = e.storage_key SET e.status = 0, f.state = 'reserved'
     WHERE e.id = ?`,
    [data.export_id],
  );
  t.deepEqual((await checkBooks()).contradictions, []);
});

test('the template says what each column takes, in a row that is no order', async (t) => {
  for (const language of ['zh-CN', 'en-US']) {
    const { bytes, headers } = await admin.download('/imports/template', { 'Accept-Language': language });
    const text = bytes.toString();
    t.regex(text, language === 'en-US' ? /^\ufeffuser_id,username,amount,/ : /^\ufeff用户ID,用户名,金额,/);
    t.is(headers.get('Content-Type'), 'text/csv; charset=utf-8');
    const row = `${userId},,2,,,,,,\r\n`;
    const [, rules] = readCsv(bytes);
    t.regex(rules?.at(-1) ?? '', language === 'en-US' ? /^required in a line/ : /^明细必填/, 'the quantity');
    const id = await start(admin, text + row);
    t.like(await ended(id), { success_count: 1, failed_count: 1, order_count: 1 });
    const { data } = await admin.with({ 'Accept-Language': language }).get(`/imports/${id}/errors`);
    t.like(data.list[0], { row: 2, column: 'user_id' });
  }
  t.is((await (await signedInWith(admin, ['import.index'])).get('/imports/template')).status, 403);
});

test('an error file of many rows is read page by page', async (t) => {
  const rows = Array.from({ length: 2500 }, (_, row) => `${row % 2 ? 'x' : ''},bad,${row}`);
  const id = await start(admin, sheet(...rows));
  t.is((await ended(id)).failed_count, 2500);
  const [, ...lines] = readCsv((await admin.download(`/imports/${id}/error-file`)).bytes);
  t.deepEqual(
    lines.map((cells) => cells.slice(0, 3).join(',')),
    rows,
  );
  const page = (await admin.get(`/imports/${id}/errors?page=50&page_size=100`)).data;
  t.deepEqual([page.total, page.list.length, page.list.at(-1).row], [5000, 100, 2501]);
});
