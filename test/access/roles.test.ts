// Roles: records, lists, what they carry, and who may change them.
import '../support/shared-environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import {
  makeAdmin,
  makeRole,
  permissionId,
  signedInWith,
  unique,
  type MadeAdmin,
} from '../support/factories.js';
import { service } from '../support/shared-service.js';
import { outcome, type Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';

const { admin } = service;
const { id: superRole } = await selectRow<{ id: number }>("SELECT id FROM roles WHERE slug = 'super-admin'");
const rows = await select<{ slug: string; id: number }>('SELECT slug, id FROM menus');
/** Menu ids by slug. */
const menus = new Map(rows.map(({ slug, id }) => [slug, id]));

const beyondOwn = [403, 20003, 'grant_beyond_own'];
const everyRight = ['index', 'show', 'store', 'update', 'destroy'].map((verb) => `role.${verb}`);

const signedIn = (account: MadeAdmin): Promise<Client> => service.anonymous.signIn(account);

test('a role has ids in lists and objects when shown', async (t) => {
  const permission = await permissionId(admin, 'order.index');
  const menu = menus.get('orders') as number;
  const [name, slug] = [unique('role '), unique('role.')];
  const created = await admin.post('/roles', { name, slug, permission_ids: [permission], menu_ids: [menu] });
  t.is(created.status, 200);
  const { id, created_at, updated_at, permissions, menus: carried, ...rest } = created.data;
  t.is(created_at, updated_at);
  t.deepEqual(rest, {
    name,
    slug,
    description: null,
    status: 1,
    sort: 0,
    in_use: false,
    permission_ids: [permission],
    menu_ids: [menu],
  });
  t.deepEqual(permissions, [{ id: permission, name: '查看订单列表', slug: 'order.index' }]);
  t.deepEqual(
    carried.map(({ id, slug }: { id: number; slug: string }) => [id, slug]),
    [[menu, 'orders']],
  );
  t.deepEqual((await admin.get(`/roles/${id}`)).data, created.data);
  const [listed] = (await admin.get(`/roles?slug=${slug}`)).data.list;
  t.deepEqual(listed, { id, created_at, updated_at, ...rest });
});

test('invalid values are refused', async (t) => {
  const taken = await makeRole(admin);
  const good = { name: 'x', slug: unique('role-') };
  const refused: [object, unknown[]][] = [
    [{ slug: undefined }, [400, 30001, 'validation_failed']],
    [{ permission_ids: 1 }, [400, 30001, 'validation_failed']],
    [{ menu_ids: [null] }, [400, 30001, 'validation_failed']],
    [{ name: '' }, [422, 30001, 'value_not_acceptable']],
    [{ slug: 'with space' }, [422, 30001, 'value_not_acceptable']],
    [
      { permission_ids: Array.from({ length: 2001 }, (_, index) => index + 1) },
      [422, 30001, 'value_not_acceptable'],
    ],
    [{ slug: taken.slug.toUpperCase() }, [422, 30002, 'role_slug_exists']],
    [{ slug: 'super-admin' }, [422, 30002, 'role_slug_exists']],
    [{ permission_ids: [999_999] }, [422, 30003, 'permission_unknown']],
    [{ menu_ids: [999_999] }, [422, 30003, 'menu_unknown']],
  ];
  for (const [change, expected] of refused) {
    const answer = await admin.post('/roles', { ...good, ...change });
    t.deepEqual(outcome(answer), expected, JSON.stringify(change).slice(0, 80));
  }
  t.is((await select('SELECT id FROM roles WHERE slug = ?', [good.slug])).length, 0);
});

test('an update changes only the fields sent', async (t) => {
  const role = await makeRole(admin, ['order.index', 'order.show'], {
    description: 'd',
    menu_ids: [menus.get('orders')],
  });
  const before = (await admin.get(`/roles/${role.id}`)).data;
  const changed = (await admin.put(`/roles/${role.id}`, { sort: 5 })).data;
  t.deepEqual({ ...changed, sort: 0, updated_at: 0 }, { ...before, updated_at: 0 });
  t.deepEqual(outcome(await admin.put('/roles/999999', {})), [404, 20002, 'role_not_found']);
});

test('a refused update changes nothing', async (t) => {
  const role = await makeRole(admin, ['order.index']);
  const before = (await admin.get(`/roles/${role.id}`)).data;
  const refused = await admin.put(`/roles/${role.id}`, {
    name: 'half',
    permission_ids: [],
    menu_ids: [999_999],
  });
  t.is(refused.errorCode, 'menu_unknown');
  t.deepEqual((await admin.get(`/roles/${role.id}`)).data, before);
});

test('an update replaces permissions and menus', async (t) => {
  const role = await makeRole(admin, ['order.index', 'order.show'], {
    description: 'd',
    menu_ids: [menus.get('orders')],
  });
  const before = (await admin.get(`/roles/${role.id}`)).data;
  const permission_ids = [await permissionId(admin, 'order.store')];
  const replaced = (await admin.put(`/roles/${role.id}`, { permission_ids })).data;
  t.deepEqual(replaced.permission_ids, permission_ids);
  t.true(replaced.updated_at > before.updated_at);
  const { menu_ids } = replaced;
  t.deepEqual((await admin.put(`/roles/${role.id}`, { permission_ids, menu_ids })).data, replaced);
  const closed = (await admin.put(`/roles/${role.id}`, { menu_ids: [] })).data;
  t.true(closed.updated_at > replaced.updated_at);
  const emptied = (await admin.put(`/roles/${role.id}`, { permission_ids: [], menu_ids: [] })).data;
  t.deepEqual([emptied.permission_ids, emptied.menu_ids, emptied.description], [[], [], 'd']);
});

test('the list filters by name, slug and status', async (t) => {
  const prefix = unique('R');
  const make = (suffix: string, more: object = {}) =>
    admin.post('/roles', {
      name: `${prefix}${suffix}`,
      slug: `${prefix}${suffix.replace('%', '')}`,
      ...more,
    });
  await Promise.all([make('%1'), make('_2', { status: 0 }), make('-3')]);
  const found = async (query: string) =>
    (await admin.get(`/roles?${query}`)).data.list
      .map(({ name }: { name: string }) => name.slice(prefix.length))
      .sort();
  t.deepEqual(await found(`name=${prefix}`), ['%1', '-3', '_2']);
  t.deepEqual(await found(`name=${encodeURIComponent(`${prefix}%`)}`), ['%1']);
  t.deepEqual(await found(`slug=${prefix}_`), ['_2']);
  t.deepEqual(await found(`name=${prefix}&status=0`), ['_2']);
});

test('only a role that nobody has can be deleted', async (t) => {
  const role = await makeRole(admin, ['order.index']);
  const holder = await makeAdmin(admin, [role.id]);
  t.deepEqual(outcome(await admin.delete(`/roles/${role.id}`)), [400, 40002, 'role_in_use']);
  await admin.delete(`/admins/${holder.id}`);
  t.is((await admin.delete(`/roles/${role.id}`)).data, null);
  t.is((await admin.get(`/roles/${role.id}`)).code, 20002);
});

test('the super administrator role is protected', async (t) => {
  const fixed = [403, 20003, 'super_admin_role_protected'];
  t.deepEqual(outcome(await admin.put(`/roles/${superRole}`, { slug: 'other' })), fixed);
  t.deepEqual(outcome(await admin.put(`/roles/${superRole}`, { status: 0 })), fixed);
  t.deepEqual(outcome(await admin.delete(`/roles/${superRole}`)), fixed);
  t.is(
    (await admin.put(`/roles/${superRole}`, { description: 'everything' })).data.description,
    'everything',
  );
  const manager = await signedInWith(admin, everyRight);
  const attempts = [
    manager.put(`/roles/${superRole}`, { description: 'x' }),
    manager.delete(`/roles/${superRole}`),
  ];
  for (const answer of await Promise.all(attempts)) {
    t.deepEqual(outcome(answer), [403, 20003, 'super_admin_protected']);
  }
});

test('an administrator creates and changes only roles within their own rights', async (t) => {
  const own = await makeRole(admin, [...everyRight, 'order.index'], { menu_ids: [menus.get('orders')] });
  const manager = await signedIn(await makeAdmin(admin, [own.id]));
  const [held, missing] = await Promise.all([
    permissionId(admin, 'order.index'),
    permissionId(admin, 'order.store'),
  ]);
  const body = (more: object) => ({ name: 'x', slug: unique('role-'), ...more });
  const within = await manager.post(
    '/roles',
    body({ permission_ids: [held], menu_ids: [menus.get('orders'), menus.get('trade')] }),
  );
  t.is(within.status, 200, 'the menus above a held one are held too');
  const beyond = [
    { permission_ids: [missing] },
    { permission_ids: [held, missing] },
    { menu_ids: [menus.get('payments')] },
  ];
  for (const rights of beyond) {
    t.deepEqual(outcome(await manager.post('/roles', body(rights))), beyondOwn);
    t.deepEqual(outcome(await manager.put(`/roles/${within.data.id}`, rights)), beyondOwn);
    t.deepEqual(outcome(await manager.put(`/roles/${own.id}`, rights)), beyondOwn);
  }
  const stronger = await makeRole(admin, ['order.index', 'order.store']);
  for (const change of [{ name: 'x' }, { permission_ids: [] }, { status: 0 }]) {
    t.deepEqual(outcome(await manager.put(`/roles/${stronger.id}`, change)), beyondOwn);
  }
  t.deepEqual(outcome(await manager.delete(`/roles/${stronger.id}`)), beyondOwn);
  t.is((await admin.get(`/roles/${stronger.id}`)).data.permission_ids.length, 2);
  t.is((await manager.delete(`/roles/${within.data.id}`)).status, 200);
});
