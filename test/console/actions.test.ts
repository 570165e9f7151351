// What rows and menus offer: "Delete" for what can be deleted and for nothing else, menu entries a place by dragging and by
// keys. And data that no screen expects: names that every object inherits break nothing, and values of another kind one place.
import '../support/settings/environment.js';
import type { Locator, Page } from 'playwright-core';
import { change } from '../../src/lib/database/db.js';
import { consoleTest } from '../support/console/console-test.js';
import {
  callBack,
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeRole,
  makeUser,
  unique,
} from '../support/factories.js';
import { copiedLink, follow, hold, leaveScreen, push } from '../support/console/pages.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

const own = consoleTest();
const { journey } = own;

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
  await page.locator('.menu').getByRole('link', { name: 'Dashboard' }).click();
  await page.getByRole('button', { name: 'Keep editing' }).click();
  t.regex(page.url(), /menus\/order$/, 'moves are not lost without a question');
  await page.getByRole('button', { name: 'Undo all' }).click();
  await page.getByText('No changes').waitFor();
  await page.getByRole('button', { name: 'Move out' }).click();
  await save(page);
  t.is((await placeOf('departments')).parent, null);
});

journey('no move joins those that are being saved', async (t, page) => {
  await follow(page, '/console/access/menus/order');
  await node(page, 'Permissions').getByText('Permissions', { exact: true }).click();
  const down = page.getByRole('button', { name: 'Down' });
  await down.click();
  const { asked, go } = await hold(page, '**/api/admin/menus/*', 'PUT');
  await page.getByRole('button', { name: 'Save' }).click();
  await asked;
  const moves = await page.getByText(/will change/).innerText();
  t.true(await down.isDisabled());
  t.true(await page.getByRole('button', { name: 'Undo all' }).isDisabled());
  await page.locator('.ant-tree').press('Alt+ArrowDown');
  t.is(await page.getByText(/will change/).innerText(), moves);
  go();
  await page.getByText('Menu saved').waitFor();
});

journey(
  'an action whose page is left takes its question along, says how it ended and moves nobody',
  async (t, page) => {
    const { admin } = own.service;
    const user = await makeUser(admin);
    const department = (await admin.post('/departments', { name: unique('Branch') })).data;
    const drawer = page.locator('.ant-drawer');
    const question = page.locator('.ant-modal-confirm');
    const deleteAndLeave = async (address: string) => {
      const { asked, go } = await hold(page, `**/api/admin/${address}`, 'DELETE');
      await page.getByRole('button', { name: 'Delete' }).click();
      await question.getByRole('button', { name: 'Delete' }).click();
      await asked;
      await page.goBack();
      await question.waitFor({ state: 'detached' });
      return go;
    };
    await follow(page, '/console/access/profile');
    await follow(page, `/console/trade/users/${user.id}`);
    const endPage = await deleteAndLeave(`users/${user.id}`);
    await page.locator('[data-screen=profile]').waitFor();
    endPage();
    await page.getByText(`Delete · ${user.username}: Done`).waitFor();
    t.regex(page.url(), /\/profile$/);

    await follow(page, '/console/access/departments');
    await page.getByRole('link', { name: department.name }).click();
    const endDrawer = await deleteAndLeave(`departments/${department.id}`);
    await drawer.waitFor({ state: 'detached' });
    endDrawer();
    await page.getByText(`Delete · ${department.name}: Done`).waitFor();
    t.regex(page.url(), /\/departments$/);

    const { id, username } = await makeUser(admin);
    await follow(page, '/console/access/profile');
    await follow(page, `/console/trade/users/${id}`);
    const endRefused = await deleteAndLeave(`users/${id}`);
    await admin.post(`/users/${id}/update-balance`, { type: 'income', amount: '1.00' });
    endRefused();
    await page.getByText(new RegExp(`^Delete · ${username}: .*balance`)).waitFor();
    t.is(await question.count(), 0);
  },
);

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
  await callBack(anonymous, paid);
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

journey('a clean-up of a log says what it deletes, and asks', async (t, page) => {
  const logs = () => selectRow<{ count: number }>('SELECT COUNT(*) AS count FROM login_logs');
  const before = await until(async () => ((await logs()).count > 0 ? await logs() : undefined));
  await follow(page, '/console/logs/login-logs');
  await page.getByRole('button', { name: 'Clean up' }).click();
  const drawer = page.getByRole('dialog', { name: 'Clean up' });
  await drawer.getByLabel('Delete entries older than (days)').fill('30');
  await drawer.getByRole('button', { name: 'Clean up' }).click();
  await page
    .getByRole('dialog', { name: 'Delete the entries older than 30 days? They cannot be restored' })
    .getByRole('button', { name: 'Delete' })
    .click();
  await page.getByText('0 deleted').waitFor();
  t.deepEqual(await logs(), before);
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

const strange = [
  { slug: 'constructor', icon: '__proto__' },
  { slug: '__proto__', icon: 'toString' },
  { slug: 'toString', icon: 'constructor' },
];

async function makeStrangeMenus(): Promise<void> {
  const { admin } = own.service;
  const ids: number[] = [];
  for (const { slug, icon } of strange) {
    const entry = { title: `Strange ${slug}`, slug: `x-${ids.length}`, type: 2, path: '/x' };
    const { data } = await admin.post('/menus', entry);
    await change('UPDATE menus SET slug = ?, icon = ? WHERE id = ?', [slug, icon, data.id]);
    ids.push(data.id);
  }
  // The last one is the directory of a screen. The write also renews what the service remembers of menus.
  const { data } = await admin.get('/menus');
  const orders = data.list.flatMap(
    (one: { children?: { slug: string; id: number }[] }) => one.children ?? [],
  );
  const { id } = orders.find((one: { slug: string }) => one.slug === 'orders');
  await admin.put(`/menus/${id}`, { parent_id: ids.at(-1) });
}

journey('an action of a row is chosen, confirmed and left by keyboard', async (t, page) => {
  const { order_no } = await makeOrder(own.service.admin);
  await follow(page, '/console/trade/orders');
  const actions = page.getByRole('button', { name: `Actions ${order_no}` });
  const isFocused = (place: Locator) => place.and(page.locator(':focus')).waitFor();
  const cancel = async () => {
    await actions.press('Enter');
    await page.locator('[role=menuitem]:focus').waitFor();
    await page.keyboard.press('Home');
    await isFocused(page.getByRole('menuitem', { name: 'Edit note' }));
    await page.keyboard.press('ArrowDown');
    await isFocused(page.getByRole('menuitem', { name: 'Cancel order' }));
    await page.keyboard.press('Enter');
    await isFocused(page.getByRole('button', { name: 'Back' }));
  };
  await actions.press('Enter');
  await isFocused(page.getByRole('menuitem', { name: 'Edit note' }));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Note').fill('Not after all');
  await page.keyboard.press('Escape');
  await isFocused(page.getByRole('button', { name: 'Keep editing' }));
  await page.getByRole('button', { name: 'Discard' }).press('Enter');
  await isFocused(actions);
  await cancel();
  await page.keyboard.press('Enter');
  await isFocused(actions);
  await cancel();
  await page.getByRole('button', { name: 'Cancel order' }).press('Enter');
  await page.getByText('Cancelled').first().waitFor();
  t.like(await selectRow('SELECT status FROM orders WHERE order_no = ?', [order_no]), {
    status: 'cancelled',
  });
});

journey('the focus is in the content when what had it is gone', async (t, page) => {
  const { admin } = own.service;
  const content = page.locator('#content:focus');
  const made = async () => (await admin.post('/departments', { name: unique('Branch') })).data.name as string;
  const remove = async (name: string) => {
    const question = page.locator('.ant-modal-confirm');
    // It takes the focus once it is open.
    await question.getByRole('button', { name: 'Back' }).and(page.locator(':focus')).waitFor();
    await question.getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('link', { name }).waitFor({ state: 'detached' });
    await content.waitFor();
  };
  const [first, second] = [await made(), await made()];
  await follow(page, '/console/access/departments');
  await page.getByRole('button', { name: `Actions ${first}` }).press('Enter');
  const entry = (name: string) => page.getByRole('menuitem', { name }).and(page.locator(':focus'));
  await entry('Edit').waitFor();
  await page.keyboard.press('ArrowDown');
  await entry('Delete').waitFor();
  await page.keyboard.press('Enter');
  await remove(first);
  await page.getByRole('link', { name: second }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await remove(second);
  const { order_no } = await makeOrder(admin);
  await follow(page, '/console/trade/orders');
  await page.locator('a.row-link', { hasText: order_no }).press('Enter');
  await page.getByRole('heading', { name: order_no }).waitFor();
  await content.waitFor();
  t.is(await page.locator('a.row-link').count(), 0);
  await follow(page, '/console/trade/orders');
  await page.getByRole('button', { name: 'Export', exact: true }).press('Enter');
  await entry('Export CSV').press('Enter');
  await page.getByText('Export is ready').waitFor();
  await content.waitFor();
  await page.locator('.ant-notification-notice-close').click();
  await page.getByRole('button', { name: 'Sum of amounts' }).press('Enter');
  await page.getByText(/^Total ¥/).waitFor();
  await content.waitFor();
  await page.getByRole('button', { name: /^Notifications, [1-9]/ }).press('Enter');
  const notices = page.getByRole('dialog', { name: 'Notifications' });
  await notices.getByRole('button', { name: 'Mark all read' }).press('Enter');
  await page.getByRole('button', { name: 'Notifications, 0 unread' }).waitFor();
  await notices.locator(':focus').waitFor();
  await page.keyboard.press('Escape');
  const { payment_no } = await makePayment(admin, (await makeMethod(admin)).id);
  await follow(page, `/console/trade/payments/${payment_no}`);
  await page.getByRole('button', { name: 'Get payment details' }).press('Enter');
  const drawer = page.getByRole('dialog', { name: payment_no });
  await drawer.getByRole('button', { name: 'Simulate payment' }).press('Enter');
  await drawer.getByText('Callback sent').waitFor();
  await drawer.locator(':focus').waitFor();
  await page.locator('.screen-head .tag', { hasText: 'Paid' }).waitFor();
  await page.keyboard.press('Escape');
  await content.waitFor();
  await page.getByText('admin · Place payments').waitFor();
  const refund = page.getByRole('button', { name: 'Refund', exact: true });
  await refund.first().press('Enter');
  await page.getByLabel('Reason').fill('All of it');
  await page.keyboard.press('Control+Enter');
  await refund.first().waitFor({ state: 'detached' });
  await content.waitFor();
});

journey('menus named as what every object inherits leave the console standing', async (t, page) => {
  await makeStrangeMenus();
  await page.goto('/console/access/menus');
  for (const { slug } of strange)
    await page.locator('.rows').getByText(slug, { exact: true }).first().waitFor();
  const menu = page.getByRole('navigation', { name: 'Menu' });
  // A directory with one entry is that entry, under its icon.
  const directory = menu.getByRole('menuitem', { name: 'Orders' });
  await directory.locator('.anticon-folder').waitFor();
  t.is(await menu.getByText('Strange constructor').count(), 0, 'no screen has that slug');
  await menu.getByRole('link', { name: 'Orders' }).click();
  await page.getByRole('heading', { name: 'Orders' }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Find orders' }).fill('roles');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Roles' }).waitFor();
  for (const { slug } of strange) {
    await push(page, `/console/access/${slug}`);
    await page.getByText('There is no such page').waitFor();
    await follow(page, '/console/access/roles');
  }
});

journey('the links of a list lead on from it, also while a form is open beside it', async (t, page) => {
  const { id, username } = await makeUser(own.service.admin);
  await follow(page, `/console/trade/users/new?username=${username}`);
  await page.getByRole('dialog').getByLabel('Username').waitFor();
  const create = page.locator('.screen-head a.ant-btn-primary');
  t.is(await create.getAttribute('href'), `/console/trade/users/new?username=${username}`);
  t.is(await page.locator('.rows a.row-link').first().getAttribute('href'), `/console/trade/users/${id}`);
  await push(page, '/console/trade/users/new/new');
  await page.getByText('There is no such page').waitFor();
});

journey('a link is copied where the browser closes the clipboard to pages', async (t, page) => {
  await follow(page, '/console/trade/users');
  const written = `navigator.clipboard.writeText('x').then(() => 'written', ({ name }) => name)`;
  t.is(await page.evaluate(written), 'NotAllowedError');
  t.regex(await copiedLink(page, 'Display name'), /^http:.*\/console\/trade\/users\?/);
});

journey('values named as what every object inherits are shown as they are', async (t, page) => {
  const { admin } = own.service;
  const { id } = await makeMethod(admin);
  const { payment_no } = await makePayment(admin, id, '20.00');
  await change(`UPDATE payments SET fail_reason = 'constructor', needs_attention = 1 WHERE payment_no = ?`, [
    payment_no,
  ]);
  await follow(page, '/console/trade/payments?status=toString');
  await page.locator('.rows tr', { hasText: payment_no }).getByText('constructor').waitFor();
  await follow(page, `/console/trade/payments/${payment_no}`);
  await page.getByRole('region', { name: 'Why is it not paid?' }).getByText('constructor').waitFor();
  await change(`UPDATE login_logs SET device = '__proto__'`, []);
  await follow(page, '/console/office/dashboard');
  await page.getByRole('button', { name: 'Devices, last 30 days: As a table' }).click();
  t.truthy(await page.locator('.values').innerText());
});

/** Answers a call with what the service says, changed by the test: as a service of another release may answer. */
async function changing(page: Page, path: string, alter: (data: never) => void): Promise<void> {
  await page.route(
    (url) => url.pathname === `/api/admin${path}`,
    async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { data: never };
      alter(json.data);
      await route.fulfill({ response, json });
    },
  );
}

const part = 'This part cannot be shown; the rest of the page works';

journey('a cell that cannot be shown leaves its list standing', async (t, page, complaints) => {
  const { order_no } = await makeOrder(own.service.admin, '7.00');
  await changing(page, '/orders', ({ list }: { list: { created_at: unknown }[] }) => {
    for (const row of list) row.created_at = 'once';
  });
  await follow(page, '/console/trade/orders');
  const row = page.locator('.rows tr', { hasText: order_no });
  await row.getByText('Cannot be shown').waitFor();
  await row.getByText('Pending').waitFor();
  t.true(complaints.splice(0).length > 0);
});

journey('a plot that cannot be drawn, and the menu, leave the page standing', async (t, page, complaints) => {
  await page.route('**/dashboard/stream?*', (route) => route.abort());
  await changing(page, '/dashboard/daily-sales', (days: { date: unknown }[]) => {
    for (const day of days) day.date = null;
  });
  await changing(page, '/info', ({ menus }: { menus: { title: unknown }[] }) => {
    for (const menu of menus) menu.title = { zh: '', en: '' };
  });
  // What is in the menu is asked for when the page is loaded.
  await page.goto('/console/office/dashboard');
  await page.getByRole('navigation', { name: 'Menu' }).getByText(part).waitFor();
  const plot = (title: string) => page.locator('.plot', { hasText: title });
  await plot('Sales by day').getByRole('alert').getByText(part).waitFor();
  await plot('Sales by month').locator('canvas').waitFor();
  t.true(complaints.splice(0).length > 0);
  await page.unroute('**/dashboard/stream?*');
  await plot('Sales by day').locator('canvas').waitFor();
});

journey('a drawer that cannot be shown leaves its list standing', async (t, page, complaints) => {
  const { admin } = own.service;
  const { headers } = await admin.post('/roles', { name: 'Told', slug: 'told' });
  const traceId = headers.get('X-Trace-Id');
  await until(() =>
    // What a call came to is written after it: before that it would be overwritten.
    change(`UPDATE operation_logs SET changes = '[null]' WHERE trace_id = ? AND duration_ms > 0`, [traceId]),
  );
  // Loaded anew, it remembers no administrator.
  await page.goto(`/console/logs/operation-logs?trace_id=${traceId}`);
  await page.locator('a.row-link').first().click();
  await page.getByRole('dialog').getByText('/api/admin/roles').first().waitFor();
  await page.getByRole('dialog').getByRole('alert').getByText(part).waitFor();
  t.true(complaints.splice(0).length > 0);
  await changing(page, '/admins/1', (row: { roles: unknown }) => {
    row.roles = null;
  });
  await follow(page, '/console/access/admins/1/edit');
  await page.getByRole('alert').getByText(part).waitFor();
  await page.locator('.rows tr', { hasText: 'admin' }).first().waitFor();
  t.true(complaints.splice(0).length > 0);
});
