// Tokens and sessions: which are accepted, what ends a session everywhere, and that changes apply to the next request.
import '../support/settings/environment.js';
import test from 'ava';
import jwt from 'jsonwebtoken';
import { config } from '../../config/index.js';
import { select } from '../../src/lib/database/db.js';
import { setClock } from '../../src/lib/values/clock.js';
import { newUlid } from '../../src/lib/secrets/random-id.js';
import { makeAdmin, makeRole, permissionId, unique, type MadeAdmin } from '../support/factories.js';
import { png } from '../support/files.js';
import { startApi } from '../support/processes.js';
import { withoutRedis } from '../support/servers/redis.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';
import { ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
/** A second process, and one that cannot reach Redis; behind a trusted proxy requests to them may name their own address. */
let other: Client;
let alone: Client;

test.before(async () => {
  const proxy = { TRUSTED_PROXIES: '127.0.0.1' };
  const started = await Promise.all([startApi(proxy), startApi({ ...proxy, ...withoutRedis })]);
  [other, alone] = started.map(({ url }) => service.anonymous.at(url)) as [Client, Client];
});

const revoked = [401, 10004, 'token_revoked'];
const invalid = [401, 10007, 'token_invalid'];

const bearer = (token: string): Client => service.anonymous.with({ Authorization: `Bearer ${token}` });

const signedIn = (account: MadeAdmin, at: Client = service.anonymous): Promise<Client> => at.signIn(account);

const claims = { sub: '1', jti: newUlid(), iss: config.auth.jwtIssuer, aud: config.auth.jwtAudience };

function signed(
  changes: object,
  secret: jwt.Secret = config.auth.jwtSecret,
  options: jwt.SignOptions = {},
): string {
  const soon = Math.floor(Date.now() / 1000) + 600;
  const payload = Object.entries({ ...claims, exp: soon, ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  return jwt.sign(Object.fromEntries(payload), secret, { algorithm: 'HS256', ...options });
}

test('a missing or empty Authorization header means not signed in', async (t) => {
  for (const Authorization of ['', ' ', 'Bearer', 'Bearer ', 'bearer']) {
    const answer = await service.anonymous.get('/info', Authorization === '' ? undefined : { Authorization });
    t.deepEqual(outcome(answer), [401, 401, 'not_logged_in'], `"${Authorization}"`);
  }
});

test('an expired token is reported as expired', async (t) => {
  const past = Math.floor(Date.now() / 1000) - 1;
  t.deepEqual(outcome(await bearer(signed({ exp: past })).get('/info')), [401, 10003, 'token_expired']);
});

test('a valid token without a session is reported as revoked', async (t) => {
  t.deepEqual(outcome(await bearer(signed({})).get('/info')), revoked);
});

test('any other token is invalid', async (t) => {
  const { privateKey } = newRsaKeys();
  const good = signed({});
  const [head, body, signature] = good.split('.') as [string, string, string];
  const unsigned = jwt.sign({ ...claims, exp: 4_000_000_000 }, '', { algorithm: 'none' });
  const tokens: Record<string, string> = {
    garbage: 'garbage',
    'three parts': 'a.b.c',
    'another secret': signed({}, 'another-secret-that-is-also-long-enough'),
    'another algorithm': signed({}, config.auth.jwtSecret, { algorithm: 'HS512' }),
    'a public-key algorithm': signed({}, privateKey, { algorithm: 'RS256' }),
    'no algorithm': unsigned,
    'no algorithm, but a signature': `${unsigned}${signature}`,
    'another issuer': signed({ iss: 'elsewhere' }),
    'no issuer': signed({ iss: undefined }),
    'another audience': signed({ aud: 'elsewhere' }),
    'no audience': signed({ aud: undefined }),
    'no end': signed({ exp: undefined }),
    'no id': signed({ jti: undefined }),
    'a number as id': signed({ jti: 1 }),
    'an id of another form': signed({ jti: '01' }),
    'a critical extension': signed({}, config.auth.jwtSecret, {
      header: { alg: 'HS256', crit: ['b64'] },
    }),
    'no subject': signed({ sub: undefined }),
    'not valid yet': signed({ nbf: 4_000_000_000 }),
    'a changed body': [head, `${body}A`, signature].join('.'),
    'a cut signature': good.slice(0, -2),
    'two tokens': `${good} ${good}`,
  };
  for (const [name, token] of Object.entries(tokens)) {
    t.deepEqual(outcome(await bearer(token).get('/info')), invalid, name);
  }
  const basic = await service.anonymous.get('/info', {
    Authorization: `Basic ${Buffer.from('admin:admin123').toString('base64')}`,
  });
  t.deepEqual(outcome(basic), invalid, 'another scheme');
});

test('a token is valid only for the administrator it was issued to', async (t) => {
  const account = await makeAdmin(service.admin);
  await signedIn(account);
  const { jti } = await selectRow<{ jti: string }>('SELECT jti FROM admin_sessions WHERE admin_id = ?', [
    account.id,
  ]);
  t.is((await bearer(signed({ jti, sub: String(account.id) })).get('/info')).data.id, account.id);
  t.deepEqual(outcome(await bearer(signed({ jti, sub: '1' })).get('/info')), invalid);
});

const endings: Record<string, (account: MadeAdmin, own: Client, admin: Client) => Promise<Answer>> = {
  'signing out': (_, own) => own.post('/logout'),
  'disabling the administrator': ({ id }, _, admin) => admin.put(`/admins/${id}`, { status: 0 }),
  'deleting the administrator': ({ id }, _, admin) => admin.delete(`/admins/${id}`),
  'resetting the password': ({ id }, _, admin) =>
    admin.put(`/admins/${id}/password`, { password: 'secret-9' }),
  'ending all sessions': ({ id }, _, admin) => admin.delete(`/admins/${id}/tokens`),
};

for (const [name, end] of Object.entries(endings)) {
  test(`${name} ends the session on every process at once`, async (t) => {
    for (const at of [service.url, other.url]) {
      const account = await makeAdmin(service.admin);
      const own = await signedIn(account);
      const everywhere = [own, own.at(other.url), own.at(alone.url)];
      for (const client of everywhere) t.is((await client.get('/heartbeat')).status, 200);
      t.is((await end(account, own.at(at), service.admin.at(at))).status, 200);
      for (const client of everywhere) t.deepEqual(outcome(await client.get('/heartbeat')), revoked);
    }
  });
}

// Serial, and all are ended together: any other change would make the process look, too.
test.serial('what ends sessions on a process without Redis applies elsewhere within seconds', async (t) => {
  const open: [MadeAdmin, Client][] = [];
  for (const _ of Object.keys(endings)) {
    const account = await makeAdmin(service.admin);
    const own = await signedIn(account);
    for (const client of [own, own.at(alone.url)]) t.is((await client.get('/heartbeat')).status, 200);
    open.push([account, own]);
  }
  const ended = Object.entries(endings).map(async ([name, end], index) => {
    const [account, own] = open[index] as (typeof open)[number];
    t.is((await end(account, own.at(alone.url), service.admin.at(alone.url))).status, 200);
    t.deepEqual(outcome(await own.at(alone.url).get('/heartbeat')), revoked);
    t.truthy(await until(async () => (await own.get('/heartbeat')).code === 10004, 5000), name);
  });
  await Promise.all(ended);
});

test('signing out ends only that session', async (t) => {
  const account = await makeAdmin(service.admin);
  const [one, two] = [await signedIn(account), await signedIn(account)];
  t.is((await one.post('/logout')).data, null);
  t.is((await two.get('/heartbeat')).status, 200);
  const rows = await select<{ revoked_at: Date | null }>(
    'SELECT revoked_at FROM admin_sessions WHERE admin_id = ? ORDER BY id',
    [account.id],
  );
  t.deepEqual(
    rows.map(({ revoked_at }) => revoked_at === null),
    [false, true],
  );
});

test('enabling an administrator again does not restore old sessions', async (t) => {
  const account = await makeAdmin(service.admin);
  const own = await signedIn(account);
  await service.admin.put(`/admins/${account.id}`, { status: 0 });
  await service.admin.put(`/admins/${account.id}`, { status: 1 });
  t.deepEqual(outcome(await own.get('/heartbeat')), revoked);
  t.is((await (await signedIn(account)).get('/heartbeat')).status, 200);
});

test('a process without Redis serves sign-in, lists, changes and rights from the database', async (t) => {
  const admin = await alone.signIn();
  const role = await makeRole(admin, ['admin.index']);
  const own = await signedIn(await makeAdmin(admin, [role.id]), alone);
  t.is((await own.get('/admins')).status, 200);
  t.is((await admin.put(`/roles/${role.id}`, { permission_ids: [] })).status, 200);
  t.is((await own.get('/admins')).code, 20001);
  t.false((await alone.get('/login/captcha?check=1')).data.required);
  t.deepEqual(outcome(await alone.get('/login/captcha')), [503, 50003, 'cache_unavailable']);
});

test('the heartbeat returns the server time and the unread count', async (t) => {
  const { data } = await (await signedIn(await makeAdmin(service.admin))).get('/heartbeat');
  t.true(Math.abs(Date.parse(data.server_time) - Date.now()) < 5000);
  t.is(data.unread_count, 0);
});

test('the heartbeat keeps the session active with at most one write a minute', async (t) => {
  const account = await makeAdmin(service.admin);
  // Each process counts the minute by itself.
  const own = (await signedIn(account)).at(service.url);
  const lastUse = async (): Promise<number> =>
    (
      await selectRow<{ last_used_at: Date }>('SELECT last_used_at FROM admin_sessions WHERE admin_id = ?', [
        account.id,
      ])
    ).last_used_at.getTime();
  const opened = await lastUse();
  await own.get('/heartbeat');
  await until(async () => (await lastUse()) > opened);
  const used = await lastUse();
  t.true(Math.abs(used - Date.now()) < 5000);
  await own.get('/heartbeat');
  t.is(await lastUse(), used);
});

test('a new password ends the other sessions only', async (t) => {
  const account = await makeAdmin(service.admin);
  const [own, second] = [await signedIn(account), await signedIn(account)];
  const password = `${unique('p')}-é-${'x'.repeat(40)}`;
  const body = { old_password: account.password, new_password: password, confirm_password: password };
  t.is((await own.put('/password', body)).status, 200);
  t.is((await own.get('/heartbeat')).status, 200);
  t.deepEqual(outcome(await second.at(other.url).get('/heartbeat')), revoked);
  t.is((await service.anonymous.post('/login', account)).code, 10001);
  await t.notThrowsAsync(signedIn({ ...account, password }));
});

test.serial('links and tickets end when their session expires', async (t) => {
  t.teardown(() => setClock());
  const role = await makeRole(service.admin, ['attachment.show', 'dashboard.show']);
  const { id } = (await service.admin.upload('/attachments/upload', png, { filename: 'a.png' })).data;
  const own = await signedIn(await makeAdmin(service.admin, [role.id]));
  const link = async () =>
    (await own.get(`/attachments/${id}/link`)).data as { url: string; expires_at: string };
  const early = await link();
  const ends = Date.now() + config.auth.jwtTtlMinutes * 60_000;
  setClock(new Date(ends - 60_000));
  const { pathname, search } = new URL((await link()).url);
  const stream = `/api/admin/dashboard/stream?ticket=${await ticketOf(own)}`;
  const opened = async (path: string): Promise<unknown[]> => {
    const response = await fetch(service.url + path);
    if (response.status !== 200) return [response.status, await response.json()];
    await response.body?.cancel();
    return [200];
  };
  setClock(new Date(Date.parse(early.expires_at) - 1000));
  const first = early.url.slice(new URL(early.url).origin.length);
  t.deepEqual(await opened(first), [200]);
  setClock(new Date(early.expires_at));
  t.like(await opened(first), [401, { error_code: 'link_invalid' }], 'a link ends after an hour');
  setClock(new Date(ends - 60_000));
  for (const path of [pathname + search, stream]) t.deepEqual(await opened(path), [200], path);
  setClock(new Date(ends + 1000));
  for (const path of [pathname + search, stream])
    t.like(await opened(path), [401, { error_code: 'token_expired' }], path);
});

test.serial('a change of the profile shows on the next request of every process', async (t) => {
  const { admin } = service;
  const department = (await admin.post('/departments', { name: unique('d') })).data;
  const menu = (await admin.post('/menus', { title: 'x', slug: unique('menu-'), type: 2 })).data;
  const role = await makeRole(admin, [], { menu_ids: [menu.id] });
  const account = await makeAdmin(admin, [role.id], { department_id: department.id });
  const [here, there] = [await signedIn(account), await signedIn(account, other)];
  const seen = async (pick: (info: Record<string, any>) => unknown): Promise<unknown[]> =>
    Promise.all([here, there].map(async (client) => pick((await client.get('/info')).data)));
  const both = (value: unknown): unknown[] => [value, value];
  await admin.put(`/admins/${account.id}`, { nickname: 'Another' });
  t.deepEqual(await seen(({ nickname }) => nickname), both('Another'));
  await admin.put(`/departments/${department.id}`, { name: `${department.name}2` });
  t.deepEqual(await seen((info) => info.department.name), both(`${department.name}2`));
  const roleName = unique('role ');
  await admin.put(`/roles/${role.id}`, { name: roleName });
  t.deepEqual(await seen((info) => info.roles[0].name), both(roleName));
  await admin.put(`/menus/${menu.id}`, { title: 'Another' });
  t.deepEqual(await seen((info) => info.menus[0].title), both('Another'));
  const { list } = (await admin.get('/permissions?slug=order')).data;
  const [permission] = list as { id: number; slug: string }[];
  await admin.put(`/roles/${role.id}`, { permission_ids: [permission?.id] });
  t.deepEqual(await seen(({ permissions }) => permissions), both([permission?.slug]));
  await here.put('/profile', { nickname: 'Own' });
  t.deepEqual(await seen(({ nickname }) => nickname), both('Own'));
  await admin.delete(`/menus/${menu.id}`);
  t.deepEqual(await seen(({ menus }) => menus), both([]));
});

test.serial('changed rights apply on the next request to every process', async (t) => {
  const { admin } = service;
  const there = admin.at(other.url);
  const rowOf = (table: string, slug: string) =>
    selectRow<{ id: number }>(`SELECT id FROM ${table} WHERE slug = ?`, [slug]);
  const [superRole, menu] = [await rowOf('roles', 'super-admin'), await rowOf('menus', 'orders')];
  const role = await makeRole(admin);
  const account = await makeAdmin(admin, [role.id]);
  const own = await signedIn(account);
  const clients = [own, own.at(other.url)];
  const orders = await permissionId(admin, 'order.index');
  const mayList = async (expected: boolean, reason: string): Promise<void> => {
    for (const client of clients) {
      const answer = await client.get('/orders');
      t.deepEqual([answer.status, answer.code], expected ? [200, 200] : [403, 20001], reason);
    }
  };
  const change = async (answer: Promise<Answer>): Promise<void> => void t.is((await answer).status, 200);

  await mayList(false, 'no permission yet');
  await change(there.put(`/roles/${role.id}`, { permission_ids: [orders] }));
  await mayList(true, 'granted');
  await change(admin.put(`/roles/${role.id}`, { status: 0 }));
  await mayList(false, 'the role is disabled');
  await change(there.put(`/roles/${role.id}`, { status: 1 }));
  await mayList(true, 'the role is enabled');
  await change(admin.put(`/admins/${account.id}`, { role_ids: [] }));
  await mayList(false, 'the role is taken away');
  await change(there.put(`/admins/${account.id}`, { role_ids: [role.id] }));
  await mayList(true, 'the role is given back');
  await change(there.put(`/permissions/${orders}`, { status: 0 }));
  await mayList(false, 'the permission is disabled');
  await change(admin.put(`/permissions/${orders}`, { status: 1 }));
  await mayList(true, 'the permission is enabled');
  await change(there.put(`/menus/${menu.id}`, { status: 0 }));
  await mayList(false, 'the menu of the permission is disabled');
  await change(admin.put(`/menus/${menu.id}`, { status: 1 }));
  await mayList(true, 'the menu is enabled');
  await change(there.put(`/admins/${account.id}`, { role_ids: [superRole.id] }));
  await change(admin.put(`/permissions/${orders}`, { status: 0 }));
  await mayList(true, 'a super administrator needs no permission');
  await change(admin.put(`/admins/${account.id}`, { role_ids: [role.id] }));
  await mayList(false, 'no longer a super administrator');
  await change(admin.put(`/permissions/${orders}`, { status: 1 }));
});

for (const [process, at, address] of [
  ['every process', () => other, '198.51.100.20'],
  ['a process without Redis', () => alone, '198.51.103.20'],
] as const)
  test(`a new, changed or deleted entry of the blacklist applies on the next request to ${process}`, async (t) => {
    const { admin } = service;
    const from = (own: string) => admin.at(at().url).with({ 'X-Forwarded-For': own }).get('/info');
    t.is((await from(address)).status, 200);
    const { id } = (await admin.post('/blacklists', { ip: `${address}/31` })).data;
    t.deepEqual(outcome(await from(address)), [403, 20003, 'ip_blocked']);
    t.is((await from(address.replace(/20$/, '22'))).status, 200);
    await admin.put(`/blacklists/${id}`, { status: 0 });
    t.is((await from(address)).status, 200);
    await admin.put(`/blacklists/${id}`, { status: 1 });
    t.is((await from(address)).status, 403);
    t.deepEqual((await admin.delete('/blacklists/batch', { ids: [id] })).data, { count: 1 });
    t.is((await from(address)).status, 200);
  });
