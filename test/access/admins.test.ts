// Administrators and departments: records, lists, and who may change whom.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { insert, select, change, transact } from '../../src/lib/database/db.js';
import { makeAdmin, makeRole, signedInWith, unique, type MadeAdmin } from '../support/factories.js';
import { service } from '../support/shared-service.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { lockWaits, otherConnection } from '../support/other-connection.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

const { admin } = service;
const { id: superRole } = await selectRow<{ id: number }>("SELECT id FROM roles WHERE slug = 'super-admin'");

const beyondOwn = [403, 20003, 'grant_beyond_own'];
const protectedSuper = [403, 20003, 'super_admin_protected'];
const everyRight = ['index', 'show', 'store', 'update', 'destroy', 'reset_password', 'kick_out'].map(
  (verb) => `admin.${verb}`,
);

const signedIn = (account: MadeAdmin): Promise<Client> => service.anonymous.signIn(account);

const makeDepartment = (parentId = 0): Promise<number> =>
  insert('INSERT INTO departments (parent_id, name, created_at, updated_at) VALUES (?, ?, NOW(3), NOW(3))', [
    parentId,
    unique('d'),
  ]);

const names = (answer: Answer): string[] =>
  answer.data.list.map(({ username }: MadeAdmin) => username).sort();

test('a new administrator has the given fields and defaults for the others', async (t) => {
  const department = await makeDepartment();
  const role = await makeRole(admin);
  const username = unique('A.b_c@d-');
  const body = {
    username,
    password: 'secret-1',
    nickname: '小红',
    email: 'a@example.com',
    phone: '+86 10-1',
    avatar: '/a.png',
  };
  const created = await admin.post('/admins', {
    ...body,
    department_id: department,
    role_ids: [role.id],
    is_super_admin: true,
  });
  t.is(created.status, 200);
  const { id, created_at, updated_at, roles, department: named, ...rest } = created.data;
  t.deepEqual(rest, {
    ...{ username, nickname: '小红', email: 'a@example.com', phone: '+86 10-1', avatar: '/a.png', status: 1 },
    ...{ department_id: department, is_super_admin: false, last_login_at: null },
  });
  t.deepEqual(roles, [
    { id: role.id, name: (await admin.get(`/roles/${role.id}`)).data.name, slug: role.slug },
  ]);
  t.is(named.id, department);
  t.is(updated_at, created_at);
  t.deepEqual((await admin.get(`/admins/${id}`)).data, created.data);
});

test('an administrator is answered without the password', async (t) => {
  const body = { username: unique('a'), password: 'secret-1', nickname: 'x' };
  const created = await admin.post('/admins', body);
  t.is(created.status, 200);
  const shown = await admin.get(`/admins/${created.data.id}`);
  for (const { text } of [created, shown]) t.notRegex(text, /secret-1|password|\$2b/);
});

test('timestamps keep their milliseconds', async (t) => {
  const made = await Promise.all(Array.from({ length: 6 }, () => makeAdmin(admin)));
  const rows = await select<{ part: number }>(
    'SELECT MICROSECOND(created_at) AS part FROM admins WHERE id IN (?)',
    [made.map(({ id }) => id)],
  );
  t.true(rows.some(({ part }) => part > 0));
});

test('invalid values are refused', async (t) => {
  const taken = await makeAdmin(admin);
  const good = { username: unique('admin'), password: 'secret-1', nickname: 'x' };
  const refused: [object, unknown[]][] = [
    [{ username: undefined }, [400, 30001, 'validation_failed']],
    [{ nickname: 5 }, [400, 30001, 'validation_failed']],
    [{ role_ids: '1' }, [400, 30001, 'validation_failed']],
    [{ role_ids: [[1]] }, [400, 30001, 'validation_failed']],
    [{ username: 'ab' }, [422, 30001, 'value_not_acceptable']],
    [{ username: 'with space' }, [422, 30001, 'value_not_acceptable']],
    [{ password: 'short' }, [422, 30001, 'value_not_acceptable']],
    [{ password: good.username }, [422, 30001, 'value_not_acceptable']],
    [{ status: 2 }, [422, 30001, 'value_not_acceptable']],
    [{ role_ids: [superRole, superRole] }, [422, 30001, 'value_not_acceptable']],
    [{ email: 'nowhere' }, [422, 30004, 'format_invalid']],
    [{ username: taken.username.toUpperCase() }, [422, 30002, 'username_exists']],
    [{ role_ids: [999_999] }, [422, 30003, 'role_unknown']],
    [{ department_id: 999_999 }, [422, 30003, 'department_unknown']],
  ];
  for (const [change, expected] of refused) {
    const answer = await admin.post('/admins', { ...good, ...change });
    t.deepEqual(outcome(answer), expected, JSON.stringify(change));
    t.true(answer.fields.length > 0, JSON.stringify(change));
  }
  t.is((await select('SELECT id FROM admins WHERE username = ?', [good.username])).length, 0);
});

test('only one of two concurrent administrators with the same username is created', async (t) => {
  const body = { username: unique('twin'), password: 'secret-1', nickname: 'x' };
  const answers = await Promise.all([admin.post('/admins', body), admin.post('/admins', body)]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 422]);
});

test('an update changes only the fields sent', async (t) => {
  const made = await makeAdmin(admin, [(await makeRole(admin)).id], {
    email: 'a@example.com',
    department_id: await makeDepartment(),
  });
  const before = (await admin.get(`/admins/${made.id}`)).data;
  const changed = (await admin.put(`/admins/${made.id}`, { nickname: 'new', username: 'new-name' })).data;
  t.true(Date.parse(changed.updated_at) >= Date.parse(before.updated_at));
  t.deepEqual({ ...changed, updated_at: 0 }, { ...before, nickname: 'new', updated_at: 0 });
  const cleared = (await admin.put(`/admins/${made.id}`, { email: '', department_id: null })).data;
  t.deepEqual([cleared.email, cleared.department_id, cleared.department], [null, null, null]);
  t.deepEqual(outcome(await admin.put('/admins/999999', { nickname: 'x' })), [404, 20002, 'admin_not_found']);
});

test('an update replaces the roles', async (t) => {
  const [one, two] = [await makeRole(admin), await makeRole(admin)];
  const made = await makeAdmin(admin, [one.id]);
  const withRoles = async (role_ids: number[]) => (await admin.put(`/admins/${made.id}`, { role_ids })).data;
  const before = (await admin.get(`/admins/${made.id}`)).data;
  const both = await withRoles([two.id, one.id]);
  t.deepEqual(
    both.roles.map(({ id }: { id: number }) => id),
    [one.id, two.id],
  );
  t.true(both.updated_at > before.updated_at);
  t.deepEqual(await withRoles([one.id, two.id]), both);
  t.deepEqual((await withRoles([])).roles, []);
});

test('the list filters by name, status, role and department subtree', async (t) => {
  const parent = await makeDepartment();
  const child = await makeDepartment(await makeDepartment(parent));
  const role = await makeRole(admin);
  const prefix = unique('F');
  const [one, two, three] = await Promise.all([
    makeAdmin(admin, [role.id], { username: `${prefix}_1`, department_id: parent }),
    makeAdmin(admin, [role.id], { username: `${prefix}.2`, department_id: child, status: 0 }),
    makeAdmin(admin, [], { username: `${prefix}-3`, nickname: '100%_\\' }),
  ]);
  const found = async (query: string) => names(await admin.get(`/admins?${query}`));
  t.deepEqual(await found(`username=${prefix}`), [three, two, one].map(({ username }) => username).sort());
  t.deepEqual(await found(`username=${prefix}_`), [one.username]);
  t.deepEqual(await found(`nickname=${encodeURIComponent('0%_\\')}`), [three.username]);
  t.deepEqual(await found(`username=${prefix}&status=0`), [two.username]);
  t.deepEqual(await found(`role_id=${role.id}`), [two, one].map(({ username }) => username).sort());
  t.deepEqual(await found(`department_id=${parent}`), [two, one].map(({ username }) => username).sort());
  t.deepEqual(await found(`department_id=${child}`), [two.username]);
  t.deepEqual(
    await found(`username=${prefix}&status=&role_id=&department_id=&order_by=`),
    await found(`username=${prefix}`),
  );
});

test('administrators cannot delete or disable themselves', async (t) => {
  const own = await signedInWith(admin, everyRight);
  t.deepEqual(outcome(await own.delete(`/admins/${own.account?.id}`)), [400, 40002, 'admin_delete_self']);
  t.deepEqual(outcome(await own.put(`/admins/${own.account?.id}`, { status: 0 })), [
    400,
    40003,
    'admin_disable_self',
  ]);
  t.is((await own.get('/heartbeat')).status, 200);
});

test('an administrator grants only roles within their own rights', async (t) => {
  const manager = await signedInWith(admin, [...everyRight, 'role.index']);
  const [within, beyond, withMenu] = [
    await makeRole(admin, ['admin.index', 'role.index']),
    await makeRole(admin, ['admin.index', 'order.index']),
    await makeRole(admin, [], { menu_ids: [1] }),
  ];
  const body = () => ({ username: unique('admin'), password: 'secret-1', nickname: 'x' });
  const created = await manager.post('/admins', { ...body(), role_ids: [within.id] });
  t.is(created.status, 200);
  for (const role_ids of [[beyond.id], [within.id, beyond.id], [withMenu.id]]) {
    t.deepEqual(outcome(await manager.post('/admins', { ...body(), role_ids })), beyondOwn);
    t.deepEqual(outcome(await manager.put(`/admins/${created.data.id}`, { role_ids })), beyondOwn);
    t.deepEqual(outcome(await manager.put(`/admins/${manager.account?.id}`, { role_ids })), beyondOwn);
  }
  const toSuper = { role_ids: [superRole] };
  t.deepEqual(outcome(await manager.post('/admins', { ...body(), ...toSuper })), protectedSuper);
  t.deepEqual(outcome(await manager.put(`/admins/${manager.account?.id}`, toSuper)), protectedSuper);
  t.deepEqual(
    (await admin.get(`/admins/${created.data.id}`)).data.roles.map(({ id }: { id: number }) => id),
    [within.id],
  );
});

test('an administrator cannot change anyone with more rights', async (t) => {
  const manager = await signedInWith(admin, everyRight);
  const stronger = await makeAdmin(admin, [(await makeRole(admin, ['order.index'])).id]);
  const head = await makeAdmin(admin, [superRole]);
  for (const [target, expected] of [
    [stronger, beyondOwn],
    [head, protectedSuper],
  ] as [MadeAdmin, unknown[]][]) {
    const own = await signedIn(target);
    const attempts = [
      manager.put(`/admins/${target.id}`, { nickname: 'x' }),
      manager.put(`/admins/${target.id}`, { status: 0 }),
      manager.put(`/admins/${target.id}`, { role_ids: [] }),
      manager.put(`/admins/${target.id}/password`, { password: 'secret-2' }),
      manager.delete(`/admins/${target.id}/tokens`),
      manager.delete(`/admins/${target.id}`),
    ];
    for (const answer of await Promise.all(attempts)) t.deepEqual(outcome(answer), expected);
    t.is((await own.get('/heartbeat')).status, 200);
  }
  await admin.delete(`/admins/${head.id}`);
});

test('ending the sessions of an administrator returns their count', async (t) => {
  const made = await makeAdmin(admin);
  await Promise.all([signedIn(made), signedIn(made), signedIn(made)]);
  t.deepEqual((await admin.delete(`/admins/${made.id}/tokens`)).data, { count: 3 });
  t.deepEqual((await admin.delete(`/admins/${made.id}/tokens`)).data, { count: 0 });
  t.is((await admin.delete('/admins/999999/tokens')).code, 20002);
});

test('a reset password replaces the old one', async (t) => {
  const made = await makeAdmin(admin);
  t.is((await admin.put(`/admins/${made.id}/password`, { password: made.username })).status, 422);
  t.is((await admin.put(`/admins/${made.id}/password`, { password: 'secret-2' })).data, null);
  t.is((await service.anonymous.post('/login', made)).code, 10001);
  await t.notThrowsAsync(signedIn({ ...made, password: 'secret-2' }));
  t.is((await admin.put('/admins/999999/password', { password: 'secret-2' })).code, 20002);
});

test('a password is not reset for somebody who gets more rights while it is hashed', async (t) => {
  const manager = await signedInWith(admin, everyRight);
  const made = await makeAdmin(admin);
  const other = await otherConnection();
  await other.query('START TRANSACTION');
  await other.query('SELECT id FROM admins WHERE id = ? FOR UPDATE', [made.id]);
  const resetting = manager.put(`/admins/${made.id}/password`, { password: 'secret-2' });
  await until(async () => (await lockWaits('UPDATE `admins`')) > 0);
  await other.query('INSERT INTO admin_roles (admin_id, role_id) VALUES (?, ?)', [made.id, superRole]);
  await other.query('COMMIT');
  await other.end();
  t.deepEqual(outcome(await resetting), protectedSuper);
  await t.notThrowsAsync(signedIn(made));
  await admin.delete(`/admins/${made.id}`);
});

test('an administrator is not created with a role that gets more rights meanwhile', async (t) => {
  const manager = await signedInWith(admin, everyRight);
  const role = await makeRole(admin);
  const other = await otherConnection();
  await other.query('START TRANSACTION');
  await other.query('SELECT id FROM roles WHERE id = ? FOR UPDATE', [role.id]);
  const username = unique('admin');
  const body = { username, password: 'secret-1', nickname: 'x', role_ids: [role.id] };
  const creating = manager.post('/admins', body);
  await until(async () => (await lockWaits('FROM `roles`')) > 0);
  const given = `INSERT INTO role_permissions (role_id, permission_id) SELECT ?, id FROM permissions WHERE slug = 'role.store'`;
  await other.query(given, [role.id]);
  await other.query('COMMIT');
  await other.end();
  t.deepEqual(outcome(await creating), beyondOwn);
  t.is((await admin.get(`/admins?username=${username}`)).data.total, 0);
});

test.serial('sessions are not ended for somebody who gets more rights meanwhile', async (t) => {
  const manager = await signedInWith(admin, [...everyRight, 'online_admin.kick_out']);
  const made = await makeAdmin(admin);
  const own = await signedIn(made);
  const session = await selectRow<{ id: number }>(
    `SELECT id FROM admin_sessions WHERE admin_id = ${made.id}`,
  );
  const ends = [`/admins/${made.id}/tokens`, `/online-admins/${session.id}`];
  for (const path of ends) {
    const other = await otherConnection();
    await other.query('START TRANSACTION');
    await other.query('SELECT id FROM roles WHERE id = ? FOR UPDATE', [superRole]);
    await other.query('INSERT INTO admin_roles (admin_id, role_id) VALUES (?, ?)', [made.id, superRole]);
    const ending = manager.delete(path);
    await Promise.race([until(async () => (await lockWaits('roles')) > 0), ending]);
    await other.query('COMMIT');
    await other.end();
    t.deepEqual(outcome(await ending), protectedSuper, path);
    t.is((await own.get('/heartbeat')).status, 200);
    await admin.put(`/admins/${made.id}`, { role_ids: [] });
  }
});

test('deleting a role while it is being granted never leaves a dangling grant', async (t) => {
  for (let round = 0; round < 8; round++) {
    const role = await makeRole(admin);
    const made = await makeAdmin(admin);
    const [given, deleted] = await Promise.all([
      admin.put(`/admins/${made.id}`, { role_ids: [role.id] }),
      admin.delete(`/roles/${role.id}`),
    ]);
    t.true(given.status === 200 ? deleted.errorCode === 'role_in_use' : given.errorCode === 'role_unknown');
  }
});

const department = async (more: object = {}) =>
  (await service.admin.post('/departments', { name: unique('d'), ...more })).data;

test('departments are listed below their parent in the order of sort', async (t) => {
  const top = await department({ sort: 5 });
  const second = await department({ parent_id: top.id, sort: 2 });
  const first = await department({
    parent_id: top.id,
    sort: 1,
    leader: 'Li',
    phone: '010-1',
    email: 'a@b.cn',
    code: 'x',
  });
  const { list } = (await service.admin.get('/departments')).data;
  const shown = list.find((node: { id: number }) => node.id === top.id);
  t.deepEqual(
    shown.children.map((node: { id: number }) => node.id),
    [first.id, second.id],
  );
  t.like(shown.children[0], { leader: 'Li', phone: '010-1', email: 'a@b.cn', code: 'x', status: 1 });
});

test('a parent_id of 0 or an empty text means no parent', async (t) => {
  for (const parent_id of [0, '']) {
    for (const [path, more] of [
      ['/departments', {}],
      ['/menus', { title: 'M', slug: unique('menu-'), path: '/m', type: 1 }],
      ['/dictionaries', { code: unique('code_') }],
    ] as const) {
      const body = { name: unique('n'), ...more };
      const top = await service.admin.post(path, { ...body, parent_id });
      t.is(top.data?.parent_id, 0, `${path} ${top.text}`);
      const below = { ...body, name: unique('n'), slug: unique('menu-'), code: unique('code_') };
      const made = (await service.admin.post(path, { ...below, parent_id: top.data.id })).data;
      t.is(made?.parent_id, top.data.id, path);
      t.is((await service.admin.put(`${path}/${made.id}`, { parent_id })).data?.parent_id, 0, path);
    }
  }
});

test('an empty text in an optional field is stored as none', async (t) => {
  const made = {
    '/departments': [{ name: unique('d') }, { code: '', leader: '', phone: '', email: '', remark: '' }],
    '/menus': [
      { title: 'M', slug: unique('menu-'), type: 1 },
      { icon: '', path: '', component: '' },
    ],
    '/permissions': [{ name: 'P', slug: unique('p.'), method: 'GET', path: '/p' }, { description: '' }],
    '/blacklists': [{ ip: '203.0.113.9' }, { remark: '' }],
    '/dictionaries': [
      { name: 'D', code: unique('d') },
      { value: '', description: '' },
    ],
    '/payment-methods': [{ type: 'mock' }, { description: '' }],
    '/roles': [{ name: 'R', slug: unique('role-') }, { description: '' }],
  };
  for (const [path, [required, empty]] of Object.entries(made)) {
    const none = Object.fromEntries(Object.keys(empty as object).map((field) => [field, null]));
    const { data } = await service.admin.post(path, { ...required, ...empty });
    t.like(data, none, path);
    t.like((await service.admin.put(`${path}/${data.id}`, empty)).data, none, path);
  }
});

test('a filtered list is flat', async (t) => {
  const top = await department();
  const below = await department({ parent_id: top.id, name: unique('100%_') });
  const { list } = (await service.admin.get(`/departments?name=${encodeURIComponent(below.name)}`)).data;
  t.deepEqual(
    list.map((node: { id: number; children: [] }) => [node.id, node.children]),
    [[below.id, []]],
  );
});

test('an 11th level of departments or dictionaries is refused', async (t) => {
  for (const [path, slug] of [
    ['/departments', 'department_too_deep'],
    ['/dictionaries', 'dictionary_too_deep'],
  ] as const) {
    const create = (parent_id: number) =>
      service.admin.post(path, { name: unique('d'), code: unique('c'), parent_id });
    const chain = [0];
    for (let level = 1; level <= 10; level++)
      chain.push((await create(chain.at(-1) as number)).data.id as number);
    const refused = await create(chain[10] as number);
    t.deepEqual(outcome(refused), [422, 30001, slug]);
    t.regex(refused.errors?.parent_id?.[0] ?? '', /最多 10 级/);
    const pair = (await create(0)).data.id as number;
    await create(pair);
    const move = (parent_id: number) => service.admin.put(`${path}/${pair}`, { parent_id });
    t.is((await move(chain[9] as number)).errorCode, slug);
    t.is((await move(chain[8] as number)).status, 200);
  }
});

test('a department cannot be moved below itself', async (t) => {
  const one = await department();
  const below = await department({ parent_id: one.id });
  for (const parent_id of [one.id, below.id]) {
    const refused = await service.admin.put(`/departments/${one.id}`, { parent_id });
    t.is(refused.status, 422);
    t.is(refused.errorCode, 'department_cycle');
  }
});

test('two concurrent moves never form a cycle of departments', async (t) => {
  const [left, right] = [await department(), await department()];
  const moves = await Promise.all([
    service.admin.put(`/departments/${left.id}`, { parent_id: right.id }),
    service.admin.put(`/departments/${right.id}`, { parent_id: left.id }),
  ]);
  t.deepEqual(moves.map(({ status }) => status).sort(), [200, 422]);
});

test('a department with children or administrators cannot be deleted', async (t) => {
  const top = await department();
  const below = await department({ parent_id: top.id });
  t.is((await service.admin.delete(`/departments/${top.id}`)).errorCode, 'department_has_children');
  const member = await makeAdmin(service.admin, [], { department_id: below.id });
  const refused = await service.admin.delete(`/departments/${below.id}`);
  t.is(refused.status, 400);
  t.is(refused.code, 40002);
  await service.admin.put(`/admins/${member.id}`, { department_id: null });
  t.is((await service.admin.delete(`/departments/${below.id}`)).status, 200);
  t.is((await service.admin.get(`/departments/${below.id}`)).status, 404);
});

test('a department that is deleted concurrently is reported as unknown', async (t) => {
  const member = await makeAdmin(service.admin);
  const sent: ((department_id: number) => Promise<Answer>)[] = [
    (department_id) => service.admin.put(`/admins/${member.id}`, { department_id }),
    (department_id) => {
      const username = unique('admin');
      return service.admin.post('/admins', { username, password: 'secret-1', nickname: '', department_id });
    },
  ];
  for (const send of sent) {
    const { id } = await department();
    let answer: Promise<Answer> | undefined;
    await transact(async (own) => {
      await change('DELETE FROM departments WHERE id = ?', [id], own);
      answer = send(id);
      await Promise.race([answer, until(async () => (await lockWaits('departments')) > 0)]);
    });
    t.deepEqual(outcome((await answer) as Answer), [422, 30003, 'department_unknown']);
  }
});

test('unknown parents and invalid values are refused by field', async (t) => {
  const unknown = await service.admin.post('/departments', { name: 'x', parent_id: 999_999 });
  t.is(unknown.status, 422);
  t.is(unknown.code, 30003);
  t.truthy(unknown.errors?.parent_id);
  const wrong = await service.admin.post('/departments', { name: 'x', email: 'nobody' });
  t.is(wrong.status, 422);
  t.is(wrong.code, 30004);
  t.is((await service.admin.post('/departments', {})).status, 400);
});
