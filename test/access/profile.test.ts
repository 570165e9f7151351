// What administrators do for themselves: their profile, sessions and password, also the first one.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { change, db } from '../../src/lib/database/db.js';
import { makeAdmin, makeRole, type MadeAdmin, unique } from '../support/factories.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { service } from '../support/shared-service.js';
import { outcome, type Answer, Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';
import { openStream } from '../support/events.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { openSocket, ticketOf } from '../support/socket.js';

const signedIn = (account: MadeAdmin): Promise<Client> => service.anonymous.signIn(account);

test('a profile update changes only the fields sent', async (t) => {
  const account = await makeAdmin(service.admin, [], {
    email: 'a@example.com',
    phone: '+86 100',
    avatar: '/a.png',
  });
  const own = await signedIn(account);
  const changed = await own.put('/profile', {
    nickname: '小明',
    email: '',
    status: 0,
    role_ids: [1],
    username: 'other',
  });
  t.is(changed.status, 200);
  const { username, nickname, email, phone, avatar, roles, is_super_admin } = changed.data;
  t.deepEqual(
    { username, nickname, email, phone, avatar, roles, is_super_admin },
    {
      username: account.username,
      nickname: '小明',
      email: null,
      phone: '+86 100',
      avatar: '/a.png',
      roles: [],
      is_super_admin: false,
    },
  );
  t.deepEqual((await own.get('/info')).data, changed.data);
  t.is((await own.put('/profile', { phone: null, avatar: '' })).data.phone, null);
});

test('a profile update refuses invalid values', async (t) => {
  const own = await signedIn(await makeAdmin(service.admin));
  const scripts = ['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', '\tjavascript:x'];
  for (const avatar of [...scripts, '//evil.example/a.png', '/\\evil.example/a.png'])
    t.deepEqual((await own.put('/profile', { avatar })).fields, ['avatar'], avatar);
  t.is((await own.put('/profile', { avatar: 'https://cdn.test/a.png' })).status, 200);
  t.is((await own.put('/profile', { nickname: '' })).status, 422);
  t.deepEqual(outcome(await own.put('/profile', { email: 'not an address' })), [
    422,
    30004,
    'format_invalid',
  ]);
});

test('the profile includes roles, permissions, menus and settings', async (t) => {
  const system = await selectRow<{ id: number }>("SELECT id FROM menus WHERE slug = 'admins'");
  const role = await makeRole(service.admin, ['admin.index', 'admin.show'], { menu_ids: [system.id] });
  const own = await signedIn(await makeAdmin(service.admin, [role.id]));
  const { data } = await own.get('/info', { 'Accept-Language': 'en-US' });
  t.deepEqual(data.permissions, ['admin.index', 'admin.show']);
  t.deepEqual(
    data.roles.map(({ id, slug }: { id: number; slug: string }) => [id, slug]),
    [[role.id, role.slug]],
  );
  t.deepEqual(
    data.menus.map(({ slug, children }: { slug: string; children: { slug: string }[] }) => [
      slug,
      children.map((child) => child.slug),
    ]),
    [['system', ['admins']]],
  );
  const { payment_gateways, payment_results, upload_extensions, ...settings } = data.config;
  t.true(payment_gateways.includes('mock'));
  t.deepEqual(payment_results, ['mock'], 'the results of companies are closed');
  t.true(upload_extensions.includes('pdf'));
  t.deepEqual(settings, {
    payments_enabled: true,
    orders_enabled: true,
    upload_max_bytes: 5 * 1024 ** 3,
    import_max_bytes: 200 * 1024 ** 2,
    refund_approval_above: null,
    locale: 'en-US',
    version: config.version,
  });
  const all = (await service.admin.get('/info')).data;
  t.true(all.is_super_admin);
  t.true(['admin.index', 'payment.store', 'menu.destroy'].every((slug) => all.permissions.includes(slug)));
});

test('a new password must be confirmed, long enough and not the username', async (t) => {
  const account = await makeAdmin(service.admin);
  const own = await signedIn(account);
  const change = (password: string, password_confirmation = password): Promise<Answer> =>
    own.put('/password', { old_password: account.password, password, password_confirmation });
  const fields = async (answer: Promise<Answer>) => [(await answer).status, (await answer).fields];
  t.deepEqual(await fields(change('secret-2', 'secret-3')), [422, ['password_confirmation']]);
  t.deepEqual(await fields(change('short')), [422, ['password']]);
  t.deepEqual(await fields(change('x'.repeat(65))), [422, ['password']]);
  t.deepEqual(await fields(change(account.username.toUpperCase())), [422, ['password']]);
  t.deepEqual(await fields(change(account.password)), [422, ['password']], 'the old one');
  t.deepEqual(await fields(own.put('/password', { password: 'secret-2' })), [
    400,
    ['old_password', 'password_confirmation'],
  ]);
  await t.notThrowsAsync(signedIn(account), 'nothing has changed');
});

test('a reset of a password wins over a change of it that is under way', async (t) => {
  const account = await makeAdmin(service.admin);
  const own = await signedIn(account);
  const [reset, wanted] = ['reset-secret-1', 'wanted-secret-1'];
  const letGo = await holding('SELECT id FROM admins WHERE id = ? FOR UPDATE', [account.id]);
  // A sign-in updates its account, too.
  const ofPasswords = 'UPDATE `admins` SET `password_hash`';
  const waiting = (count: number) => until(async () => (await lockWaits(ofPasswords)) === count);
  const resetting = service.admin.put(`/admins/${account.id}/password`, { password: reset });
  await waiting(1);
  const changing = own.put('/password', {
    old_password: account.password,
    password: wanted,
    password_confirmation: wanted,
  });
  await waiting(2);
  await letGo();
  t.is((await resetting).status, 200);
  const refused = await changing;
  t.deepEqual(outcome(refused), [422, 10001, 'old_password_wrong']);
  t.deepEqual(refused.fields, ['old_password']);
  await t.notThrowsAsync(signedIn({ ...account, password: reset }));
});

test('every character of a password counts, even beyond 72 bytes', async (t) => {
  const password = '密'.repeat(64);
  const account = await makeAdmin(service.admin, [], { password });
  t.is(
    (await service.anonymous.post('/login', { ...account, password: `${password.slice(0, 63)}碼` })).code,
    10001,
  );
  await t.notThrowsAsync(signedIn({ ...account, password }));
});

test('administrators list and end their own sessions only', async (t) => {
  const account = await makeAdmin(service.admin, []);
  const [own, other] = [await signedIn(account), await signedIn(account)];
  const stranger = await signedIn(await makeAdmin(service.admin, []));
  const listed = await own.get('/profile/sessions');
  t.is(listed.status, 200);
  const sessions = listed.data as { id: number; is_current: boolean; ip: string }[];
  t.deepEqual(sessions.map(({ is_current }) => is_current).sort(), [false, true]);
  const lost = sessions.find(({ is_current }) => !is_current);
  const missing = [404, 20002, 'online_admin_not_found'];
  t.deepEqual(outcome(await stranger.delete(`/profile/sessions/${lost?.id}`)), missing);
  t.is((await other.get('/info')).status, 200);
  t.is((await own.delete(`/profile/sessions/${lost?.id}`)).status, 200);
  t.is((await other.get('/info')).errorCode, 'token_revoked');
  const row = await selectRow<{ revoked_at: Date | null }>(
    'SELECT revoked_at FROM admin_sessions WHERE id = ?',
    [lost?.id ?? 0],
  );
  t.truthy(row.revoked_at);
  t.deepEqual(outcome(await own.delete(`/profile/sessions/${lost?.id}`)), missing);
  const left = (await own.get('/profile/sessions')).data as typeof sessions;
  t.deepEqual(
    left.map(({ is_current }) => is_current),
    [true],
  );
});

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
    t.deepEqual([refused.status, refused.fields], [422, ['password']], password);
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
  t.deepEqual([user.status, user.fields], [422, ['password']]);
  const own = await admin.put('/password', ownPassword(password, 'sunshine'));
  t.deepEqual([own.status, own.fields], [422, ['password']]);
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
    t.deepEqual((await made(weak)).fields, ['password'], weak);
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
