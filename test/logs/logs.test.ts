// The operation and login logs as the worker writes them: complete and exactly once.
import '../support/settings/environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import type { OperationEntry } from '../../src/models/logs/operation-log.js';
import { periodOf } from '../../src/lib/values/numbers.js';
import { add } from '../../src/lib/queue/queue.js';
import { newUlid } from '../../src/lib/secrets/random-id.js';
import { readUserAgent } from '../../src/lib/values/user-agent.js';
import { writeLogs } from '../../src/jobs/write-logs.js';
import { makeAdmin, makeMethod, makePayment, makeRole, makeUser, unique } from '../support/factories.js';
import { consume, type RunningWorker } from '../../src/worker/consume.js';
import { beforeDatabase } from '../support/servers/faulty-proxy.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { withoutRedis } from '../support/servers/redis.js';
import { writeLogins } from '../support/logs.js';
import { startService, type Service } from '../support/service.js';
import type { Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

let service: Service;
let worker: RunningWorker;
let admin: Client;
/** A process without Redis, whose database may be cut off. */
let alone: TestProcess;
let database: Awaited<ReturnType<typeof beforeDatabase>>;

test.before(async () => {
  // Nothing but the queue of the log: no sweeper that would bring in late what was left lying.
  service = await startService({ withWorker: false });
  worker = consume('logs');
  admin = service.admin;
  database = await beforeDatabase();
  alone = await startApi({ ...withoutRedis, ...database.env });
});

test.after.always(async () => {
  await killProcesses();
  await worker.close();
  await service.stop();
});

interface OperationRow extends Record<string, unknown> {
  id: number;
  log_key: string;
  status: number;
  module: string;
  action: string;
  request: string;
  duration_ms: number;
  created_at: Date;
}

interface LoginRow {
  admin_id: number | null;
  period: number;
  status: number;
  outcome: string;
  created_at: Date;
}

const operations = (traceId: string): Promise<OperationRow[]> =>
  select('SELECT * FROM operation_logs WHERE trace_id = ?', [traceId]);

const logins = (username: string): Promise<LoginRow[]> =>
  select('SELECT * FROM login_logs WHERE username = ? ORDER BY id', [username]);

/** The one entry a request has left. */
const operation = (traceId: string): Promise<OperationRow> =>
  until(async () => (await operations(traceId))[0]);

test('a write is logged with actor, action, outcome and masked request', async (t) => {
  const traceId = newUlid();
  const headers = { 'X-Trace-Id': traceId, 'User-Agent': 'Mozilla/5.0 test' };
  const body = { username: unique('user'), password: 'secret-1', nickname: 'x' };
  t.is((await admin.post('/users?token=abc&note=1', body, headers)).status, 200);
  const { id, log_key, duration_ms, created_at, record_key: _, ...entry } = await operation(traceId);
  t.deepEqual(JSON.parse(entry.request), {
    query: { token: '***', note: '1' },
    body: { username: body.username, password: '***', nickname: 'x' },
  });
  t.deepEqual(
    { ...entry, request: '' },
    {
      ...{
        period: new Date().getUTCFullYear() * 100 + new Date().getUTCMonth() + 1,
        admin_id: 1,
        username: 'admin',
      },
      ...{
        module: 'user',
        action: 'store',
        title: 'Create users',
        method: 'POST',
        path: '/api/admin/users',
        ip: '127.0.0.1',
      },
      ...{ user_agent: 'Mozilla/5.0 test', request: '', status: 200, changes: null, trace_id: traceId },
    },
  );
  t.true(id > 0 && duration_ms >= 0 && log_key.length === 26);
  t.true(Math.abs(created_at.getTime() - Date.now()) < 20_000);
});

test('a request filled with fields that no route takes is logged with those it takes', async (t) => {
  const traceId = newUlid();
  const filling = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`x${at}`, 'x'.repeat(2000)]));
  const body = { username: unique('user'), password: 'secret-1', nickname: 'x' };
  const headers = { 'X-Trace-Id': traceId };
  t.is((await admin.post('/users', { ...filling, ...body }, headers)).status, 200);
  const { request } = await operation(traceId);
  t.deepEqual(JSON.parse(request), { query: {}, body: { ...body, password: '***' } });
});

test('every id of a request is in its entry', async (t) => {
  const traceId = newUlid();
  const ids = Array.from({ length: 1000 }, (_, at) => 900_000_000 + at);
  const sent = { body: { ids }, headers: { 'X-Trace-Id': traceId } };
  t.is((await admin.request('DELETE', '/failed-jobs/batch', sent)).status, 200);
  t.deepEqual(JSON.parse((await operation(traceId)).request), { query: {}, body: { ids } });
});

test('refused and failed writes are logged, reads and what changes nothing are not', async (t) => {
  const role = await makeRole(admin, ['role.index', 'role.show']);
  const own = await service.anonymous.signIn(await makeAdmin(admin, [role.id]));
  const method = await makeMethod(admin);
  const payment = await makePayment(admin, method.id);
  const request = async (client: Client, method: string, path: string, body?: unknown) => {
    const traceId = newUlid();
    const { status } = await client.request(method, path, { body, headers: { 'X-Trace-Id': traceId } });
    return { traceId, status };
  };
  const silent = [
    await request(own, 'GET', '/info'),
    await request(own, 'GET', '/roles?name=x'),
    await request(service.anonymous, 'POST', '/roles', {}),
    await request(service.anonymous.with({ Authorization: 'Bearer x' }), 'DELETE', '/roles/1'),
    await request(admin, 'POST', '/nothing', {}),
    await request(own, 'POST', '/notifications/ws-ticket'),
    await request(own, 'POST', '/payments/1/query'),
    await request(admin, 'POST', `/payments/${payment.payment_no}/query`),
    await request(admin, 'POST', `/payment-methods/${method.id}/test`),
  ];
  const head = newUlid();
  await fetch(`${service.url}/api/admin/login/captcha?check=1`, {
    method: 'HEAD',
    headers: { 'X-Trace-Id': head },
  });
  const logged = [
    { ...(await request(own, 'POST', '/roles', { name: 'x' })), expected: [403, 'role', 'store'] },
    { ...(await request(admin, 'POST', '/roles', {})), expected: [400, 'role', 'store'] },
    { ...(await request(admin, 'POST', '/roles', '{broken')), expected: [400, 'role', 'store'] },
    { ...(await request(admin, 'POST', '/roles?timezone=nowhere', {})), expected: [422, 'role', 'store'] },
    { ...(await request(admin, 'PUT', '/roles/999999', { name: 'x' })), expected: [404, 'role', 'update'] },
    { ...(await request(admin, 'DELETE', `/roles/${role.id}`)), expected: [400, 'role', 'destroy'] },
    { ...(await request(own, 'PUT', '/profile', { nickname: '' })), expected: [422, 'profile', 'put'] },
    { ...(await request(own, 'POST', '/logout')), expected: [200, 'logout', 'post'] },
  ];
  for (const { traceId, status, expected } of logged) {
    const { module, action, ...entry } = await operation(traceId);
    t.deepEqual([entry.status, module, action], expected);
    t.is(entry.status, status);
  }
  for (const { traceId } of silent) t.deepEqual(await operations(traceId), []);
  t.deepEqual(await operations(head), []);
});

test('every attempt to sign in is logged with its outcome', async (t) => {
  const account = await makeAdmin(admin);
  const { username, password } = account;
  const login = (body: object) => service.anonymous.post('/login', { username, ...body });
  await login({ password });
  await login({ password: 'wrong-1' });
  await login({ password: 'wrong-2' });
  await login({ password });
  await login({ password, captcha_id: 'x', captcha_code: 'y' });
  const expected = [
    [account.id, 1, 'login_success'],
    ...[
      'username_or_password_error',
      'username_or_password_error',
      'captcha_required',
      'captcha_invalid',
    ].map((outcome) => [account.id, 0, outcome]),
  ];
  await until(async () => (await logins(username)).length === expected.length);
  const seen = (await logins(username)).map(({ admin_id, status, outcome }) => [admin_id, status, outcome]);
  t.deepEqual(seen.sort(), expected.sort());

  const disabled = await makeAdmin(admin, [], { status: 0 });
  await service.anonymous.post('/login', disabled);
  const entry = await until(async () => (await logins(disabled.username))[0]);
  t.deepEqual([entry.admin_id, entry.status, entry.outcome], [disabled.id, 0, 'account_disabled']);

  const long = '长'.repeat(60);
  await service.anonymous.post('/login', { username: long, password });
  t.is((await until(async () => (await logins(long.slice(0, 50)))[0])).outcome, 'username_or_password_error');
});

test('concurrent entries are each written exactly once', async (t) => {
  const traceIds = Array.from({ length: 300 }, () => newUlid());
  await Promise.all(traceIds.map((traceId) => admin.put('/admins/999999', {}, { 'X-Trace-Id': traceId })));
  const count = async () =>
    selectRow<{ entries: number; requests: number }>(
      'SELECT COUNT(*) AS entries, COUNT(DISTINCT trace_id) AS requests FROM operation_logs WHERE trace_id IN (?)',
      [traceIds],
    );
  await until(async () => (await count()).requests === 300);
  t.deepEqual(await count(), { entries: 300, requests: 300 });
});

test('an entry queued twice is one row', async (t) => {
  const entry = (created_at: string) => ({
    ...{
      log_key: newUlid(),
      admin_id: null,
      username: unique('log'),
      ip: '::1',
      user_agent: '',
    },
    ...readUserAgent(undefined),
    ...{ status: 0, outcome: 'login_locked', created_at },
  });
  // Partitions are there for three months ahead; each one more that is missing is made in all log tables.
  const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()];
  const lastMoment = new Date(Date.UTC(year, month + 6) - 1);
  const [today, later] = [entry(new Date().toISOString()), entry(lastMoment.toISOString())];
  await writeLogins([today]);
  await until(async () => (await logins(today.username)).length === 1);
  const marker = entry(today.created_at);
  await writeLogins([today, marker]);
  await until(async () => (await logins(marker.username)).length === 1);
  t.is((await logins(today.username)).length, 1);
  await writeLogins([later]);
  const row = await until(async () => (await logins(later.username))[0]);
  t.deepEqual([row.period, row.created_at], [periodOf(lastMoment), lastMoment]);
});

test('a job that an earlier release has left does not fail', async (t) => {
  const batch = newUlid();
  await add({ queue: 'logs', name: writeLogs.name, id: batch, payload: { batch }, options: {} });
  const traceId = newUlid();
  await admin.put('/admins/999999', { nickname: 'x' }, { 'X-Trace-Id': traceId });
  // The queue runs one job at a time.
  await operation(traceId);
  t.deepEqual(await select("SELECT error FROM failed_jobs WHERE job = 'write-logs'"), []);
});

test.serial('without Redis entries reach the logs without the queue', async (t) => {
  const caller = admin.at(alone.url);
  const traceId = newUlid();
  t.is((await caller.put('/admins/999999', { nickname: 'x' }, { 'X-Trace-Id': traceId })).status, 404);
  await until(async () => (await operations(traceId)).length > 0);
  t.deepEqual(
    (await operations(traceId)).map(({ status, action }) => [status, action]),
    [[404, 'update']],
  );
  const username = unique('nobody');
  await caller.with({ Authorization: '' }).post('/login', { username, password: 'wrong-1' });
  await until(async () => (await logins(username)).length > 0);
  t.is((await logins(username))[0]?.outcome, 'username_or_password_error');
});

test('the entry of a write says how its request ended', async (t) => {
  const traceId = newUlid();
  const { id } = await makeUser(admin);
  const change = { type: 'expense', amount: '1.00' };
  t.is((await admin.post(`/users/${id}/update-balance`, change, { 'X-Trace-Id': traceId })).status, 400);
  const refused = await until(async () => (await operations(traceId)).find(({ status }) => status !== 200));
  t.deepEqual([refused.status, refused.action], [400, 'update_balance']);
});

test.serial('an entry that no table accepts does not block others', async (t) => {
  const made = await admin.post('/roles', { name: unique('r'), slug: unique('r-') });
  const like = await operation(made.headers.get('X-Trace-Id') as string);
  const [bad, good] = [newUlid(), newUlid()];
  const entry = { ...like, created_at: new Date().toISOString() } as unknown as OperationEntry;
  const items = [
    { ...entry, log_key: newUlid(), trace_id: bad, method: 'x'.repeat(1000) },
    { ...entry, log_key: newUlid(), trace_id: good },
  ].map((one) => ({ kind: 'operation' as const, entry: one }));
  await writeLogs.enqueue({ batch: newUlid(), items });
  await until(async () => (await operations(good)).length > 0);
  t.deepEqual(await operations(bad), []);
});

const systemEntry = (traceId: string) =>
  until(async () => (await admin.get(`/system-logs?level=error&trace_id=${traceId}`)).data.list[0]);

test.serial('the system log hides where the service runs', async (t) => {
  const traceId = newUlid();
  const caller = service.anonymous.at(alone.url);
  t.is((await caller.get('/login/captcha', { 'X-Trace-Id': traceId })).status, 503);
  const entry = await systemEntry(traceId);
  t.like(entry, { message: 'a request failed', context: { path: '/api/admin/login/captcha' } });
  t.truthy(entry.context.error.message);
  t.notRegex(JSON.stringify(entry), /stack|node_modules|\.js:/);
});

const refuseRoles = `CREATE TRIGGER refused_role BEFORE INSERT ON roles FOR EACH ROW SIGNAL SQLSTATE '45000'`;

test.serial('the system log hides what the database is reached by', async (t) => {
  const traceId = newUlid();
  await change(refuseRoles);
  const role = { name: unique('r'), slug: unique('r-') };
  const answer = await admin.at(alone.url).post('/roles', role, { 'X-Trace-Id': traceId });
  await change('DROP TRIGGER refused_role');
  t.is(answer.status, 500);
  const entry = await systemEntry(traceId);
  t.truthy(entry.context.error.message);
  t.notRegex(JSON.stringify(entry), /Sequelize|SQLSTATE/);
});

test.serial('an entry of the system log that no table accepts makes no further ones', async (t) => {
  const client = admin.at(alone.url);
  await change(refuseRoles);
  await change(
    `CREATE TRIGGER refused_line BEFORE INSERT ON system_logs FOR EACH ROW SIGNAL SQLSTATE '45000'`,
  );
  try {
    for (let made = 1; made <= 3; made++) {
      const traceId = newUlid();
      const role = { name: unique('r'), slug: unique('r-') };
      t.is((await client.post('/roles', role, { 'X-Trace-Id': traceId })).status, 500);
      await until(() => new RegExp(`"trace_id":"${traceId}".*was left out`).test(alone.output()));
      t.is((await operation(traceId)).status, 500);
    }
    // No such line is about another one.
    t.notRegex(alone.output(), /"message":"a log entry that no table takes/);
  } finally {
    await change('DROP TRIGGER refused_role');
    await change('DROP TRIGGER refused_line');
  }
});

// The last on that process.
test.serial('an entry that neither the queue nor the database takes is on standard output', async (t) => {
  const traceId = newUlid();
  database.cutAt('INSERT INTO operation_logs');
  t.is((await admin.at(alone.url).put('/admins/999999', {}, { 'X-Trace-Id': traceId })).status, 404);
  await until(() => new RegExp(`${traceId}.*"msg":"log entry"`).test(alone.output()));
  t.deepEqual(await operations(traceId), []);
  database.close();
});
