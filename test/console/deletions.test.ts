// "Delete" is offered for what can be deleted, and for nothing else.
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

const own = consoleTest();
const { journey, freshJourney } = own;

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
  const paid = await makePayment(admin, (await makeMethod(admin)).id);
  await anonymous.post('//api/payment/notify/mock', mockCallback(paid));
  const rich = await makeUser(admin);
  await admin.post(`/users/${rich.id}/update-balance`, { type: 'income', amount: '1.00' });
  return [
    { list: 'trade/orders', kept: [paid.order_no], deletable: (await makeOrder(admin)).order_no },
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
