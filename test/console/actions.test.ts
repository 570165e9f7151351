// What rows offer: "Delete" for what can be deleted and for nothing else, and menu entries a place by dragging and by keys.
import '../support/environment.js';
import type { Page } from 'playwright-core';
import { consoleTest } from '../support/console-test.js';
import {
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeRole,
  makeUser,
  mockCallback,
  permissionId,
  signedInWith,
  unique,
} from '../support/factories.js';
import { enter, follow, leaveScreen } from '../support/pages.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
const { journey, freshJourney } = own;

const node = (page: Page, title: string) =>
  page.locator('.ant-tree-treenode', { has: page.getByText(title, { exact: true }) });

const placeOf = (slug: string) =>
  selectRow<{ parent: string | null; sort: number }>(
    'SELECT p.slug AS parent, m.sort FROM menus m LEFT JOIN menus p ON p.id = m.parent_id WHERE m.slug = ?',
    [slug],
  );

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Menu saved').waitFor();
}

journey('a menu entry can be dragged onto a directory', async (t, page) => {
  // Both ends of the way are to be seen.
  await page.setViewportSize({ width: 1280, height: 1400 });
  await follow(page, '/console/access/menus');
  await page.getByRole('link', { name: 'Arrange' }).click();
  await node(page, 'Roles').waitFor();
  const before = await placeOf('roles');
  await node(page, 'Roles')
    .locator('.ant-tree-node-content-wrapper')
    .dragTo(node(page, 'Logs').locator('.ant-tree-node-content-wrapper'));
  await page.getByText(/\d entr(y|ies) will change/).waitFor();
  t.deepEqual(await placeOf('roles'), before, 'nothing is written before it is saved');
  await save(page);
  t.is((await placeOf('roles')).parent, 'logs');
  await page.locator('.menu').getByRole('menuitem', { name: 'Logs' }).click();
  await page.locator('.menu li', { hasText: 'Logs' }).locator('a', { hasText: 'Roles' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
});

journey('a menu entry can be moved by keyboard', async (t, page) => {
  await follow(page, '/console/access/menus/order');
  await node(page, 'Departments').getByText('Departments', { exact: true }).click();
  const said = page.locator('.panel [role=status]');
  const first = await said.innerText();
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByText(/will change/).waitFor();
  t.not(await said.innerText(), first);
  await page.getByRole('button', { name: 'Undo all' }).click();
  await page.getByText('No changes').waitFor();
  await page.getByRole('button', { name: 'Move out' }).click();
  await save(page);
  t.is((await placeOf('departments')).parent, null);
});

/** Opens a row, also beside one of the same list. */
async function open(page: Page, row: string): Promise<void> {
  await leaveScreen(page);
  await follow(page, `/console/${row}`);
}

interface Rows {
  /** Address of the list below /console/; its last part is the URL segment of the API. */
  list: string;
  kept: readonly (string | number)[];
  deletable: string | number;
}

async function trade(): Promise<Rows[]> {
  const { admin, anonymous } = own.service;
  const method = await makeMethod(admin);
  const paid = await makePayment(admin, method.id);
  await anonymous.post('//api/payment/notify/mock', mockCallback(paid));
  const rich = await makeUser(admin);
  await admin.post(`/users/${rich.id}/update-balance`, { type: 'income', amount: '1.00' });
  return [
    { list: 'trade/orders', kept: [paid.order_no], deletable: (await makeOrder(admin)).order_no },
    { list: 'trade/payment-methods', kept: [method.id], deletable: (await makeMethod(admin)).id },
    { list: 'trade/users', kept: [rich.id], deletable: (await makeUser(admin)).id },
  ];
}

async function access(): Promise<Rows[]> {
  const { admin } = own.service;
  const made = async (path: string, body: object): Promise<number> => (await admin.post(path, body)).data.id;
  const [role, free] = [await makeRole(admin), await makeRole(admin)];
  const colleague = await makeAdmin(admin, [role.id]);
  const department = (more: object = {}) => made('/departments', { name: unique(), code: unique(), ...more });
  const [above, staffed] = [await department(), await department()];
  const below = await department({ parent_id: above });
  await admin.put(`/admins/${colleague.id}`, { department_id: staffed });
  const menu = (more: object = {}) => made('/menus', { title: 'M', slug: unique('m-'), type: 1, ...more });
  const directory = await menu();
  const entry = (more: object = {}) => made('/dictionaries', { name: 'E', code: unique('e'), ...more });
  const type = await entry();
  return [
    { list: 'access/admins', kept: [1], deletable: colleague.id },
    { list: 'access/roles', kept: [1, role.id], deletable: free.id },
    { list: 'access/departments', kept: [above, staffed], deletable: below },
    { list: 'access/menus', kept: [directory], deletable: await menu({ parent_id: directory }) },
    { list: 'office/dictionaries', kept: [type], deletable: await entry({ parent_id: type }) },
  ];
}

journey('Delete is offered for what the service deletes', async (t, page) => {
  const { admin } = own.service;
  const remove = page.getByRole('button', { name: 'Delete', exact: true });
  for (const { list, kept, deletable } of [...(await trade()), ...(await access())]) {
    const segment = list.split('/')[1] ?? '';
    await open(page, `${list}/${deletable}`);
    await remove.waitFor();
    for (const id of kept) {
      await open(page, `${list}/${id}`);
      await page.locator('.facts').first().waitFor();
      t.is(await remove.count(), 0, `${list} ${id}`);
      t.true((await admin.delete(`/${segment}/${id}`)).status >= 400, `${list} ${id} can be deleted`);
    }
  }
});

freshJourney('Delete is not offered on what only a super administrator may delete', async (t, page) => {
  const { admin } = own.service;
  const slugs = ['admin.show', 'admin.destroy', 'permission.show', 'permission.destroy'];
  const { account } = await signedInWith(admin, slugs);
  const custom = { name: 'Own', slug: unique('own.'), method: 'GET', path: '/api/admin/orders' };
  const { data: made } = await admin.post('/permissions', custom);
  await enter(page, { at: `/console/access/permissions/${made.id}`, ...account });
  const remove = page.getByRole('button', { name: 'Delete', exact: true });
  await remove.waitFor();
  for (const row of [`permissions/${await permissionId(admin, 'order.index')}`, 'admins/1']) {
    await open(page, `access/${row}`);
    await page.locator('.facts').first().waitFor();
    t.is(await remove.count(), 0, row);
  }
});

freshJourney('an administrator sees only what their role allows', async (t, page) => {
  const { account } = await signedInWith(own.service.admin, [
    'blacklist.index',
    'blacklist.show',
    'dictionary.index',
  ]);
  await page.goto('/console/office/blacklists');
  await page.getByLabel('Username').fill(account?.username ?? '');
  await page.getByLabel('Password').fill(account?.password ?? '');
  await page.locator('button[type=submit]').click();
  await page.getByRole('heading', { name: 'IP blacklist' }).waitFor();
  t.is(await page.getByRole('link', { name: /^New/ }).count(), 0);
  t.is(await page.locator('.menu a', { hasText: 'Orders' }).count(), 0);
  await follow(page, '/console/trade/orders');
  await page.getByRole('alert').waitFor();
  await own.service.admin.delete(`/admins/${account?.id}/tokens`);
  await page.getByLabel('Username').waitFor();
});

journey('the actions of a row offer what its page does', async (t, page) => {
  const [orders] = await trade();
  const actions = async (orderNo: string) => {
    await open(page, 'trade/orders');
    await page.getByRole('button', { name: `Actions ${orderNo}` }).click();
    await page.getByRole('menuitem', { name: 'Edit note' }).waitFor();
    return page.locator('.ant-dropdown').getByRole('menuitem').allInnerTexts();
  };
  t.deepEqual(await actions(String(orders?.kept[0])), ['Edit note']);
  t.deepEqual(await actions(String(orders?.deletable)), ['Edit note', 'Cancel order', 'Delete']);
});
