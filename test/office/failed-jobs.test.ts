// /queues and /failed-jobs: what failed for good is stored, notified, retried and dropped; a retry never does anything twice.
import '../support/settings/environment.js';
import { createHash } from 'node:crypto';
import test from 'ava';
import { Queue } from 'bullmq';
import { change, db, select } from '../../src/lib/database/db.js';
import { add } from '../../src/lib/queue/queue.js';
import { queuePrefix, type QueueName } from '../../src/lib/queue/names.js';
import { closeConnection, openConnection } from '../../src/lib/redis/connection.js';
import {
  markRetried,
  pruneFailedJobs,
  storeFailure,
  type FailedJobRecord,
} from '../../src/models/office/failed-job.js';
import { stateChanges, watchStates } from '../support/model/changes.js';
import { askExport, endOf, fileOf } from '../support/exports.js';
import { callBack, makeOrder, makePayment, makeUser, unique } from '../support/factories.js';
import { startImport } from '../support/imports.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();

test.before(async () => {
  await watchStates();
});

const onlyOnce = { attempts: 1, removeOnComplete: true, removeOnFail: true };

const failures = async (query: string): Promise<FailedJobRecord[]> => {
  const { status, text, data } = await service.admin.get(`/failed-jobs?${query}`);
  if (status !== 200) throw new Error(text);
  return data.list as FailedJobRecord[];
};

const failureOf = (key: string): Promise<FailedJobRecord> =>
  until(async () => (await failures('page_size=100')).find(({ job_key }) => job_key === key));

const failedIn = async (queue: QueueName): Promise<number> => {
  const { list } = (await service.admin.get('/queues')).data as { list: { name: string; failed: number }[] };
  return list.find(({ name }) => name === queue)?.failed ?? -1;
};

/** An export whose last run fails, because its row takes no end. */
async function failedExport(): Promise<number> {
  const id = await askExport(service.admin, '/users', { username: unique() });
  await runLast('exports', 'write-export', id);
  return id;
}

/** Makes the next run of a job that has failed the last one. */
async function runLast(queue: QueueName, name: string, id: number): Promise<void> {
  const connection = openConnection('test', {});
  const queued = new Queue(queue, { prefix: queuePrefix(queue), connection });
  await until(async () => {
    const job = await queued.getJob(`${name}-${id}`);
    return job && (await job.isDelayed()) && job.remove().then(() => true);
  });
  await queued.close();
  closeConnection(connection);
  await add({ queue, name, id: `last-${id}`, payload: { id }, options: onlyOnce });
}

test.serial('a failed export is notified once and can be retried', async (t) => {
  await db.query(
    `CREATE TRIGGER broken BEFORE UPDATE ON exports FOR EACH ROW
     BEGIN IF NEW.status = 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no end'; END IF; END`,
  );
  const [first, second] = [await failedExport(), await failedExport()];
  const failure = await failureOf(`write-export-${first}`);
  await failureOf(`write-export-${second}`);
  t.like(failure, {
    queue: 'exports',
    job: 'write-export',
    payload: { id: first },
    state: 'failed',
    attempts: 1,
  });
  t.regex(failure.error, /no end/);
  t.deepEqual((await service.admin.get(`/failed-jobs/${failure.id}`)).data, failure);
  t.is((await endOf(service.admin, first)).status, 2);
  t.is(await failedIn('exports'), 2);
  // Everybody reads it: the error is shown by the list, to those who may see it.
  const content = 'write-export：原因见“任务队列” / write-export: “Job queues” shows why';
  t.is((await select('SELECT id FROM notifications WHERE content = ?', [content])).length, 1);

  await db.query('DROP TRIGGER broken');
  const retried = await service.admin.post(`/failed-jobs/${failure.id}/retry`);
  t.is(retried.status, 200, retried.text);
  t.true((await fileOf(service.admin, first)).length > 0);
  await until(async () => (await failures('state=done')).some(({ id }) => id === failure.id));
  t.is(await failedIn('exports'), 1);
  const news = () => select('SELECT id FROM notifications WHERE title = ?', ['导出完成']);
  await until(async () => (await news()).length === 1);

  const filter = { queue: 'exports', job: 'write-export', error: 'no end' };
  t.deepEqual((await service.admin.post('/failed-jobs/retry', filter)).data, { count: 1, refused: 0 });
  t.true((await fileOf(service.admin, second)).length > 0);
  await until(async () => (await failedIn('exports')) === 0);
});

test.serial('a retried import continues where its last run failed', async (t) => {
  const { admin } = service;
  await db.query(
    `CREATE TRIGGER halfway BEFORE UPDATE ON imports FOR EACH ROW
     BEGIN IF NEW.position > 1000 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no more'; END IF; END`,
  );
  const user = await makeUser(admin);
  const rows = Array.from({ length: 1500 }, (_, row) => `${user.id},order ${row},Tea,1.00,1`);
  const id = await startImport(admin, ['user_id,remark,product_name,price,quantity', ...rows].join('\n'));
  const shown = async () => (await admin.get(`/imports/${id}`)).data;
  await runLast('imports', 'import-orders', id);
  const failure = await failureOf(`import-orders-${id}`);
  t.like(await shown(), { status: 2, processed_rows: 1000, order_count: 1000 });

  await db.query('DROP TRIGGER halfway');
  const retried = await admin.post(`/failed-jobs/${failure.id}/retry`);
  t.is(retried.status, 200, retried.text);
  await until(async () => (await shown()).status === 1);
  t.like(await shown(), { error_msg: null, success_count: 1500, failed_count: 0 });
  const orders = await select('SELECT DISTINCT remark FROM orders WHERE user_id = ?', [user.id]);
  t.is(orders.length, 1500);
  t.is((await admin.get(`/orders?user_id=${user.id}`)).data.total, 1500);
  const titles = ['订单导入失败', '订单导入完成'];
  const news = await select<{ title: string }>(
    'SELECT title FROM notifications WHERE title IN (?) ORDER BY id',
    [titles],
  );
  t.deepEqual(
    news.map(({ title }) => title),
    titles,
  );
});

test.serial('a job unknown to this release can only be dropped', async (t) => {
  const name = unique('job-');
  const payload = { id: 7, password: 'secret words', note: 'plain' };
  await add({ queue: 'maintenance', name, id: name, payload, options: onlyOnce });
  const { id, payload: shown, trace_id } = await failureOf(name);
  t.deepEqual(shown, { id: 7, password: '***', note: 'plain' });
  t.is(typeof trace_id, 'string');
  t.is((await failures(`queue=payments&job=${name}`)).length, 0);
  const [stored] = await select<{ payload: string }>('SELECT payload FROM failed_jobs WHERE id = ?', [id]);
  t.deepEqual(JSON.parse(stored?.payload ?? ''), payload);
  const refused = await service.admin.post(`/failed-jobs/${id}/retry`);
  t.deepEqual([refused.status, refused.errorCode], [400, 'failed_job_unknown']);
  t.is((await service.admin.delete(`/failed-jobs/${id}`)).status, 200);
  t.is((await service.admin.get(`/failed-jobs/${id}`)).errorCode, 'failed_job_not_found');
  t.is(await failedIn('maintenance'), 0);
});

test.serial('a kind of job whose old failures have left is notified again', async (t) => {
  const job = unique('job-');
  const fail = (key: string) =>
    storeFailure({
      queue: 'maintenance',
      job,
      key,
      payload: {},
      error: new Error('no'),
      attempts: 1,
      traceId: key,
    });
  const notices = async () =>
    (await select('SELECT id FROM notifications WHERE content LIKE ?', [`${job}：%`])).length;
  const growOld = (key: string) =>
    change('UPDATE failed_jobs SET updated_at = updated_at - INTERVAL 91 DAY WHERE job_key = ?', [key]);
  const [first, second, third, fourth] = [unique(), unique(), unique(), unique()];
  await fail(first);
  await fail(second);
  await growOld(first);
  await pruneFailedJobs();
  await fail(third);
  t.is(await notices(), 1, 'the second one still waits');
  await growOld(second);
  await growOld(third);
  await pruneFailedJobs();
  await fail(fourth);
  t.is(await notices(), 2);
  const { id } = await failureOf(fourth);
  await service.admin.delete(`/failed-jobs/${id}`);
});

test.serial('work that succeeds later leaves the list of failures', async (t) => {
  const { order_no } = await makeOrder(service.admin);
  await arrange('payments', 'expire-order', `expire-order-${order_no}`, { order_no });
  await until(async () => {
    const id = unique('expire-order-');
    await add({ queue: 'payments', name: 'expire-order', id, payload: { order_no }, options: onlyOnce });
    return (await failureOf(`expire-order-${order_no}`)).state === 'done';
  });
  t.deepEqual(await stateChanges(order_no), []);
});

/** A failure of work that was done all the same, such as one whose answer was lost. */
const arrange = (queue: QueueName, job: string, key: string, payload: object): Promise<void> =>
  storeFailure({ queue, job, key, payload, error: new Error('arranged'), attempts: 8, traceId: 'arranged' });

test.serial('retrying finished work changes nothing', async (t) => {
  const { admin } = service;
  const payment = await makePayment(admin);
  t.is((await callBack(service.anonymous, payment)).status, 200);
  const settled = await until(async () => {
    const [callback] = await select<{ id: number; period: number }>(
      `SELECT id, period FROM payment_callbacks WHERE payment_no = ? AND state = 'settled'`,
      [payment.payment_no],
    );
    return callback;
  });
  const user = await makeUser(admin);
  const imported = await startImport(admin, `user_id,product_name,price,quantity\n${user.id},Tea,1.00,1\n`);
  const exported = await askExport(admin, '/users', { username: user.username });
  await fileOf(admin, exported);
  const chunk_id = unique('chunk-');
  const content = 'chunks';
  const fields = { action: 'upload', chunk_id, chunk_index: 0, total_chunks: 1, filename: 'a.txt' };
  t.is((await admin.upload('/attachments/chunk', content, { fields })).status, 200);
  const sha256 = createHash('sha256').update(content).digest('hex');
  t.is((await admin.post('/attachments/chunk', { action: 'merge', chunk_id, sha256 })).status, 200);
  await until(async () => (await admin.get(`/imports/${imported}`)).data.status === 1);
  const note = await admin.post('/notifications', {
    type: 'message',
    title: 'a',
    content: 'b',
    receiver_ids: [1],
  });
  t.is(note.status, 200, note.text);

  const count = async () =>
    selectRow(
      `SELECT (SELECT COUNT(*) FROM orders) AS orders, (SELECT COUNT(*) FROM attachments) AS attachments,
         (SELECT COUNT(*) FROM notifications WHERE content NOT LIKE '%Job queues%') AS notifications,
         (SELECT GROUP_CONCAT(CONCAT(id, status, storage_key)) FROM exports) AS exports`,
    );
  const before = [await count(), await stateChanges()];
  const done: [QueueName, string, string, object][] = [
    ['payments', 'settle-payment', `${settled.period}-${settled.id}`, settled],
    ['payments', 'expire-order', payment.order_no, { order_no: payment.order_no }],
    ['exports', 'write-export', String(exported), { id: exported }],
    ['imports', 'import-orders', String(imported), { id: imported }],
    ['files', 'merge-chunks', `1-${chunk_id}`, { admin_id: 1, chunk_id }],
    ['logs', 'write-logs', 'batch', { batch: 'batch', items: [] }],
    ['notifications', 'deliver-notification', String(note.data.id), { ids: [note.data.id] }],
    ['maintenance', 'maintain-tables', '2026-01-01', { day: '2026-01-01' }],
  ];
  for (const [queue, job, key, payload] of done) await arrange(queue, job, `${job}-${key}`, payload);
  // A retry does not wait for a job of the same work that is due later.
  const [queue, name, key, payload] = done[1] as (typeof done)[number];
  await add({ queue, name, id: `${name}-${key}`, payload, options: { ...onlyOnce, delay: 3_600_000 } });
  const answer = (await admin.post('/failed-jobs/retry', { error: 'arranged' })).data;
  t.deepEqual(answer, { count: 5, refused: 3 }, 'those whose row has ended are refused');
  await until(async () => (await failures('state=retried')).length === 0);
  t.deepEqual([await count(), await stateChanges()], before);
  const left = await failures('state=failed&order_by=id');
  t.deepEqual(
    left.map(({ job }) => job),
    ['write-export', 'import-orders', 'merge-chunks'],
  );
  const refused = await admin.post(`/failed-jobs/${left[0]?.id}/retry`);
  t.deepEqual([refused.status, refused.errorCode], [400, 'failed_job_over']);
  for (const { id, job, failures: times } of left) await markRetried(id, job, times - 1);
  t.is((await failures('state=failed')).length, 3, 'what fails again before it is marked waits for people');
  const ids = left.map(({ id }) => id);
  t.deepEqual((await admin.request('DELETE', '/failed-jobs/batch', { body: { ids } })).data, { count: 3 });
});
