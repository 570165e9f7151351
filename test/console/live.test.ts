// What changes while a page is open: notifications, somebody else's changes, a network or a service that is gone for a while;
// and how pages of others read the streams and the documentation.
import '../support/settings/environment.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { Queue } from 'bullmq';
import type { Page } from 'playwright-core';
import { closeConnection, openConnection } from '../../src/lib/redis/connection.js';
import { consoleTest } from '../support/console/console-test.js';
import { makeAdmin, makeOrder, makeRole, makeUser, signedInWith, unique } from '../support/factories.js';
import { startGateway } from '../support/servers/gateway.js';
import {
  chooseEntry,
  enter,
  follow,
  hold,
  inaccessible,
  leaveScreen,
  nowhere,
  openPage,
} from '../support/console/pages.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { selectRow } from '../support/rows.js';
import { openSocket, ticketOf } from '../support/socket.js';

const own = consoleTest();
const { journey, freshJourney } = own;

let foreign: { api: TestProcess; page: string };
const pages = createServer((_, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>admin</title>');
});

test.serial.before(async () => {
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const page = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  foreign = { page, api: await startApi({ CORS_ORIGINS: page, LOG_LEVEL: 'warn' }) };
});
test.after.always(() => pages.close());
test.after.always(killProcesses);

journey('a new notification appears by itself', async (t, page) => {
  await page.locator('.live.on').waitFor();
  await own.service.admin.post('/notifications', { title: 'Stocktaking tonight', content: 'From 22:00' });
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).click();
  await page.getByRole('button', { name: /Stocktaking tonight/ }).click();
  await page.getByRole('button', { name: 'Notifications, 0 unread', includeHidden: true }).waitFor();
  t.is((await own.service.admin.get('/notifications/unread-count')).data.count, 0);
  await page.keyboard.press('Escape');
});

journey('a notification leads to the payment it names', async (t, page) => {
  const payment = await own.makeFlagged();
  await page.getByRole('button', { name: /Notifications, [1-9]/ }).click();
  const link = page.getByRole('dialog').getByRole('link', { name: payment.payment_no });
  await link.waitFor();
  t.deepEqual(await inaccessible(page), []);
  await link.click();
  await page.getByRole('heading', { name: payment.payment_no }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await follow(page, '/console/office/notifications');
  await page.locator('.rows').getByRole('link', { name: payment.payment_no }).waitFor();
  t.is((await own.service.admin.get('/notifications/unread-count')).data.count, 0);
});

journey('who signs in appears among the online administrators without a reload', async (t, page) => {
  await follow(page, '/console/access/online-admins');
  await page.locator('.rows').getByText('This session').waitFor();
  await page.locator('.live.on').waitFor();
  const account = await makeAdmin(own.service.admin);
  const row = page.locator('.rows .cell-code', { hasText: account.username });
  t.is(await row.count(), 0);
  await own.service.anonymous.signIn(account);
  await row.waitFor();
});

journey('an offline page keeps its rows and refreshes by itself', async (t, page) => {
  const first = await makeOrder(own.service.admin);
  await follow(page, '/console/trade/orders');
  await page.locator('a.row-link', { hasText: first.order_no }).waitFor();
  await page.locator('.live.on').waitFor();
  await page.context().setOffline(true);
  const second = await makeOrder(own.service.admin);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('alert').getByText('The service cannot be reached').first().waitFor();
  t.is(await page.locator('a.row-link', { hasText: first.order_no }).count(), 1);
  await page.context().setOffline(false);
  await page.locator('a.row-link', { hasText: second.order_no }).waitFor();
  await page.getByRole('alert').first().waitFor({ state: 'detached' });
});

journey('a page that is loaded while the service is away says so until it answers', async (t, page) => {
  const address = '**/api/admin/info';
  const { asked, go } = await hold(page, address, 'GET');
  await page.route(address, (route) => route.fulfill({ status: 503 }), { times: 1 });
  await page.reload();
  const notice = page.getByText('The service is not responding');
  await notice.waitFor();
  await asked;
  t.true(await notice.isVisible());
  go();
  await page.locator('#content').waitFor();
});

journey('a lost connection that closes late does not hide its successor', async (t, page) => {
  const closings: (() => Promise<void>)[] = [];
  await page.routeWebSocket(/notifications/, (socket) => {
    socket.connectToServer();
    // A peer that is gone answers no closing frame.
    socket.onClose(() => void closings.push(() => socket.close()));
  });
  await page.reload();
  await page.locator('.live.on').waitFor();
  await page.context().setOffline(true);
  await page.locator('.live:not(.on)').waitFor();
  await page.context().setOffline(false);
  await page.locator('.live.on').waitFor();
  for (const close of closings) await close();
  t.is(await page.locator('.live.on').count(), 1);
});

journey('the monitor reads what came before the visit once', async (t, page) => {
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/system-info/history')) asked += 1;
  });
  await follow(page, '/console/office/monitor');
  await page.locator('.canvas').first().waitFor();
  await page.locator('.live.on').waitFor();
  await page.context().setOffline(true);
  await page.locator('.live:not(.on)').waitFor();
  const again = page.waitForResponse(/notifications\/recent/);
  await page.context().setOffline(false);
  await page.locator('.live.on').waitFor();
  await again;
  t.is(asked, 1);
});

/** Answers 500 to what has that part in its address. */
const refuseIn = (page: Page) => (part: string) =>
  page.route(
    (url) => url.href.includes(part),
    (route) => route.fulfill({ status: 500, json: { code: 50000, message: `no ${part}`, data: null } }),
  );

journey('notices, a sum, choices, hits, figures and queues that cannot be had say why', async (t, page) => {
  const refuse = refuseIn(page);
  const said = (part: string) => page.getByText(`no ${part}`).first().waitFor();
  await own.service.admin.post('/notifications', { title: 'Read later', content: 'Much later' });
  await follow(page, '/console/trade/orders');
  await refuse('read-all');
  await page.getByRole('button', { name: /Notifications, [1-9]/ }).click();
  await page.getByRole('button', { name: 'Mark all read' }).click();
  await said('read-all');
  await page.keyboard.press('Escape');
  await refuse('with_sum');
  await page.getByRole('button', { name: 'Sum of amounts' }).click();
  await said('with_sum');
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Sum of amounts' }).click();
  await page.getByText(/^Total ¥/).waitFor();
  await refuse('type=admin');
  await follow(page, '/console/office/notifications/new');
  await page.getByRole('dialog').getByLabel('Recipients').click();
  await said('type=admin');
  await refuse('system-info');
  await follow(page, '/console/office/monitor');
  await said('system-info');
  await refuse('admin/queues');
  await follow(page, '/console/office/queues');
  await said('admin/queues');
  await refuse('/search?');
  await page.keyboard.press('/');
  const box = page.getByRole('combobox', { name: 'Find orders' });
  await box.fill('no such record');
  await said('/search?');
  const nothing = page.getByText('Nothing found in what you may open');
  t.is(await nothing.count(), 0);
  await page.unrouteAll();
  await box.fill('no such record either');
  await nothing.waitFor();
  await page.keyboard.press('Escape');
});

freshJourney('a part of a page that cannot be had is asked for again on demand', async (t, page) => {
  const { admin } = own.service;
  const { account } = await signedInWith(admin, []);
  const { id: user_id } = await makeUser(admin);
  const { order_no } = await makeOrder(admin, '12.30', { user_id });
  // No message of a change has anything asked for again.
  await page.routeWebSocket('**', () => undefined);
  await enter(page, { at: nowhere });
  const refuse = refuseIn(page);
  for (const [address, parts] of [
    [`trade/users/${user_id}`, ['/orders?', '/payments?', '/user-balance-logs?', '/operation-logs?record']],
    [`trade/orders/${order_no}`, ['/payments?', '/operation-logs?record']],
    [
      `access/admins/${account?.id}`,
      ['/online-admins?', '/login-logs?', '/operation-logs?admin_id', '/operation-logs?record'],
    ],
    ['access/roles/1', ['/admins?']],
    ['access/roles/new', ['/permissions?', '/menus']],
    [
      'office/dashboard',
      ['/payments?needs_attention', '/refunds?needs_attention', '/refunds?status=waiting'],
    ],
  ] as const) {
    for (const part of parts) await refuse(part);
    await follow(page, `/console/${address}`);
    for (const part of parts) await page.getByRole('alert').getByText(`no ${part}`).waitFor();
    await page.unrouteAll();
    await page.evaluate(`document.querySelector('.screen').setAttribute('data-same', '')`);
    const alerts = page.getByRole('alert');
    t.is(await alerts.getByRole('button', { name: 'Try again' }).count(), parts.length, address);
    for (const part of parts) {
      const own = alerts.filter({ hasText: `no ${part}` });
      await own.getByRole('button', { name: 'Try again' }).click();
      await own.waitFor({ state: 'detached' });
    }
    t.is(await alerts.count(), 0);
    t.is(await page.locator('.screen[data-same]').count(), 1, 'the rest stays as it is');
    await leaveScreen(page);
  }
});

journey('an entry that somebody else makes is shown with its type, which is new as well', async (t, page) => {
  await follow(page, '/console/office/dictionaries');
  await page.locator('[data-resource=dictionaries][aria-busy=false]').waitFor();
  await page.locator('.live.on').waitFor();
  const made = async (name: string, more: object = {}) =>
    (await own.service.admin.post('/dictionaries', { name, code: unique('code'), ...more })).data.id;
  const [type, entry] = [unique('Type'), unique('Entry')];
  await made(entry, { parent_id: await made(type) });
  const row = page.locator('.rows tr', { has: page.getByText(entry, { exact: true }) });
  await row.waitFor();
  await row.getByText(type, { exact: true }).waitFor();
  t.pass();
});

journey('permissions that somebody else gives a role are not shown as chosen here', async (t, page) => {
  const { admin } = own.service;
  const role = await makeRole(admin, ['order.index', 'order.show']);
  await follow(page, `/console/access/roles/${role.id}/edit`);
  const form = page.getByRole('dialog');
  await form.getByRole('tree', { name: 'Permissions' }).waitFor();
  await form.getByText('2 chosen').waitFor();
  const more = (await admin.get('/permissions?slug=order.store')).data.list[0].id;
  const { permission_ids } = (await admin.get(`/roles/${role.id}`)).data;
  await admin.put(`/roles/${role.id}`, { permission_ids: [...permission_ids, more] });
  await form.getByText('3 chosen').waitFor();
  t.is(await form.getByText('1 added').count(), 0);
  await form.locator('.ant-tree-checkbox').first().click();
  await form.getByText(/^\d added$/).waitFor();
});

journey('a tree that cannot be listed again stays, with what is chosen', async (t, page) => {
  await follow(page, '/console/access/roles/new');
  const form = page.getByRole('dialog');
  await form.locator('.ant-tree-checkbox').first().click();
  await form.getByText(/^\d+ added$/).waitFor();
  const refused = page.waitForResponse((answer) => answer.status() === 500);
  await refuseIn(page)('/permissions?');
  await page.context().setOffline(true);
  await page.locator('.live:not(.on)').waitFor();
  await page.context().setOffline(false);
  await refused;
  await page.locator('.live.on').waitFor();
  await form.getByText(/^\d+ added$/).waitFor();
  t.is(await form.getByRole('button', { name: 'Try again' }).count(), 0);
});

freshJourney('a list and a record go when their reader may see them no longer', async (t, page) => {
  const { admin } = own.service;
  const { id: user_id } = await makeUser(admin);
  const { order_no } = await makeOrder(admin, '1.00', { user_id });
  const { id: listing } = await makeRole(admin, ['order.index']);
  const { account } = await signedInWith(admin, ['order.show', 'user.show']);
  const allow = (role_ids: number[]) => admin.put(`/admins/${account?.id}`, { role_ids });
  const denied = page.locator('.screen').getByText('You have no permission for this page');
  await enter(page, { at: nowhere, ...account });
  for (const address of [`trade/users/${user_id}`, `trade/orders/${order_no}`]) {
    await follow(page, `/console/${address}`);
    const facts = await page.locator('.screen .panel', { has: page.locator('.facts') }).boundingBox();
    const whole = await page.locator('.screen .two').boundingBox();
    t.is(facts?.width, whole?.width, `${address}: with nothing beside it, it has the whole width`);
  }
  await page.getByRole('heading', { name: 'Lines' }).waitFor();
  await allow([]);
  await denied.waitFor();
  t.is(await page.locator('.panel').count(), 0);

  await allow([listing]);
  await follow(page, '/console/trade/orders');
  await page.locator('.rows').getByText('Pending').first().waitFor();
  await allow([]);
  await denied.waitFor();
  t.is(await page.locator('.rows tbody tr').count(), 0);
});

freshJourney('a page that misses what others change takes nothing of it back', async (t, page) => {
  const { admin } = own.service;
  const form = page.getByRole('dialog');
  await page.routeWebSocket(/.*/, (socket) => socket.close());

  const payment = await own.makeFlagged();
  const other = await makeAdmin(admin, [1]);
  const assignee = page.locator('.facts', { hasText: 'Assignee' });
  await enter(page, { at: `/console/trade/payments/${payment.payment_no}` });
  await page.getByRole('button', { name: 'Assign to me' }).waitFor();
  await admin.put(`/payments/${payment.payment_no}`, { assignee_id: other.id });
  await page.getByRole('button', { name: 'Assign to me' }).click();
  await page.locator('.ant-modal-confirm-title', { hasText: 'Assignee has just been changed' }).waitFor();
  await form.getByRole('button', { name: 'OK' }).click();
  await assignee.getByText(other.username).waitFor();
  await page.getByRole('button', { name: 'Assign to me' }).click();
  await assignee.getByText('admin', { exact: true }).waitFor();

  const { id } = await makeUser(admin, { nickname: 'Before', email: 'before@example.com' });
  await follow(page, `/console/trade/users/${id}/edit`);
  await form.getByLabel('Display name').fill('Mine');
  await admin.put(`/users/${id}`, { email: 'theirs@example.com' });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  t.like(await selectRow('SELECT nickname, email FROM users WHERE id = ?', [id]), {
    nickname: 'Mine',
    email: 'theirs@example.com',
  });
  // Nor does its draft.
  await page.goto(`/console/trade/users/${id}/edit`);
  await form.getByLabel('Display name').fill('Mine again');
  await admin.put(`/users/${id}`, { email: 'later@example.com' });
  await page.route('**/api/admin/users/*', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.fallback(),
  );
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await page.reload();
  await form.getByText('Your unsaved changes are back').waitFor();
  t.is(await form.getByLabel('Display name').inputValue(), 'Mine again');
  t.is(await form.getByLabel('Email').inputValue(), 'later@example.com');

  const { order_no } = await makeOrder(admin);
  const noteNow = () => selectRow('SELECT remark FROM orders WHERE order_no = ?', [order_no]);
  await follow(page, `/console/trade/orders/${order_no}`);
  await page.getByRole('button', { name: 'Edit note' }).click();
  await form.getByLabel('Note').fill('Mine');
  await admin.put(`/orders/${order_no}`, { remark: 'Theirs' });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText(/Someone else has just changed Note/).waitFor();
  t.like(await noteNow(), { remark: 'Theirs' });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  t.like(await noteNow(), { remark: 'Mine' }, 'unless it is meant');

  // What it deletes itself it asks for no more: a message of the change may come before the answer.
  const user = await makeUser(admin);
  await follow(page, `/console/trade/users/${user.id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.locator('.ant-modal-confirm').getByRole('button', { name: 'Delete' }).click();
  await page.locator('[data-resource=users][aria-busy=false]').waitFor();
  const [path, list] = [`/api/admin/users/${user.id}`, '/api/admin/users'];
  t.true(asked.includes(`DELETE ${path}`) && asked.includes(`GET ${list}`));
  t.false(asked.includes(`GET ${path}`));

  const clerk = await signedInWith(admin, ['payment.index', 'payment.update']);
  await enter(page, { at: '/console/trade/payments', ...clerk.account });
  await chooseEntry(page, `Actions ${payment.payment_no}`, 'Assign to me');
  await page.getByText('Done', { exact: true }).waitFor();
  const { data: taken } = await admin.get(`/payments/${payment.payment_no}`);
  t.is(taken.assignee?.username, clerk.account?.username, 'who may not show a payment needs not to do so');
});

journey('a tab that gave way to newer ones is live again when somebody looks at it', async (t, page) => {
  await follow(page, '/console/trade/orders');
  await page.locator('.live.on').waitFor();
  // An administrator's oldest socket gives way to the eleventh: the one of the page.
  for (let count = 0; count < 10; count++)
    await openSocket(own.service.url, await ticketOf(own.service.admin));
  await page.getByRole('status', { name: /^Too many tabs are open: live updates wait/ }).waitFor();
  await t.throwsAsync(page.waitForEvent('websocket', { timeout: 2500 }), undefined, 'it drives out no other');
  await page.evaluate(`dispatchEvent(new Event('focus'))`);
  await page.locator('.live.on').waitFor();
  const order = await makeOrder(own.service.admin);
  await page.locator('a.row-link', { hasText: order.order_no }).waitFor();
  t.like(await selectRow('SELECT status FROM orders WHERE order_no = ?', [order.order_no]), {
    status: 'pending',
  });
});

journey('neither a concurrent change nor a lost network discards the edits of a form', async (t, page) => {
  const { id } = await makeUser(own.service.admin, { nickname: 'Before', email: 'before@example.com' });
  await follow(page, `/console/trade/users/${id}/edit`);
  const form = page.getByRole('dialog');
  await form.getByLabel('Display name').fill('Mine');
  await own.service.admin.put(`/users/${id}`, { nickname: 'Theirs', email: 'theirs@example.com' });
  await page.locator('input[value="theirs@example.com"]').waitFor();
  t.is(await form.getByLabel('Display name').inputValue(), 'Mine');
  await form
    .getByRole('alert')
    .getByText(/Someone else has just changed Display name/)
    .waitFor();
  await page.context().setOffline(true);
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').getByText('The service cannot be reached').waitFor();
  t.is(await form.getByLabel('Display name').inputValue(), 'Mine', 'nor does a network that is lost');
  await page.context().setOffline(false);
  const saved = async () => {
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    return selectRow('SELECT nickname, email FROM users WHERE id = ?', [id]);
  };
  t.like(await saved(), { nickname: 'Mine', email: 'theirs@example.com' });

  await leaveScreen(page);
  await follow(page, `/console/trade/users/${id}/edit`);
  await form.getByLabel('Display name').fill('Mine again');
  await form.getByLabel('Email').fill('mine@example.com');
  await own.service.admin.put(`/users/${id}`, { nickname: 'Theirs again' });
  await form.getByRole('button', { name: 'Use their change' }).click();
  t.is(await form.getByLabel('Display name').inputValue(), 'Theirs again');
  t.is(await form.getByLabel('Email').inputValue(), 'mine@example.com');
  t.like(await saved(), { nickname: 'Theirs again', email: 'mine@example.com' }, 'in its own fields alone');
});

journey('moves of the menu leave what somebody else moves and adds meanwhile', async (t, page) => {
  const { admin } = own.service;
  const [moved, other] = [unique('m'), unique('m')];
  const entry = async (slug: string, parent_id: number): Promise<number> =>
    (await admin.post('/menus', { title: slug, slug, type: 2, parent_id, path: `/${slug}`, sort: 9 })).data
      .id;
  const directory = await entry(unique('m'), 0);
  const id = await entry(moved, directory);
  const otherId = await entry(other, directory);
  await follow(page, '/console/access/menus/order');
  await page.getByRole('treeitem', { name: moved }).getByText(moved).click();
  await page.getByRole('button', { name: 'Down' }).click();
  await page.getByText(/will change/).waitFor();
  await admin.put(`/menus/${otherId}`, { parent_id: 0 });
  const added = unique('m');
  await entry(added, directory);
  await page.getByRole('treeitem', { name: added }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Menu saved').waitFor();
  const parentOf = async (one: number) =>
    (await selectRow<{ parent_id: number | null }>('SELECT parent_id FROM menus WHERE id = ?', [one]))
      .parent_id;
  t.is((await parentOf(otherId)) ?? 0, 0);
  t.is(await parentOf(id), directory);
});

journey('a form opened from a row stays when its row leaves the page', async (t, page) => {
  const { admin } = own.service;
  const first = await makeOrder(admin);
  // So that the first one is the last of its page.
  for (let count = 1; count < 20; count++) await makeOrder(admin);
  await follow(page, '/console/trade/orders');
  await chooseEntry(page, `Actions ${first.order_no}`, 'Edit note');
  const form = page.getByRole('dialog');
  await form.getByLabel('Note').fill('Deliver on Monday');
  await makeOrder(admin);
  await page.locator('a.row-link', { hasText: first.order_no }).waitFor({ state: 'detached' });
  await form.getByText(`Edit note · ${first.order_no}`).waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  t.like(await selectRow('SELECT remark FROM orders WHERE order_no = ?', [first.order_no]), {
    remark: 'Deliver on Monday',
  });
});

// The page's own scripts: they run in the browser, not here.
const readTwo = (url: string, type: string): string => `new Promise((resolve, reject) => {
  const seen = [];
  const source = new EventSource(${JSON.stringify(url)});
  source.onmessage = ({ data }) => {
    seen.push(JSON.parse(data).type);
    if (seen.filter((one) => one === ${JSON.stringify(type)}).length < 2) return;
    source.close();
    resolve(seen);
  };
  source.onerror = () => reject(new Error('the stream failed'));
})`;

const openSocketScript = (url: string): string => `{
  var received = [], opened = false, code;
  const socket = new WebSocket(${JSON.stringify(url)});
  socket.onopen = () => (opened = true);
  socket.onmessage = ({ data }) => received.push(JSON.parse(data));
  socket.onclose = (event) => (code = event.code);
}`;

test.serial('an EventSource with a ticket reads the dashboard and the monitor', async (t) => {
  const page = await own.browser.newPage();
  await page.goto(foreign.page);
  for (const [path, type] of [
    ['/dashboard/stream?interval=2', 'dashboard_data'],
    ['/monitor/system-info/stream?interval=1', 'system_info'],
  ]) {
    const url = `${foreign.api.url}/api/admin${path}&ticket=${await ticketOf(own.service.admin)}`;
    const types = await page.evaluate<string[]>(readTwo(url, type as string));
    t.deepEqual(types, ['connected', type, type]);
  }
});

test.serial('a WebSocket with a ticket receives a notification', async (t) => {
  const page = await own.browser.newPage();
  await page.goto(foreign.page);
  const other = await own.service.anonymous.signIn();
  const url = `${foreign.api.url.replace('http', 'ws')}/ws/admin/notifications?ticket=${await ticketOf(other)}`;
  await page.evaluate(openSocketScript(url));
  await page.waitForFunction('opened');
  await own.service.admin.post('/notifications', { title: 'hello browser', content: 'x' });
  const frame = `received.find(({ type }) => type === 'notification')`;
  await page.waitForFunction(frame);
  t.is(await page.evaluate<string>(`${frame}.data.title`), 'hello browser');
  await other.post('/logout');
  await page.waitForFunction('code !== undefined');
  t.is(await page.evaluate<number>('code'), 4401);
});

test.serial('jobs that wait while none runs are named', async (t) => {
  // An API whose queues have no worker.
  const prefix = unique('idle');
  const { url } = await startApi({ REDIS_PREFIX: prefix, LOG_LEVEL: 'warn' });
  const connection = openConnection('test', {});
  const queue = new Queue('exports', { prefix: `{${prefix}-exports}`, connection });
  await queue.add('export', {}, { timestamp: Date.now() - 120_000 });
  await queue.add('export', {}, { delay: 600_000 });
  const { page } = await openPage(own.browser, url);
  for (const screen of ['queues', 'monitor']) {
    await enter(page, { at: `/console/office/${screen}` });
    await page.getByRole('alert').getByText('and none runs: Exports').waitFor();
  }
  await follow(page, '/console/office/queues');
  await page.locator('.card', { hasText: /Exports\s*2 jobs.*delayed 1/ }).waitFor();
  await queue.obliterate({ force: true });
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.context().close();
  await queue.close();
  closeConnection(connection);
  t.pass();
});

test.serial('the documentation page calls an operation without foreign requests', async (t) => {
  const page = await own.browser.newPage({ locale: 'en-US', viewport: { width: 360, height: 700 } });
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(foreign.api.url) && !request.url().startsWith('data:'))
      complaints.push(request.url());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => (window.violations ??= []).push(event.violatedDirective));`,
  );
  await page.goto(`${foreign.api.url}/docs`, { timeout: 60_000 });
  const filter = page.getByPlaceholder('Filter by tag');
  await page.locator('#operations-tag-Orders').waitFor({ timeout: 60_000 });
  await filter.fill('/callbacks/{id}/replay');
  await page.locator('.opblock-tag').nth(1).waitFor({ state: 'detached' });
  await page.locator('#operations-tag-Payments').click();
  await page.locator('.opblock', { hasText: '/callbacks/{id}/replay' }).waitFor();
  t.is(await page.locator('.opblock').count(), 1);

  const { data } = await own.service.anonymous.post('/login', { username: 'admin', password: 'admin123' });
  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.locator('.auth-container input').fill(data.token);
  await page.getByRole('button', { name: 'Apply credentials' }).click();
  await page.getByRole('button', { name: 'Close' }).last().click();
  const kept = () => page.evaluate<string>("localStorage.getItem('authorized')");
  t.true((await kept()).includes(data.token), 'the next visit needs no second sign-in');

  await filter.fill('/api/admin/info');
  await page.locator('.opblock-tag').nth(1).waitFor({ state: 'detached' });
  await page.locator('#operations-tag-Own_account').click();
  const info = page.locator('.opblock', { hasText: '/api/admin/info' }).first();
  await info.locator('.opblock-summary-control').click();
  await info.locator('.try-out__btn').click();
  await info.locator('.execute').click();
  const answer = info.locator('.live-responses-table');
  await answer.locator('.response-col_status').last().waitFor();
  t.regex(await answer.innerText(), /"username": "admin"/);
  const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
  t.true(widest <= 360, `${widest} px wide`);

  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.getByRole('button', { name: 'Remove authorization' }).click();
  t.is(await kept(), '{}');
  t.deepEqual(await page.evaluate('window.violations ?? []'), []);
  t.is(await page.locator('.errors-wrapper').count(), 0);
  t.deepEqual(complaints, []);
});

// The last one: it ends the API.
const usersNamed = async (name: string): Promise<number> =>
  (await selectRow<{ count: number }>('SELECT COUNT(*) AS count FROM users WHERE username = ?', [name]))
    .count;

freshJourney(
  'while a proxy answers 502 the page says so and keeps its rows and what is typed; then all continues by itself',
  async (t) => {
    const { api } = foreign;
    const gateway = await startGateway(api.url);
    const { page, complaints, log } = await openPage(own.browser, gateway.url);
    const banner = page.getByText('The service is not responding; this page continues as soon as it does');
    const form = page.getByRole('dialog');
    try {
      const known = await makeUser(own.service.admin);
      await enter(page, { at: '/console/trade/users' });
      const row = page.locator('a.row-link', { hasText: known.username });
      await row.waitFor();
      await page.getByRole('link', { name: /^New/ }).click();
      await form.getByLabel('Username').fill('restarted_buyer');

      await api.kill();
      await banner.waitFor();
      t.is(await row.count(), 1, 'what was there stays');
      await form.getByLabel('Display name').fill('李雷');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByRole('alert').getByText('Nothing is lost: try again in a moment (502)').waitFor();
      t.is(await form.getByLabel('Username').inputValue(), 'restarted_buyer');
      t.is(await usersNamed('restarted_buyer'), 0);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Keep editing' }).click();
      t.is(await form.getByLabel('Display name').inputValue(), '李雷');

      await startApi({ PORT: new URL(api.url).port, LOG_LEVEL: 'warn' });
      await banner.waitFor({ state: 'detached' });
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      t.is(await usersNamed('restarted_buyer'), 1);
      await page.getByRole('heading', { name: 'restarted_buyer' }).waitFor();
      await page.locator('.live.on').waitFor();
      t.deepEqual(complaints, []);
    } catch (error) {
      t.log(`kept in ${await log.keep('restart', error)}`);
      throw error;
    } finally {
      await page.context().close();
      gateway.close();
    }
  },
);
