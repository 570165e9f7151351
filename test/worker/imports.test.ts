// An import whose worker is killed, frozen and restarted, and whose Redis is emptied: each good row once, none lost (R9).
import '../support/environment.js';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { config } from '../../config/index.js';
import { select } from '../../src/lib/db.js';
import { redis } from '../../src/lib/redis.js';
import { makeUser } from '../support/factories.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;

test.before(async () => {
  service = await startService({ withWorker: false });
});

test.after.always(async () => {
  await killProcesses();
  await service.stop();
});

/** Every tenth order is refused, every seventh has its second row at the other end of the file. */
function sheet(user: number, orders: number): { content: string; rows: number; good: number } {
  const ends: string[] = [];
  const rows = Array.from({ length: orders }, (_, order) => {
    const price = order % 10 === 9 ? 'bad' : '1.00';
    if (order % 7 === 0) ends.push(`${user},order ${order},R${order},Cup,2.00`);
    return `${user},order ${order},R${order},Tea,${price}`;
  });
  const all = [...rows, ...ends];
  const good = rows.filter((_, order) => order % 10 !== 9).length;
  return {
    content: ['user_id,remark,order_ref,product_name,price', ...all].join('\n'),
    rows: all.length,
    good,
  };
}

const start = async (content: string): Promise<number> =>
  (await service.admin.upload('/orders/import', content, { filename: 'orders.csv' })).data.import_id;

interface State {
  status: number;
  position: number;
  concluded: number;
}

async function stateOf(id: number): Promise<State> {
  const [row] = await select<State>('SELECT status, position, concluded FROM imports WHERE id = ?', [id]);
  return row as State;
}

const beyond = (id: number, position: number) =>
  until(async () => (await stateOf(id)).position > position, 60_000, 5);

const concluded = (id: number) => until(async () => (await stateOf(id)).concluded === 1, 60_000);

/** What must be true of the end, whatever happened before it. */
async function outcomeOf(id: number, user: number): Promise<object> {
  const [orders] = await select<Record<string, unknown>>(
    `SELECT COUNT(*) AS orders, COUNT(DISTINCT remark) AS different, CAST(SUM(amount) AS CHAR) AS amount FROM orders
     WHERE user_id = ?`,
    [user],
  );
  const [lines] = await select<Record<string, unknown>>(
    `SELECT COUNT(*) AS count FROM order_details d JOIN orders o ON o.order_no = d.order_no WHERE o.user_id = ?`,
    [user],
  );
  const [errors] = await select<Record<string, unknown>>(
    'SELECT COUNT(DISTINCT row_no) AS count FROM import_errors WHERE import_id = ?',
    [id],
  );
  const [record] = await select<Record<string, unknown>>(
    'SELECT status, total_rows, success_count, failed_count, order_count, progress FROM imports WHERE id = ?',
    [id],
  );
  const notices = await select('SELECT id FROM notifications WHERE event_key LIKE ?', [`import-${id}-%`]);
  return { ...record, ...orders, lines: lines?.count, errors: errors?.count, notices: notices.length };
}

function expected({ rows, good }: { rows: number; good: number }, orders: number): object {
  const refs = Array.from({ length: orders }, (_, order) => order).filter((order) => order % 10 !== 9);
  const doubles = refs.filter((order) => order % 7 === 0).length;
  const success_count = good + doubles;
  return {
    ...{ status: 1, progress: 100, total_rows: rows, success_count, failed_count: rows - success_count },
    ...{ order_count: good, orders: good, different: good, amount: `${good + 2 * doubles}.00` },
    ...{ lines: success_count, errors: rows - success_count, notices: 1 },
  };
}

const newUser = async (): Promise<number> => (await makeUser(service.admin)).id;

const startWorker = (): Promise<TestProcess> => startWorkerProcess({}, 'imports');

test.serial('killed again and again, its Redis emptied, an import imports every good row once', async (t) => {
  const [user, orders] = [await newUser(), 20_000];
  const file = sheet(user, orders);
  const id = await start(file.content);
  let position = 0;
  for (let death = 0; death < 4; death++) {
    const worker = await startWorker();
    await beyond(id, position);
    await worker.kill();
    ({ position } = await stateOf(id));
    t.true(position < file.rows, 'it was killed in the middle');
    // Without this the job is found when its lock has expired; with it only the sweeper can find the row.
    if (death % 2 === 0) await redis.flushdb();
  }
  const last = await startWorker();
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
  await last.stop();
});

test.serial(
  'frozen past its lock and thawed beside the run that took over, nothing is imported twice',
  async (t) => {
    const [user, orders] = [await newUser(), 20_000];
    const file = sheet(user, orders);
    const id = await start(file.content);
    const first = await startWorker();
    await beyond(id, 0);
    first.child.kill('SIGSTOP');
    const lock = `{${config.redis.prefix}-imports}:imports:import-orders-${id}:lock`;
    const held = await redis.get(lock);
    const second = await startWorker();
    // The second one has the job now; it may have to wait for rows that the frozen one has locked.
    await until(async () => ![null, held].includes(await redis.get(lock)), 60_000);
    first.child.kill('SIGCONT');
    await concluded(id);
    t.deepEqual(await outcomeOf(id, user), expected(file, orders));
    for (const worker of [first, second]) t.is(await worker.stop(), 0);
  },
);

test.serial('two workers told of the same import at once share it without a row twice', async (t) => {
  const [user, orders] = [await newUser(), 10_000];
  const file = sheet(user, orders);
  const id = await start(file.content);
  const first = await startWorker();
  await beyond(id, 0);
  await redis.flushdb();
  const second = await startWorker();
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
  for (const worker of [first, second]) await worker.stop();
});

test.serial('a worker told to stop leaves the rest of an import to the next one', async (t) => {
  const [user, orders] = [await newUser(), 30_000];
  const file = sheet(user, orders);
  const id = await start(file.content);
  const worker = await startWorkerProcess({ SHUTDOWN_SECONDS: '1' }, 'imports');
  await beyond(id, 0);
  const begun = Date.now();
  await worker.stop();
  t.true(Date.now() - begun < 10_000);
  const next = await startWorker();
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
  await next.stop();
});

/** The largest resident set it ever had, in MB. */
function peakOf({ child }: TestProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1000;
}

test.serial('a large file enters neither the memory of the API nor of the worker', async (t) => {
  const user = await newUser();
  const env = { NODE_OPTIONS: '--max-old-space-size=128' };
  const [api, worker] = [await startApi(env), await startWorkerProcess(env, 'imports')];
  const row = `${user},${'长'.repeat(20_000)}\n`;
  const content = `user_id,remark,amount\n${row.repeat(3400)}`;
  t.true(Buffer.byteLength(content) > 200e6);
  const caller = service.admin.at(api.url);
  const { data, text } = await caller.upload('/orders/import', content, { filename: 'large.csv' });
  t.truthy(data, text);
  await concluded(data.import_id);
  t.like((await caller.get(`/imports/${data.import_id}`)).data, { status: 1, failed_count: 3400 });
  for (const process of [api, worker]) {
    t.true(peakOf(process) < 320, `${peakOf(process)} MB`);
    await process.stop();
  }
});
