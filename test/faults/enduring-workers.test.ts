// A worker exits when it makes no progress (60 s), but survives longer outages and jobs: an exit would cut running exports
// and imports, and the sweeper, which is what works without Redis.
import '../support/settings/environment.js';
import test from 'ava';
import { Queue } from 'bullmq';
import { add } from '../../src/lib/queue/queue.js';
import { queuePrefix } from '../../src/lib/queue/names.js';
import { closeConnection, openConnection } from '../../src/lib/redis/connection.js';
import { stateChanges, watchStates } from '../support/model/changes.js';
import { askExport, endOf } from '../support/exports.js';
import { makeOrder, makeUser } from '../support/factories.js';
import { beforeDatabase, beforeRedis } from '../support/servers/faulty-proxy.js';
import { concluded, sheet, startImport } from '../support/imports.js';
import { connectionsAt, holding } from '../support/other-connection.js';
import { startWorkerProcess, type TestProcess } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });

const hurried = { CANARY_SECONDS: '1', HANG_SECONDS: '6' };
/** Longer than a worker that hangs lives. */
const outageMs = 8000;
/** That, and the next look at the queues. */
const verdictMs = 10_000;

const connection = openConnection('test', {});
let redis: Awaited<ReturnType<typeof beforeRedis>>;
let database: Awaited<ReturnType<typeof beforeDatabase>>;
let withoutRedis: TestProcess;
let withoutDatabase: TestProcess;
let paused: Queue;
let imports: Queue;
let hung: TestProcess;
let busy: TestProcess;
let letGo: Awaited<ReturnType<typeof holding>>;
let since: number;

test.before(async () => {
  await watchStates();
  [redis, database] = await Promise.all([beforeRedis(), beforeDatabase()]);
  [paused, imports] = (['files', 'imports'] as const).map(
    (name) => new Queue(name, { prefix: queuePrefix(name), connection }),
  ) as [Queue, Queue];
  await paused.pause();
  [withoutRedis, withoutDatabase, hung, busy] = await Promise.all([
    startWorkerProcess({ ...redis.env, ...hurried }, 'exports'),
    startWorkerProcess({ ...database.env, ...hurried }, 'imports'),
    startWorkerProcess(hurried, 'files'),
    startWorkerProcess(hurried, 'logs'),
  ]);
  redis.refuse();
  database.refuse();
  since = Date.now();
  letGo = await holding('LOCK TABLES login_logs WRITE');
  await service.anonymous.post('/login', { username: 'nobody', password: 'wrong-1' });
  const options = { attempts: 1, removeOnComplete: true, removeOnFail: true };
  await add({ queue: 'imports', name: 'import-orders', id: 'last-run', payload: { id: 999_999 }, options });
});

test.after.always(async () => {
  for (const proxy of [redis, database]) proxy?.close();
  await Promise.all([paused?.close(), imports?.close()]);
  closeConnection(connection);
});

const hasPassed = (ms: number) => until(() => Date.now() - since > ms, ms + 5000, 500);

test.serial('a worker whose job lasts longer than a hang lives on', async (t) => {
  await hasPassed(verdictMs);
  await until(async () => (await connectionsAt('INSERT INTO login_logs%')).length === 1);
  t.is(busy.child.exitCode, null, busy.output());
  await letGo();
  t.is(await busy.stop(), 0);
});

test.serial('a worker lives through an outage of the database longer than a hang', async (t) => {
  await hasPassed(outageMs);
  const waits = async () => (await imports.getJob('last-run'))?.isDelayed();
  t.true(await until(waits), 'the job whose last run it failed');
  database.pass();
  await hasPassed(verdictMs);
  t.is(withoutDatabase.child.exitCode, null, withoutDatabase.output());
  const user = (await makeUser(service.admin)).id;
  await concluded(await startImport(service.admin, sheet(user, 3).content));
  t.notRegex(withoutDatabase.output(), /the worker hangs/);
  t.is(await withoutDatabase.stop(), 0);
});

test.serial('a worker without Redis lives on and sweeps, and takes jobs when Redis is back', async (t) => {
  await hasPassed(verdictMs);
  t.is(withoutRedis.child.exitCode, null, withoutRedis.output());
  const { order_no } = await makeOrder(service.admin, '1', { expire_in_seconds: 1 });
  await until(async () => (await stateChanges(order_no)).length > 0);
  redis.pass();
  const exported = endOf(service.admin, await askExport(service.admin, '/orders'));
  const { status } = await exported.catch((error: unknown) => {
    t.log(withoutRedis.output().slice(-8000));
    throw error;
  });
  t.is(status, 1);
  t.notRegex(withoutRedis.output(), /the worker hangs/);
  t.is(await withoutRedis.stop(), 0);
});

test.serial('a worker whose queue makes no progress exits', async (t) => {
  await until(() => hung.child.exitCode !== null);
  t.is(hung.child.exitCode, 1);
  t.regex(hung.output(), /"what":"the queue files","msg":"the worker hangs/);
});
