// /operation-logs, /login-logs, /system-logs: lists with their filters, changes, deletion, retention.
import '../support/settings/environment.js';
import '../support/settings/no-captchas.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { db, select } from '../../src/lib/database/db.js';
import { setClock } from '../../src/lib/values/clock.js';
import { periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';
import { newUlid } from '../../src/lib/secrets/random-id.js';
import { logger, onLogLine } from '../../src/lib/watch/logger.js';
import { keepSystemLog } from '../../src/jobs/write-logs.js';
import { cleanLogs } from '../../src/models/logs/log.js';
import { SystemLog } from '../../src/models/logs/tables.js';
import { insertRow } from '../../src/models/tables/rows.js';
import { makeAdmin, makeOrder, makeRole, makeUser, unique } from '../support/factories.js';
import { connectionsAt, holding } from '../support/other-connection.js';
import { writeLogins } from '../support/logs.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
/** Entries whose requests have ended: then those of writes say how. */
const listed = (path: string) =>
  until(async () => {
    const { data } = await service.admin.get(path);
    const hasEnded = ({ duration_ms = 1 }: { duration_ms?: number }) => duration_ms > 0;
    return data.list.length > 0 && data.list.every(hasEnded) ? data : undefined;
  });

test('an operation is found by each of its filters', async (t) => {
  const made = await service.admin.post(
    '/roles',
    { name: unique('r'), slug: unique('r-') },
    { 'X-Trace-Id': unique('trace-') },
  );
  const traceId = made.headers.get('X-Trace-Id') as string;
  const { list } = await listed(`/operation-logs?trace_id=${traceId}`);
  t.like(list[0], {
    username: 'admin',
    module: 'role',
    action: 'store',
    title: '创建角色',
    method: 'POST',
    path: '/api/admin/roles',
    ip: '127.0.0.1',
    status: 200,
    trace_id: traceId,
  });
  t.is(list[0].request.body.slug, made.data.slug);
  const english = await service.admin
    .with({ 'Accept-Language': 'en-US' })
    .get(`/operation-logs/${list[0].id}`);
  t.is(english.data.title, 'Create roles');
  const filters = [
    'admin_id=1',
    'username=adm',
    'module=role',
    'module=ol',
    'action=store',
    'action=tor',
    'method=POST',
    'path=/roles',
    'ip=127.0',
    'status=200',
  ];
  for (const filter of filters) {
    const found = await service.admin.get(`/operation-logs?trace_id=${traceId}&${filter}`);
    t.is(found.data.total, 1, filter);
  }
  for (const filter of [
    'admin_id=2',
    'username=zz',
    'module=zz',
    'action=zz',
    'method=PUT',
    'path=/zz',
    'ip=9.9',
    'status=500',
  ]) {
    const found = await service.admin.get(`/operation-logs?trace_id=${traceId}&${filter}`);
    t.is(found.data.total, 0, filter);
  }
  t.deepEqual((await service.admin.get(`/operation-logs/${list[0].id}`)).data, list[0]);
});

test('the operations of a record are its creation, its changes and its actions, and no others', async (t) => {
  const { admin } = service;
  const user = (await makeUser(admin)).id;
  const longer = `/users/${user}0`;
  await admin.put(`/users/${user}`, { nickname: 'Renamed' });
  await admin.put(`/users/00${user}`, { nickname: 'Renamed again' });
  await admin.post(`/users/${user}/update-balance`, { type: 'income', amount: '1.00' });
  t.is((await admin.put(longer, { nickname: 'x' })).status, 404);
  await admin.post('/roles', { name: unique('r'), slug: unique('r-') });
  const order = await makeOrder(admin);
  await admin.put(`/orders/${order.id}`, { remark: 'by its id' });
  await admin.put(`/orders/${order.order_no}`, { remark: 'by its number' });
  t.is((await admin.delete(`/orders/${order.id}`)).status, 200);
  const operationsOf = async (record: string): Promise<string[]> => {
    const { list } = await listed(`/operation-logs?order_by=id&record=/api/admin${record}`);
    return list.map(({ method, path }: Record<string, string>) => `${method} ${path}`);
  };
  const [made, kept] = [`POST /api/admin/users`, `/api/admin/users/${user}`];
  await until(async () => (await operationsOf(`/users/${user}`)).length === 4);
  t.deepEqual(await operationsOf(`/users/${user}`), [
    made,
    `PUT ${kept}`,
    `PUT /api/admin/users/00${user}`,
    `POST ${kept}/update-balance`,
  ]);
  t.deepEqual(await operationsOf(longer), [`PUT /api/admin${longer}`]);
  await until(async () => (await operationsOf(`/orders/${order.order_no}`)).length === 4);
  t.deepEqual(await operationsOf(`/orders/${order.order_no}`), [
    'POST /api/admin/orders',
    `PUT /api/admin/orders/${order.id}`,
    `PUT /api/admin/orders/${order.order_no}`,
    `DELETE /api/admin/orders/${order.id}`,
  ]);
  t.is((await admin.get('/operation-logs?record=/api/admin/users/é')).status, 422);
});

test('an update logs the changed fields, a delete all fields', async (t) => {
  const role = await makeRole(service.admin, [], { description: 'before' });
  const updated = await service.admin.put(`/roles/${role.id}`, { description: 'after' });
  const [change] = (await listed(`/operation-logs?trace_id=${updated.headers.get('X-Trace-Id')}`)).list;
  t.deepEqual(change.changes, [{ field: 'description', old: 'before', new: 'after' }]);
  const account = await makeAdmin(service.admin, [], { phone: '100' });
  const own = await service.anonymous.signIn(account);
  const called = await own.put('/profile', { phone: '200', nickname: account.username });
  const [profile] = (await listed(`/operation-logs?trace_id=${called.headers.get('X-Trace-Id')}`)).list;
  t.deepEqual(profile.changes, [{ field: 'phone', old: '100', new: '200' }]);
  const deleted = await service.admin.delete(`/roles/${role.id}`);
  const [removal] = (await listed(`/operation-logs?trace_id=${deleted.headers.get('X-Trace-Id')}`)).list;
  t.true(
    removal.changes.some(
      ({ field, old }: { field: string; old: unknown }) => field === 'slug' && old === role.slug,
    ),
  );
});

test('sign-ins are listed with outcomes in the language of the reader', async (t) => {
  const account = await makeAdmin(service.admin);
  await service.anonymous.post('/login', { username: account.username, password: 'wrong-password' });
  await service.anonymous.signIn(account);
  const list = await until(async () => {
    const { data } = await service.admin.get(`/login-logs?username=${account.username}&order_by=id:asc`, {
      'Accept-Language': 'en-US',
    });
    return data.list.length === 2 ? data.list : undefined;
  });
  t.deepEqual(
    list.map(({ status, message }: { status: number; message: string }) => [status, message]),
    [
      [0, 'Wrong username or password'],
      [1, 'Signed in'],
    ],
  );
  t.is((await service.admin.get(`/login-logs?username=${account.username}&status=0`)).data.total, 1);
  t.is((await service.admin.get(`/login-logs?admin_id=${account.id}&ip=127.0.0.1&status=0`)).data.total, 1);
});

test('warnings and errors reach the system log with their trace id', async (t) => {
  logger.level = 'warn';
  keepSystemLog('api');
  const caller = service.admin.with({ 'X-Trace-Id': 'slow-request-1' });
  const { id } = (await service.admin.post('/departments', { name: 'slow', code: unique('slow-') })).data;
  await db.query('CREATE TRIGGER slowly BEFORE UPDATE ON departments FOR EACH ROW SET @slept = SLEEP(1.1)');
  t.is((await caller.put(`/departments/${id}`, { name: 'late' })).status, 200);
  const query = 'level=warning&message=slow%20req&trace_id=slow-request-1';
  const { list } = await listed(`/system-logs?${query}`);
  t.like(list[0], { level: 'warning', module: 'api', message: 'slow request', trace_id: 'slow-request-1' });
  t.is(list[0].context.path, `/api/admin/departments/${id}`);
  t.is((await service.admin.get('/system-logs?message=slow%20req&module=api')).data.total > 0, true);
  t.is((await service.admin.get('/system-logs?level=error&trace_id=slow-request-1')).data.total, 0);
  t.is((await service.admin.get('/system-logs?level=loud')).status, 422);
});

const logs = ['operation-logs', 'login-logs', 'system-logs'];

for (const log of logs)
  test(`/${log}: an entry is shown by its id as it stands in the list`, async (t) => {
    await makeRole(service.admin);
    await writeSystemEntry('shown', null);
    const { list } = await listed(`/${log}`);
    t.like((await service.admin.get(`/${log}/${list[0].id}`)).data, list[0]);
  });

for (const log of logs)
  test(`/${log}: an unknown entry is not found`, async (t) => {
    const { status, errorCode } = await service.admin.get(`/${log}/999999999`);
    t.deepEqual([status, errorCode], [404, 'log_not_found']);
  });

for (const [what, context] of [
  ['without a context', null],
  ['whose context was cut', '{"path":"/a'],
] as const)
  test(`a system entry ${what} is shown as it was stored`, async (t) => {
    const trace = unique('trace-');
    await writeSystemEntry(trace, context);
    const { list } = await listed(`/system-logs?trace_id=${trace}`);
    t.is(list[0].context, context);
  });

async function writeSystemEntry(trace_id: string, context: string | null): Promise<void> {
  const created_at = new Date();
  await insertRow(SystemLog, {
    period: periodOf(created_at),
    log_key: newUlid(),
    level: 'error',
    module: 'api',
    message: 'written by a test',
    context,
    trace_id,
    created_at,
  });
}

const oldEntry = (username: string, at: Date) => ({
  log_key: newUlid(),
  admin_id: null,
  username,
  ip: '127.0.0.1',
  user_agent: '',
  browser: '',
  os: '',
  device: 'other',
  status: 0,
  outcome: 'login_locked',
  created_at: at.toISOString(),
});

const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

test('entries can be deleted singly, in bulk and by age', async (t) => {
  const name = unique('old');
  await writeLogins([
    oldEntry(name, daysAgo(40)),
    oldEntry(name, daysAgo(3)),
    oldEntry(name, daysAgo(1)),
    oldEntry(name, daysAgo(0)),
  ]);
  const { list } = await listed(`/login-logs?username=${name}&order_by=created_at:asc`);
  t.is(list.length, 4);
  t.is((await service.admin.delete(`/login-logs/${list[2].id}`)).status, 200);
  t.is((await service.admin.delete(`/login-logs/${list[2].id}`)).status, 404);
  t.deepEqual(
    (await service.admin.post('/login-logs/batch-delete', { ids: [list[1].id, list[2].id] })).data,
    { count: 1 },
  );
  const cleaned = await service.admin.post('/login-logs/clean', { days: 30 });
  t.is(cleaned.status, 200);
  t.true(cleaned.data.count >= 1);
  t.is((await service.admin.get(`/login-logs?username=${name}`)).data.total, 1);
  t.is((await service.admin.post('/login-logs/clean', {})).status, 400);
});

// Before the others, whose entries it would drop.
test.serial(
  'months past the retention are dropped with their partitions, once if two clean at once',
  async (t) => {
    const partitions = async () =>
      (
        await select<{ name: string }>(
          `SELECT PARTITION_NAME AS name FROM information_schema.PARTITIONS
         WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 'system_logs'`,
          [config.database.name],
        )
      ).map(({ name }) => name);
    const last = shiftPeriod(periodOf(new Date()), -1);
    t.true((await partitions()).includes(`p${last}`));
    const warnings: string[] = [];
    logger.level = 'warn';
    onLogLine(({ message }) => warnings.push(message));
    const release = await holding('SELECT id FROM system_logs LIMIT 1');
    const cleaned = Promise.all([cleanLogs('system_logs', 0), cleanLogs('system_logs', 0)]);
    await until(async () => (await connectionsAt('ALTER TABLE system_logs%')).length === 2).finally(release);
    await cleaned;
    t.deepEqual(warnings, []);
    t.false((await partitions()).includes(`p${last}`));
    t.true((await partitions()).includes(`p${periodOf(new Date())}`));
  },
);

test.serial('a reader holds up the dropping of old months once', async (t) => {
  const warnings: string[] = [];
  onLogLine(({ message }) => warnings.push(message));
  const release = await holding('SELECT id FROM system_logs LIMIT 1');
  // So that this month and the next two are old.
  setClock(new Date(Date.now() + 90 * 86_400_000));
  await cleanLogs('system_logs', 0).finally(release);
  setClock();
  t.deepEqual(warnings, ['dropping old months failed; their rows are deleted in batches']);
});
