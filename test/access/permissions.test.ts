// Permissions: records, lists, which routes they open, who may change them, and what a start adds to them; and the last super
// administrator, whom nobody can remove.
import '../support/settings/environment.js';
import test from 'ava';
import { syncPermissions } from '../../src/api/declare/permission.js';
import { routes } from '../../src/api/routes.js';
import { change, select, transact } from '../../src/lib/database/db.js';
import { seed } from '../../src/models/access/seed.js';
import { makeAdmin, makeRole, permissionId, unique, type MadeAdmin } from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { connectionsAt } from '../support/other-connection.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
let admin: Client;

test.before(() => {
  admin = service.admin;
});

const noPermission = [403, 20001, 'no_permission'];
const beyondOwn = [403, 20003, 'grant_beyond_own'];
const protectedRow = [403, 20003, 'builtin_permission_protected'];

const custom = (more: object = {}) => ({
  name: 'x',
  slug: unique('perm.'),
  method: 'GET',
  path: '/nowhere',
  ...more,
});

async function makePermission(more: object = {}): Promise<{ id: number; slug: string }> {
  const answer = await admin.post('/permissions', custom(more));
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.data;
}

const signedIn = (account: MadeAdmin): Promise<Client> => service.anonymous.signIn(account);

/** An administrator whose only role carries these permissions. */
async function holderOf(...permission_ids: number[]): Promise<Client & { roleId: number }> {
  const role = await makeRole(admin, [], { permission_ids });
  return Object.assign(await signedIn(await makeAdmin(admin, [role.id])), { roleId: role.id });
}

test('a new permission has the given fields and defaults for the others', async (t) => {
  const menu = await selectRow<{ id: number; title: string }>(
    "SELECT id, title FROM menus WHERE slug = 'orders'",
  );
  const given = custom({ description: 'd', sort: 3, menu_id: menu.id, is_builtin: true });
  const created = await admin.post('/permissions', given);
  t.is(created.status, 200);
  const { id, created_at, updated_at, ...rest } = created.data;
  t.is(created_at, updated_at);
  t.deepEqual(rest, { ...given, is_builtin: false, status: 1, menu: { id: menu.id, title: menu.title } });
  t.deepEqual((await admin.get(`/permissions/${id}`)).data, created.data);
  const changed = (await admin.put(`/permissions/${id}`, { menu_id: null })).data;
  t.deepEqual({ ...changed, updated_at: 0 }, { ...created.data, menu_id: null, menu: null, updated_at: 0 });
  t.is((await admin.delete(`/permissions/${id}`)).data, null);
  t.deepEqual(outcome(await admin.get(`/permissions/${id}`)), [404, 20002, 'permission_not_found']);
});

test('invalid values are refused', async (t) => {
  const refused: [object, unknown[]][] = [
    [{ path: undefined }, [400, 30001, 'validation_failed']],
    [{ menu_id: '1' }, [400, 30001, 'validation_failed']],
    [{ method: 'PATCH' }, [422, 30001, 'value_not_acceptable']],
    [{ method: 'get' }, [422, 30001, 'value_not_acceptable']],
    [{ path: 'no-slash' }, [422, 30001, 'value_not_acceptable']],
    [{ slug: 'admin.index' }, [422, 30002, 'permission_slug_exists']],
    [{ menu_id: 999_999 }, [422, 30003, 'menu_unknown']],
  ];
  for (const [change, expected] of refused) {
    t.deepEqual(outcome(await admin.post('/permissions', custom(change))), expected, JSON.stringify(change));
  }
});

test('a menu that is deleted concurrently is reported as unknown', async (t) => {
  const menu = (await admin.post('/menus', { title: 'soon gone', slug: unique('menu-'), type: 2 })).data;
  const body = custom({ menu_id: menu.id });
  let answer: Promise<Answer> | undefined;
  await transact(async (own) => {
    await change('DELETE FROM menus WHERE id = ?', [menu.id], own);
    answer = admin.post('/permissions', body);
    // Either for the row of the menu or, having found it, for leave to refer to it.
    const waiting = ['%INTO `permissions`%', `%\`menus\`%= ${menu.id} LOCK%`];
    await until(async () => (await Promise.all(waiting.map(connectionsAt))).flat().length > 0);
  });
  const { status, errorCode } = (await answer) as Answer;
  t.deepEqual([status, errorCode], [422, 'menu_unknown']);
});

test('built-in names are in the language of the request', async (t) => {
  const shown = async (language: string) => {
    const asking = admin.with({ 'Accept-Language': language });
    const permissions = (await asking.get('/permissions?slug=admin.reset_password')).data.list;
    const roles = (await asking.get('/roles?slug=super-admin')).data.list;
    const { menus } = (await asking.get('/info')).data;
    const labels = (await asking.get('/options?type=role')).data.map(({ label }: { label: string }) => label);
    const dashboard = menus.find(({ slug }: { slug: string }) => slug === 'dashboard');
    return [permissions[0].name, permissions[0].menu.title, roles[0].name, dashboard.title, labels[0]];
  };
  t.deepEqual(await shown('zh-CN'), ['重置密码', '管理员', '超级管理员', '仪表盘', '超级管理员']);
  const english = [
    'Reset passwords',
    'Administrators',
    'Super administrator',
    'Dashboard',
    'Super administrator',
  ];
  t.deepEqual(await shown('en-US'), english);
});

test('a permission is found by its name in the language of the request', async (t) => {
  const found = async (language: string, name: string) => {
    const asking = admin.with({ 'Accept-Language': language });
    const { list } = (await asking.get(`/permissions?name=${encodeURIComponent(name)}`)).data;
    return list.map(({ slug }: { slug: string }) => slug);
  };
  t.deepEqual(await found('zh-CN', '重置密'), ['admin.reset_password']);
  t.deepEqual(await found('en-US', 'reset pass'), ['admin.reset_password']);
});

test('built-in names are sorted as they are shown', async (t) => {
  const own = unique('own');
  const permission = { name: '审批退', slug: own, method: 'GET', path: '/api/admin/own' };
  await admin.post('/permissions', permission);
  await admin.post('/roles', { name: '超级', slug: own });
  const named = async (list: string, name: string) => {
    const { data } = await admin.get(`/${list}?order_by=name:asc&name=${encodeURIComponent(name)}`);
    return data.list.map((row: { name: string }) => row.name);
  };
  t.deepEqual(await named('permissions', '审批退'), ['审批退', '审批退款']);
  t.deepEqual(await named('roles', '超级'), ['超级', '超级管理员']);
});

test('the built-in role is found and described in the language of the request', async (t) => {
  const seen = async (language: string, name: string) => {
    const asking = admin.with({ 'Accept-Language': language });
    const [role] = (await asking.get(`/roles?name=${encodeURIComponent(name)}`)).data.list;
    return [role?.slug, (await asking.get(`/roles/${role?.id}`)).data?.description];
  };
  t.deepEqual(await seen('en-US', 'super adm'), ['super-admin', 'Super administrator']);
  t.deepEqual(await seen('zh-CN', '超级管'), ['super-admin', '超级管理员']);
});

test('a renamed menu keeps its title in every language', async (t) => {
  const menu = await selectRow<{ id: number }>("SELECT id FROM menus WHERE slug = 'monitor'");
  await admin.put(`/menus/${menu.id}`, { title: '我们的监控' });
  const { data } = await admin.with({ 'Accept-Language': 'en-US' }).get(`/menus/${menu.id}`);
  t.is(data.title, '我们的监控');
  await admin.put(`/menus/${menu.id}`, { title: 'System monitor' });
  t.is((await admin.get(`/menus/${menu.id}`)).data.title, '系统监控');
});

test('a built-in record that is sent back in another language stays as it is', async (t) => {
  const english = admin.with({ 'Accept-Language': 'en-US' });
  const { id: menu } = await selectRow<{ id: number }>("SELECT id FROM menus WHERE slug = 'dashboard'");
  const { id: role } = await selectRow<{ id: number }>("SELECT id FROM roles WHERE slug = 'super-admin'");
  const permission = await permissionId(admin, 'role.show');
  const rows = () =>
    Promise.all([
      selectRow('SELECT title, updated_at FROM menus WHERE id = ?', [menu]),
      selectRow('SELECT name, description, updated_at FROM roles WHERE id = ?', [role]),
      selectRow('SELECT name, updated_at FROM permissions WHERE id = ?', [permission]),
    ]);
  const stored = await rows();
  for (const path of [`/menus/${menu}`, `/roles/${role}`, `/permissions/${permission}`]) {
    const { data } = await english.get(path);
    t.deepEqual((await english.put(path, data)).data, data, path);
  }
  t.deepEqual(await rows(), stored);
});

test('every protected route has a row in the list', async (t) => {
  const list = async (query: string) => (await admin.get(`/permissions?page_size=100&${query}`)).data.list;
  const [row] = await list('slug=admin.reset_password');
  t.deepEqual(
    [row.method, row.path, row.name, row.is_builtin, row.menu.title],
    ['PUT', '/api/admin/admins/*/password', '重置密码', true, '管理员'],
  );
  const slugs = async (query: string) => (await list(query)).map(({ slug }: { slug: string }) => slug);
  const builtIn = async (query: string) =>
    (await list(query)).flatMap((row: { is_builtin: boolean; slug: string }) =>
      row.is_builtin ? row.slug : [],
    );
  const ofRoles = ['role.destroy', 'role.index', 'role.show', 'role.store', 'role.update'];
  t.deepEqual((await builtIn('path=/admin/roles')).sort(), ofRoles);
  t.deepEqual(await builtIn('path=/roles&method=POST'), ['role.store']);
  t.deepEqual(await slugs(`menu_id=${row.menu_id}&name=Reset`), ['admin.reset_password']);
  const off = await makePermission({ status: 0 });
  t.true((await slugs('status=0')).includes(off.slug));
  t.deepEqual(await slugs('slug=%25'), []);
});

test('a permission opens the route of its method and path in any notation', async (t) => {
  const forms = [
    '/api/admin/roles/*',
    '/api/admin/roles/{id}',
    '/roles/:id',
    '/roles/*',
    '/roles/{anything}',
  ];
  for (const path of forms) {
    const own = await holderOf((await makePermission({ path })).id);
    t.is((await own.get('/roles/1')).status, 200, path);
    t.deepEqual(outcome(await own.delete('/roles/999999')), noPermission, path);
    t.deepEqual(outcome(await own.get('/roles')), noPermission, path);
  }
});

test('a permission with another method, length or fixed segment opens nothing', async (t) => {
  const forms = [
    { method: 'POST', path: '/roles/*' },
    { path: '/roles' },
    { path: '/roles/*/*' },
    { path: '/*' },
    { path: '/*/*' },
    { path: '/roles/1' },
    { path: '/api/roles/*' },
    { path: '/ROLES/*' },
  ];
  for (const form of forms) {
    const own = await holderOf((await makePermission(form)).id);
    t.deepEqual(outcome(await own.get('/roles/1')), noPermission, JSON.stringify(form));
  }
});

test('a path with ** is refused: * stands for one segment', async (t) => {
  const body = { name: 'x', slug: unique('p.'), method: 'GET', path: '/roles/**' };
  const refused = await admin.post('/permissions', body);
  t.deepEqual([refused.status, refused.errors], [422, { path: ['格式不正确'] }]);
});

test('deleting a permission never opens a route', async (t) => {
  const permission = await makePermission({ path: '/roles' });
  const [own, stranger] = [await holderOf(permission.id), await holderOf()];
  t.is((await own.get('/roles')).status, 200);
  t.is((await admin.delete(`/permissions/${permission.id}`)).status, 200);
  t.deepEqual(outcome(await own.get('/roles')), noPermission);
  const row = await permissionId(admin, 'user.show');
  t.is((await admin.delete(`/permissions/${row}`)).status, 200);
  for (const client of [own, stranger]) t.deepEqual(outcome(await client.get('/users/1')), noPermission);
  t.is((await admin.get('/users/999999')).status, 404, 'a super administrator needs no row');
  const again = await makePermission({ slug: 'user.show', path: '/anything' });
  t.is((await (await holderOf(again.id)).get('/users/999999')).status, 404, 'the slug opens it again');
});

test('only a super administrator may change built-in rows', async (t) => {
  const verbs = await Promise.all(
    ['permission.update', 'permission.destroy', 'user.index'].map((slug) => permissionId(admin, slug)),
  );
  const manager = await holderOf(...verbs);
  const [row] = verbs.slice(-1) as [number];
  t.deepEqual(outcome(await manager.put(`/permissions/${row}`, { name: 'x' })), protectedRow);
  t.deepEqual(outcome(await manager.delete(`/permissions/${row}`)), protectedRow);
  t.is((await admin.put(`/permissions/${row}`, { description: 'noted' })).data.description, 'noted');
});

test('an administrator creates permissions only for routes they may call', async (t) => {
  const manager = await holderOf(
    ...(await Promise.all(
      ['permission.store', 'permission.update', 'order.index'].map((slug) => permissionId(admin, slug)),
    )),
  );
  const make = (more: object) => manager.post('/permissions', custom(more));
  t.is((await make({ path: '/orders' })).status, 200);
  t.is((await make({ slug: unique('front.') })).status, 200, 'one that opens nothing');
  for (const path of ['/orders/*', '/admins', '/roles/{id}'])
    t.deepEqual(outcome(await make({ path })), beyondOwn, path);
  for (const path of ['/*', '/*/{id}']) t.is((await make({ path })).status, 200, `${path} opens nothing`);
  const own = (await make({ path: '/orders' })).data;
  t.deepEqual(outcome(await manager.put(`/permissions/${own.id}`, { path: '/admins' })), beyondOwn);
  t.deepEqual(outcome(await manager.put(`/permissions/${own.id}`, { method: 'POST' })), beyondOwn);
  t.is((await manager.put(`/permissions/${own.id}`, { name: 'new' })).data.name, 'new');
});

test('an administrator cannot change a permission beyond their own rights', async (t) => {
  const verbs = ['permission.store', 'permission.update', 'permission.destroy'];
  const manager = await holderOf(...(await Promise.all(verbs.map((slug) => permissionId(admin, slug)))));
  const wide = await makePermission({ path: '/admins' });
  const given = await makePermission();
  await makeRole(admin, [], { permission_ids: [given.id] });
  for (const { id } of [wide, given]) {
    for (const change of [{ name: 'x' }, { path: '/other' }, { status: 0 }]) {
      t.deepEqual(outcome(await manager.put(`/permissions/${id}`, change)), beyondOwn);
    }
    t.deepEqual(outcome(await manager.delete(`/permissions/${id}`)), beyondOwn);
  }
  const free = await makePermission();
  t.is((await manager.delete(`/permissions/${free.id}`)).status, 200);
});

const menuOf = async (slug: string): Promise<{ id: number; parent_id: number; title: string } | undefined> =>
  (
    await select<{ id: number; parent_id: number; title: string }>(
      'SELECT id, parent_id, title FROM menus WHERE slug = ?',
      [slug],
    )
  )[0];

test.serial('a new release adds its menus without restoring deleted ones', async (t) => {
  // As the release before the import centre left it, with another menu renamed and one deleted.
  await change("DELETE FROM permissions WHERE slug LIKE 'import.%'");
  await change("DELETE FROM menus WHERE slug = 'imports'");
  await change("DELETE FROM seeded_menus WHERE slug = 'imports'");
  const [exports, roles] = [await menuOf('exports'), await menuOf('roles')];
  t.is((await admin.delete(`/menus/${exports?.id}`)).status, 200);
  t.is((await admin.put(`/menus/${roles?.id}`, { title: 'Our roles' })).status, 200);

  // As each start does.
  await seed();
  await syncPermissions(routes);
  const files = await menuOf('files');
  const imports = await menuOf('imports');
  t.is(imports?.parent_id, files?.id);
  const permission = await selectRow<{ menu_id: number }>(
    "SELECT menu_id FROM permissions WHERE slug = 'import.show'",
  );
  t.is(permission.menu_id, imports?.id as number);
  t.is(await menuOf('exports'), undefined);
  t.is((await menuOf('roles'))?.title, 'Our roles');
});

test.serial('the last enabled super administrator cannot be removed', async (t) => {
  const { id: superRole } = await selectRow<{ id: number }>(
    "SELECT id FROM roles WHERE slug = 'super-admin'",
  );
  t.deepEqual(outcome(await admin.put('/admins/1', { role_ids: [] })), [400, 40001, 'last_super_admin']);
  const strip = (client: Client, id: number) => client.put(`/admins/${id}`, { role_ids: [] });
  const disable = (client: Client, id: number) => client.put(`/admins/${id}`, { status: 0 });
  const remove = (client: Client, id: number) => client.delete(`/admins/${id}`);
  for (const end of [strip, disable, remove, strip, disable, remove]) {
    const accounts = [await makeAdmin(admin, [superRole]), await makeAdmin(admin, [superRole])] as const;
    const clients = [await signedIn(accounts[0]), await signedIn(accounts[1])] as const;
    t.is((await clients[0].put('/admins/1', { role_ids: [] })).status, 200);
    const answers = await Promise.all([end(clients[0], accounts[1].id), end(clients[1], accounts[0].id)]);
    t.deepEqual(answers.map(({ status }) => status === 200).sort(), [false, true]);
    t.true(answers.every(({ status }) => status < 500));
    const survivor = answers[0]?.status === 200 ? 0 : 1;
    t.is((await clients[survivor].put('/admins/1', { role_ids: [superRole] })).status, 200);
    t.is((await admin.delete(`/admins/${accounts[survivor].id}`)).status, 200);
    await strip(admin, accounts[(1 - survivor) as 0 | 1].id);
  }
});
