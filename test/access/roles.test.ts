// Roles and menus: records, lists, the tree, what they carry, and who may change them.
import '../support/settings/shared-environment.js';
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

test('invalid values of a role are refused', async (t) => {
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

interface Node {
  id: number;
  slug: string;
  parent_id: number;
  children: Node[];
}

const noPermission = [403, 20001, 'no_permission'];

async function makeMenu(parent_id = 0, more: object = {}): Promise<{ id: number; slug: string }> {
  const answer = await admin.post('/menus', {
    title: 'x',
    slug: unique('menu-'),
    type: 2,
    parent_id,
    ...more,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.data;
}

const verbIds = (): Promise<number[]> =>
  Promise.all(['menu.store', 'menu.update', 'menu.destroy'].map((slug) => permissionId(admin, slug)));

const flat = (nodes: Node[]): Node[] => nodes.flatMap((node) => [node, ...flat(node.children)]);

const slugs = (nodes: Node[]): string[] => flat(nodes).map(({ slug }) => slug);

test('a new menu has the given fields and defaults for the others', async (t) => {
  const slug = unique('menu-');
  const given = {
    title: '报表',
    slug,
    type: 2,
    icon: 'chart',
    path: '/reports',
    component: 'reports/index',
    is_hidden: 1,
    link_type: 2,
  };
  const created = await admin.post('/menus', given);
  t.is(created.status, 200);
  const { id, created_at, updated_at, ...rest } = created.data;
  t.deepEqual(rest, { ...given, parent_id: 0, status: 1, sort: 0, open_type: 1, no_cache: 0, in_use: false });
  t.is(created_at, updated_at);
  t.deepEqual((await admin.get(`/menus/${id}`)).data, created.data);
  const changed = (await admin.put(`/menus/${id}`, { title: 'Reports', sort: -3 })).data;
  t.deepEqual({ ...changed, updated_at: 0 }, { ...created.data, title: 'Reports', sort: -3, updated_at: 0 });
  t.is((await admin.delete(`/menus/${id}`)).data, null);
  t.deepEqual(outcome(await admin.get(`/menus/${id}`)), [404, 20002, 'menu_not_found']);
});

test('invalid values of a menu are refused', async (t) => {
  const taken = await makeMenu();
  const refused: [object, unknown[]][] = [
    [{ type: undefined }, [400, 30001, 'validation_failed']],
    [{ parent_id: null }, [400, 30001, 'validation_failed']],
    [{ status: true }, [400, 30001, 'validation_failed']],
    [{ type: 4 }, [422, 30001, 'value_not_acceptable']],
    [{ title: 'x'.repeat(51) }, [422, 30001, 'value_not_acceptable']],
    [{ path: 'javascript:alert(1)' }, [422, 30004, 'format_invalid']],
    [{ path: '//evil.example' }, [422, 30004, 'format_invalid']],
    [{ path: '/\\evil.example' }, [422, 30004, 'format_invalid']],
    [{ path: ' \\/evil.example' }, [422, 30004, 'format_invalid']],
    [{ is_hidden: 2 }, [422, 30001, 'value_not_acceptable']],
    [{ slug: taken.slug.toUpperCase() }, [422, 30002, 'menu_slug_exists']],
    [{ parent_id: 999_999 }, [422, 30003, 'menu_unknown']],
  ];
  for (const [change, expected] of refused) {
    const answer = await admin.post('/menus', { title: 'x', slug: unique('menu-'), type: 1, ...change });
    t.deepEqual(outcome(answer), expected, JSON.stringify(change));
  }
  t.is((await admin.put(`/menus/${taken.id}`, { parent_id: 999_999 })).code, 30003);
});

test('the tree nests by parent and orders by sort, then id', async (t) => {
  const root = await makeMenu();
  const [last, first, second] = [
    await makeMenu(root.id, { sort: 9 }),
    await makeMenu(root.id),
    await makeMenu(root.id, { status: 0 }),
  ];
  const leaf = await makeMenu(first.id);
  const { list } = (await admin.get('/menus')).data;
  const shown = (list as Node[]).find(({ id }) => id === root.id) as Node;
  t.deepEqual(
    shown.children.map(({ id }) => id),
    [first.id, second.id, last.id],
  );
  t.deepEqual(
    shown.children[0]?.children.map(({ id }) => id),
    [leaf.id],
  );
});

test('a menu cannot be moved below itself', async (t) => {
  const a = await makeMenu();
  const b = await makeMenu(a.id);
  const c = await makeMenu(b.id);
  const cycle = [422, 30001, 'menu_cycle'];
  for (const parent_id of [a.id, b.id, c.id]) {
    const answer = await admin.put(`/menus/${a.id}`, { parent_id });
    t.deepEqual(outcome(answer), cycle);
    t.deepEqual(answer.fields, ['parent_id']);
  }
});

test('two concurrent moves never form a cycle of menus', async (t) => {
  const [one, two] = [await makeMenu(), await makeMenu()];
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all([
      admin.put(`/menus/${one.id}`, { parent_id: two.id }),
      admin.put(`/menus/${two.id}`, { parent_id: one.id }),
    ]);
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, 422]);
    await Promise.all([one, two].map(({ id }) => admin.put(`/menus/${id}`, { parent_id: 0 })));
  }
});

test('menus nest at most ten levels deep', async (t) => {
  const chain = [await makeMenu()];
  while (chain.length < 10) chain.push(await makeMenu(chain.at(-1)?.id));
  const tooDeep = [422, 30001, 'menu_too_deep'];
  const below = { title: 'x', slug: unique('menu-'), type: 2, parent_id: chain.at(-1)?.id };
  t.deepEqual(outcome(await admin.post('/menus', below)), tooDeep);
  const branch = await makeMenu();
  const twig = await makeMenu(branch.id);
  t.deepEqual(outcome(await admin.put(`/menus/${branch.id}`, { parent_id: chain[8]?.id })), tooDeep);
  t.is((await admin.put(`/menus/${branch.id}`, { parent_id: chain[7]?.id })).status, 200);
  t.is((await admin.get(`/menus/${twig.id}`)).data.parent_id, branch.id);
});

test('a menu with children cannot be deleted', async (t) => {
  const root = await makeMenu();
  const child = await makeMenu(root.id);
  t.deepEqual(outcome(await admin.delete(`/menus/${root.id}`)), [400, 40002, 'menu_has_children']);
  await admin.delete(`/menus/${child.id}`);
  t.is((await admin.delete(`/menus/${root.id}`)).status, 200);
});

test('an administrator sees the enabled menus of their roles and the ancestors of these', async (t) => {
  const root = await makeMenu(0, { type: 1 });
  const [shown, hidden, disabled] = [
    await makeMenu(root.id),
    await makeMenu(root.id),
    await makeMenu(root.id, { status: 0 }),
  ];
  const belowDisabled = await makeMenu(disabled.id);
  const role = await makeRole(admin, [], { menu_ids: [shown.id, belowDisabled.id] });
  const own = await service.anonymous.signIn(await makeAdmin(admin, [role.id]));
  const { list } = (await own.get('/menus/tree')).data;
  t.deepEqual(slugs(list), [root.slug, shown.slug]);
  t.deepEqual((await own.get('/info')).data.menus, list);
  const all = slugs((await admin.get('/menus/tree')).data.list);
  t.deepEqual(
    [root, shown, hidden, disabled, belowDisabled].map(({ slug }) => all.includes(slug)),
    [true, true, true, false, false],
  );
});

test('an administrator changes only menus whose permissions they hold', async (t) => {
  const [mine, others] = [await makeMenu(), await makeMenu()];
  const withRights = await selectRow<{ id: number }>("SELECT id FROM menus WHERE slug = 'orders'");
  const verbs = ['menu.store', 'menu.update', 'menu.destroy'];
  const role = await makeRole(admin, [...verbs, 'order.index'], { menu_ids: [mine.id, withRights.id] });
  const manager = await service.anonymous.signIn(await makeAdmin(admin, [role.id]));
  t.is((await manager.put(`/menus/${mine.id}`, { title: 'new' })).data.title, 'new');
  const body = (parent_id: number) => ({ title: 'x', slug: unique('menu-'), type: 2, parent_id });
  const refused = [
    manager.put(`/menus/${others.id}`, { title: 'new' }),
    manager.put(`/menus/${mine.id}`, { parent_id: others.id }),
    manager.put(`/menus/${withRights.id}`, { status: 0 }),
    manager.delete(`/menus/${others.id}`),
    manager.post('/menus', body(others.id)),
  ];
  for (const answer of await Promise.all(refused)) t.deepEqual(outcome(answer), beyondOwn);
  t.is((await manager.post('/menus', body(mine.id))).status, 200);
});

test('an administrator changes a directory only when they hold all that is below it', async (t) => {
  const top = await makeMenu(0, { type: 1 });
  const directory = await makeMenu(top.id, { type: 1 });
  const [one, other] = [await makeMenu(directory.id), await makeMenu(directory.id)];
  const permission = { name: 'x', slug: unique('perm.'), method: 'GET', path: '/roles', menu_id: other.id };
  const closed = (await admin.post('/permissions', permission)).data;
  const managerOf = async (menus: { id: number }[], more: number[] = []) => {
    const permission_ids = [...(await verbIds()), ...more];
    const role = await makeRole(admin, [], { permission_ids, menu_ids: menus.map(({ id }) => id) });
    return service.anonymous.signIn(await makeAdmin(admin, [role.id]));
  };
  const ofLeaf = await managerOf([one]);
  for (const { id } of [top, directory])
    for (const change of [{ status: 0 }, { is_hidden: 1 }, { title: 'y', path: '/y' }, { parent_id: 0 }])
      t.deepEqual(outcome(await ofLeaf.put(`/menus/${id}`, change)), beyondOwn, JSON.stringify(change));
  t.deepEqual(outcome(await ofLeaf.delete(`/menus/${directory.id}`)), beyondOwn);
  const withoutRight = await managerOf([one, other]);
  t.deepEqual(outcome(await withoutRight.put(`/menus/${directory.id}`, { status: 0 })), beyondOwn);
  const ofAll = await managerOf([one, other], [closed.id]);
  t.is((await ofAll.put(`/menus/${directory.id}`, { title: 'y' })).data.title, 'y');
  t.is((await ofLeaf.put(`/menus/${one.id}`, { title: 'y' })).status, 200);
  const page = { title: 'x', slug: unique('menu-'), type: 2, parent_id: directory.id };
  t.is((await ofLeaf.post('/menus', page)).status, 200, 'a page beside their own');
});

test('deleting a disabled menu does not enable its permissions', async (t) => {
  const menu = await makeMenu();
  const slug = unique('perm.');
  const fields = { name: 'x', slug, method: 'GET', path: '/roles', menu_id: menu.id };
  const permission = (await admin.post('/permissions', fields)).data;
  const role = await makeRole(admin, [], { permission_ids: [permission.id] });
  const own = await service.anonymous.signIn(await makeAdmin(admin, [role.id]));
  t.is((await own.get('/roles')).status, 200);
  await admin.put(`/menus/${menu.id}`, { status: 0 });
  t.is((await own.get('/roles')).code, 20001);
  t.is((await admin.delete(`/menus/${menu.id}`)).status, 200);
  t.is((await own.get('/roles')).code, 20001);
  const left = (await admin.get(`/permissions/${permission.id}`)).data;
  t.deepEqual([left.menu_id, left.menu, left.status], [null, null, 0]);
});

test('options list only enabled entries the caller may list', async (t) => {
  const [role, off] = [await makeRole(admin), await makeRole(admin, [], { status: 0 })];
  const root = await makeMenu();
  const child = await makeMenu(root.id);
  const slugs = ['role.index', 'admin.index', 'menu.index'];
  const own = await signedInWith(admin, slugs);
  const values = async (type: string) =>
    (await own.get(`/options?type=${type}`)).data.map(({ value }: { value: number }) => value);
  const roles = await values('role');
  t.deepEqual([roles.includes(role.id), roles.includes(off.id)], [true, false]);
  t.true((await values('admin')).includes(own.account?.id));
  const menus = (await own.get('/options?type=menu')).data;
  const option = menus.find(({ value }: { value: number }) => value === root.id);
  t.deepEqual(option, { value: root.id, label: 'x', children: [{ value: child.id, label: 'x' }] });
  for (const type of ['department', 'permission', 'payment_method', 'dictionary:gender'])
    t.deepEqual(outcome(await own.get(`/options?type=${type}`)), noPermission, type);
  t.is((await own.get('/options')).status, 400);
  t.is((await own.get('/options?type=secrets')).status, 422);
  t.is((await own.get('/options?type=__proto__')).status, 422);
});
