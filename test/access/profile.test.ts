// One's own profile and password.
import '../support/shared-environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { makeAdmin, makeRole, type MadeAdmin } from '../support/factories.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { service } from '../support/shared-service.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

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
    t.deepEqual(Object.keys((await own.put('/profile', { avatar })).errors ?? {}), ['avatar'], avatar);
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
  const { payment_gateways, upload_extensions, ...settings } = data.config;
  t.true(payment_gateways.includes('mock'));
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
  const fields = async (answer: Promise<Answer>) => [
    (await answer).status,
    Object.keys((await answer).errors ?? {}),
  ];
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
  t.deepEqual(Object.keys(refused.errors ?? {}), ['old_password']);
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
