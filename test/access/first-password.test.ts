// Passwords set by another administrator, common passwords, and idle sessions.
import '../support/shared-environment.js';
import test from 'ava';
import { change, db } from '../../src/lib/database/db.js';
import { makeAdmin, unique } from '../support/factories.js';
import { openStream } from '../support/events.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { service } from '../support/shared-service.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { Client, outcome } from '../support/client.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

/** A process with the switches of production, whose sessions also end when they are not used. */
let careful: Client;

test.before(async () => {
  const switches = { PASSWORD_CHANGE_REQUIRED: 'true', PASSWORD_REFUSE_COMMON: '1' };
  const { url } = await startApi({ ...switches, SESSION_IDLE_MINUTES: '30' });
  careful = service.anonymous.at(url);
});

const mustChange = [403, 20003, 'password_change_required'];

const ownPassword = (old_password: string, password: string) => ({
  old_password,
  password,
  password_confirmation: password,
});

test('an account with a password set by someone else can only change it', async (t) => {
  const account = await makeAdmin(service.admin);
  const { data } = await careful.post('/login', account);
  t.true(data.password_must_change);
  const own = careful.with({ Authorization: `Bearer ${data.token}` });
  t.true((await own.get('/info')).data.password_must_change);
  for (const [method, path] of [
    ['GET', '/heartbeat'],
    ['PUT', '/profile'],
    ['GET', '/notifications'],
    ['POST', '/notifications/ws-ticket'],
    ['GET', '/options'],
    ['GET', '/admins'],
  ] as const) {
    const answer = await own.request(method, path, method === 'GET' ? {} : { body: {} });
    t.deepEqual(outcome(answer), mustChange, path);
  }
  const ticket = await ticketOf(own.at(service.url));
  await t.throwsAsync(openSocket(careful.url, ticket), { message: '403' }, 'a ticket of another process');
  t.is((await own.with({ 'Accept-Language': 'en-US' }).get('/heartbeat')).message.includes('changed'), true);
  t.is((await own.put('/password', ownPassword('secret-1', 'gentle-Harbour-7'))).status, 200);
  t.is((await own.get('/heartbeat')).status, 200, 'in the same session, at once');
  t.false((await own.get('/info')).data.password_must_change);
  t.false(
    (await careful.post('/login', { ...account, password: 'gentle-Harbour-7' })).data.password_must_change,
  );
});

test('a password that was reset must be changed', async (t) => {
  const account = await makeAdmin(service.admin);
  await change('UPDATE admins SET password_must_change = 0 WHERE id = ?', [account.id]);
  const before = await careful.signIn(account);
  t.is((await before.get('/heartbeat')).status, 200);
  t.is((await service.admin.put(`/admins/${account.id}/password`, { password: 'secret-2' })).status, 200);
  const own = await careful.signIn({ ...account, password: 'secret-2' });
  t.deepEqual(outcome(await own.get('/heartbeat')), mustChange);
});

test('an account that must change its password can sign out', async (t) => {
  const own = await careful.signIn(await makeAdmin(service.admin));
  t.deepEqual(outcome(await own.get('/heartbeat')), mustChange);
  t.is((await own.post('/logout')).status, 200);
});

test.serial('the seeded administrator must change the password', async (t) => {
  const { flag } = await selectRow<{ flag: number }>(
    "SELECT password_must_change AS flag FROM admins WHERE username = 'admin'",
  );
  t.is(flag, 1);
  const { data } = await careful.post('/login', { username: 'admin', password: 'admin123' });
  t.true(data.password_must_change);
});

test.serial('no password must be changed where PASSWORD_CHANGE_REQUIRED is off', async (t) => {
  t.false((await service.admin.get('/info')).data.password_must_change);
  t.is((await service.admin.get('/admins')).status, 200);
});

test.serial('common passwords are refused wherever a password is set', async (t) => {
  const { id, password } = service.account;
  await change('UPDATE admins SET password_must_change = 0 WHERE id = ?', [id]);
  const admin = await careful.signIn(service.account);
  const made = (password: string) =>
    admin.post('/admins', { username: unique('admin'), password, nickname: 'x' });
  const common =
    'password1 qwerty123 admin1234 abc12345 iloveyou1 letmein1 P@ssw0rd Admin@2026 admin123'.split(' ');
  for (const password of common) {
    const refused = await made(password);
    t.deepEqual([refused.status, Object.keys(refused.errors ?? {})], [422, ['password']], password);
  }
  t.deepEqual((await made('Password123')).errors, { password: ['过于常见，容易被猜到'] });
  t.is((await made('gentle-Harbour-7')).status, 200);
  t.is(
    (
      await service.admin.post('/admins', {
        username: unique('admin'),
        password: 'password1',
        nickname: 'x',
      })
    ).status,
    200,
  );
  const user = await admin.post('/users', { username: unique('user'), password: 'letmein1' });
  t.deepEqual([user.status, Object.keys(user.errors ?? {})], [422, ['password']]);
  const own = await admin.put('/password', ownPassword(password, 'sunshine'));
  t.deepEqual([own.status, Object.keys(own.errors ?? {})], [422, ['password']]);
  t.is(
    (await careful.post('/login', { username: 'admin', password: 'admin123' })).status,
    200,
    'no matter of sign-in',
  );
});

test('a session idle for SESSION_IDLE_MINUTES expires', async (t) => {
  const account = await makeAdmin(service.admin);
  await change('UPDATE admins SET password_must_change = 0 WHERE id = ?', [account.id]);
  const own = (await service.anonymous.signIn(account)).at(careful.url);
  const lastUsed = async (): Promise<Date> =>
    (
      await selectRow<{ last_used_at: Date }>('SELECT last_used_at FROM admin_sessions WHERE admin_id = ?', [
        account.id,
      ])
    ).last_used_at;
  const unusedFor = (minutes: number) =>
    change('UPDATE admin_sessions SET last_used_at = ? WHERE admin_id = ?', [
      new Date(Date.now() - minutes * 60_000),
      account.id,
    ]);
  await unusedFor(29);
  t.is((await own.get('/heartbeat')).status, 200);
  await until(async () => Date.now() - (await lastUsed()).getTime() < 60_000);
  t.is((await own.get('/heartbeat')).status, 200);
  const other = (await service.anonymous.signIn(account)).at(careful.url);
  await unusedFor(32);
  for (const _ of [1, 2]) t.deepEqual(outcome(await other.get('/heartbeat')), [401, 10003, 'token_expired']);
  t.is(
    (await service.admin.with(other.headers).get('/heartbeat')).status,
    200,
    'no time-out at another process',
  );
});

const productionDatabase = `${process.env.DB_NAME}_production`;

test.after.always(async () => {
  await killProcesses();
  await db.query(`DROP DATABASE IF EXISTS \`${productionDatabase}\``);
});

const production = {
  NODE_ENV: 'production',
  DB_NAME: productionDatabase,
  REDIS_PREFIX: `${process.env.REDIS_PREFIX}-production`,
};

/** Production once more, where a session ends that is not used for a second. */
let again: TestProcess;

test.serial('production prints a generated first password once', async (t) => {
  const api = await startApi(production);
  const printed = await until(() => / "admin" with the password (\S+)/.exec(api.output())?.[1]);
  t.true(printed.length >= 16);
  const anonymous = new Client(api.url);
  t.is((await anonymous.post('/login', { username: 'admin', password: 'admin123' })).code, 10001);
  const admin = await anonymous.signIn({ username: 'admin', password: printed });
  t.is((await admin.get('/admins')).errorCode, 'password_change_required');
  const own = {
    old_password: printed,
    password: 'gentle-Harbour-7',
    password_confirmation: 'gentle-Harbour-7',
  };
  t.is((await admin.put('/password', own)).status, 200);
  const made = (password: string) => admin.post('/admins', { username: 'someone', password, nickname: 'x' });
  for (const weak of ['abc1234', 'abcdefgh', '12345678'])
    t.deepEqual(Object.keys((await made(weak)).errors ?? {}), ['password'], weak);
  t.is((await made('密码abc123')).status, 200);
  const { password_hash } = await selectRow<{ password_hash: string }>(
    `SELECT password_hash FROM \`${productionDatabase}\`.admins WHERE id = 1`,
  );
  t.regex(password_hash, /^\$2b\$/);
  again = await startApi({ ...production, SESSION_IDLE_MINUTES: '0.02' });
  await until(() => again.output().includes('API is listening'));
  t.notRegex(again.output(), /with the password/);
});

test.serial('an open stream ends when its session expires', async (t) => {
  const admin = await new Client(again.url).signIn({ username: 'admin', password: 'gentle-Harbour-7' });
  const stream = await openStream(admin, '/dashboard/stream');
  await stream.event('connected');
  await t.notThrowsAsync(stream.ended);
});
