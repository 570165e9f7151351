// /departments: a tree without cycles, and what blocks a deletion.
import '../support/shared-environment.js';
import test from 'ava';
import { change, transact } from '../../src/lib/database/db.js';
import { outcome, type Answer } from '../support/client.js';
import { makeAdmin, unique } from '../support/factories.js';
import { lockWaits } from '../support/other-connection.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

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
