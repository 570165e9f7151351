// What somebody does all day: find anything, work through a queue, keep several tabs, come back to a view.
import '../support/settings/environment.js';
import '../support/settings/open-results.js';
import type { Page } from 'playwright-core';
import { insert, select } from '../../src/lib/database/db.js';
import { consoleTest } from '../support/console/console-test.js';
import {
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeRole,
  makeUser,
  signedInWith,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { alipayConfig, merchantKeys } from '../support/companies/merchant.js';
import {
  chooseEntry,
  beyondTable,
  choose,
  enter,
  follow,
  hold,
  inaccessible,
  leaveScreen,
  signIn,
  push,
} from '../support/console/pages.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
const { journey, freshJourney } = own;

async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find orders' }).fill(text);
  await page.keyboard.press('Enter');
}

journey('one box finds orders, payments, users, administrators and traces by keyboard', async (t, page) => {
  const { admin } = own.service;
  const payment = await makePayment(admin, (await makeMethod(admin)).id);
  const username = unique('finder');
  const { id } = await makeUser(admin, { username, phone: '13900001111' });
  await follow(page, '/console/trade/users');
  const heading = (name: string) => page.getByRole('heading', { name }).waitFor();
  await find(page, payment.order_no);
  await heading(payment.order_no);
  await find(page, payment.payment_no);
  await heading(payment.payment_no);
  t.is(await page.getByText('The order does not exist').count(), 0);
  await find(page, payment.order_no.slice(-9));
  await heading(payment.order_no);
  // As it stands in a letter, and as a list shows it.
  await find(page, ` ${payment.payment_no.slice(0, 11)} ${payment.payment_no.slice(11)} `);
  await heading(payment.payment_no);
  await find(page, `…${payment.order_no.slice(-9)}`);
  await heading(payment.order_no);
  await follow(page, `/console/trade/orders?order_no=${payment.order_no.replace('ORD2026', 'ORD 2026 ')}`);
  await page.locator('a.row-link', { hasText: payment.order_no }).waitFor();
  await find(page, '13900001111');
  await heading(username);
  t.regex(page.url(), new RegExp(`/trade/users/${id}$`));
  // An arrow pressed before the answer changes nothing.
  const { order_no } = await makeOrder(admin);
  const { asked, go } = await hold(page, '**/api/admin/search?*', 'GET');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find orders' }).fill(order_no);
  await asked;
  await page.keyboard.press('ArrowDown');
  go();
  await page.getByRole('option', { name: order_no }).waitFor();
  await page.keyboard.press('Enter');
  await heading(order_no);
  await page.unrouteAll();
  const colleague = await makeAdmin(admin);
  await find(page, colleague.username);
  await page.getByText('Latest sign-ins').waitFor();
  const { headers } = await admin.put(`/users/${id}`, { nickname: 'Found', status: 0 });
  await find(page, headers.get('X-Trace-Id') ?? '');
  await page.waitForURL(/operation-logs\?trace_id=/);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('a.row-link', { hasText: 'Change users' }).click();
  await page.getByRole('row', { name: 'Status Enabled Disabled' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.getByText('Recently opened').waitFor();
  const recent = page.getByRole('option', { name: `${payment.order_no} · Order` });
  await recent.waitFor();
  t.is(await recent.getAttribute('aria-selected'), 'false');
  for (let steps = 0; steps < 8 && (await recent.getAttribute('aria-selected')) === 'false'; steps++)
    await page.keyboard.press('ArrowDown');
  const isSaid = `document.activeElement.getAttribute('aria-activedescendant') === document.querySelector('[aria-selected=true]').id`;
  t.true(await page.evaluate<boolean>(isSaid), 'what the arrows choose is said');
  // Safari says by the code only that the key was taken.
  for (const taken of ['isComposing: true', 'keyCode: 229'])
    await page.evaluate(
      `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ${taken}, bubbles: true }))`,
    );
  t.is(await page.getByRole('dialog').count(), 1, 'Enter belongs to an input method that is at work');
  t.deepEqual(await inaccessible(page), []);
  await page.keyboard.press('Escape');
});

journey('the arrow of a record leads where it says', async (_, page) => {
  const { admin } = own.service;
  const { order_no, payment_no } = await makePayment(admin, (await makeMethod(admin)).id);
  await follow(page, `/console/trade/orders/${order_no}`);
  await page.getByRole('link', { name: 'Back to the list' }).waitFor();
  await page.locator('.latest').getByRole('link', { name: payment_no }).click();
  await page.getByRole('heading', { name: payment_no }).waitFor();
  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await page.getByRole('heading', { name: order_no }).waitFor();
});

journey('a screen that is not loaded opens when the network is back', async (t, page, complaints) => {
  await follow(page, '/console/trade/orders');
  await page.locator('[data-resource=orders][aria-busy=false]').waitFor();
  await page.context().setOffline(true);
  await push(page, '/console/access/departments');
  await page.getByText('You are offline. This page opens by itself').waitFor();
  await page.context().setOffline(false);
  await page.getByRole('heading', { name: 'Departments' }).waitFor();
  t.regex(page.url(), /departments$/);
  complaints.splice(0);
});

freshJourney(
  'what a release has replaced is loaded anew after a sign-in and with another language',
  async (t, page, complaints) => {
    let replaced: RegExp | undefined = /assets\/shell-.*\.js$/;
    let refused = 0;
    await page.route(/assets\/.*\.js$/, (route) => {
      if (!replaced?.test(route.request().url())) return route.continue();
      refused += 1;
      return route.fulfill({ status: 404, body: 'gone' });
    });
    await page.goto('/console/trade/orders');
    // Until the page is loaded anew it asks for files that are there no longer.
    page.on('request', (request) => {
      if (request.isNavigationRequest()) replaced = undefined;
    });
    await signIn(page);
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    t.true(refused > 0);
    refused = 0;
    replaced = /assets\/zh_CN-.*\.js$/;
    // Another time: it does not reload twice at once.
    await page.evaluate(`sessionStorage.removeItem('console.reloaded')`);
    await chooseEntry(page, /^Account/, 'Language', '简体中文');
    await page.getByRole('heading', { name: '订单' }).waitFor();
    t.true(refused > 0);
    complaints.splice(0);
  },
);

journey('a screen whose files a release has replaced is reloaded once', async (t, page, complaints) => {
  await follow(page, '/console/trade/orders');
  await page.locator('[data-resource=orders][aria-busy=false]').waitFor();
  // Until the page is loaded anew it asks for files that are there no longer.
  let isOld = true;
  let refused = 0;
  page.on('load', () => (isOld = false));
  await page.route(/assets\/dictionaries-.*\.js$/, (route) => {
    if (!isOld) return route.continue();
    refused += 1;
    return route.fulfill({ status: 404, body: 'gone' });
  });
  await push(page, '/console/office/dictionaries');
  await page.getByRole('heading', { name: 'Dictionaries' }).waitFor();
  t.true(refused > 0);
  t.false(isOld);
  complaints.splice(0);
});

journey(
  'payments that need attention are handled several at once, and one after the other',
  async (t, page, complaints) => {
    const { id } = await makeMethod(own.service.admin);
    const made: MadePayment[] = [];
    for (const price of ['1.00', '2.00', '3.00', '4.00']) made.push(await own.makeFlagged(id, price));
    await follow(page, '/console/trade/payments?needs_attention=true');
    const row = ({ payment_no }: MadePayment) => page.locator('.rows tr', { hasText: payment_no });
    await row(made[0] as MadePayment)
      .getByText(made[0]?.order_no ?? '')
      .waitFor();
    const tick = (payment?: MadePayment) =>
      row(payment as MadePayment)
        .getByRole('checkbox')
        .check();
    await tick(made[0]);
    await tick(made[1]);
    await page.getByRole('button', { name: 'Assign to me (2)' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Assign to me (2)' }).click();
    await page.getByText('2 done').waitFor();
    const { assigned } = await selectRow<{ assigned: number }>(
      `SELECT COUNT(*) AS assigned FROM payments p JOIN admins a ON a.id = p.assignee_id WHERE a.username = 'admin'`,
    );
    t.is(assigned, 2);
    await page.getByText('2 done').waitFor({ state: 'hidden' });
    await tick(made[0]);
    await tick(made[1]);
    await page.getByRole('button', { name: 'Mark as handled (2)' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Note').fill('Refunded at the channel');
    // As they do when others fill the list.
    await push(page, '?needs_attention=false');
    await row(made[0] as MadePayment).waitFor({ state: 'detached' });
    await push(page, '?needs_attention=true');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await page.route(/\/payments\/PAY/, (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await drawer.getByRole('button', { name: 'Mark as handled (2)' }).click();
    const refusals = drawer.getByRole('alert').filter({ hasText: '0 done · 2 refused' });
    await refusals.getByText(made[0]?.payment_no ?? '').waitFor();
    await page.unrouteAll();
    complaints.splice(0);
    t.is(await drawer.getByLabel('Note').inputValue(), 'Refunded at the channel');
    await drawer.getByRole('button', { name: 'Mark as handled (2)' }).click();
    await page.getByText('2 done').waitFor();
    const { handled } = await selectRow<{ handled: number }>(
      `SELECT COUNT(*) AS handled FROM payments WHERE needs_attention = 0 AND remark = 'Refunded at the channel'`,
    );
    t.is(handled, 2);
    await page.locator('a.row-link', { hasText: made[3]?.payment_no }).click();
    const queue = page.getByRole('group', { name: 'Payments that need attention' });
    await queue.getByText('1 of 2 that need attention').waitFor();
    await page.getByRole('link', { name: 'Next that needs attention' }).click();
    await page.getByRole('heading', { name: made[2]?.payment_no }).waitFor();
    await page.getByText('2 of 2 that need attention').waitFor();
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.locator('.facts', { hasText: 'Assignee' }).getByText('admin').waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    await page.getByRole('button', { name: 'Assign to me' }).waitFor();
    await page.getByRole('button', { name: 'Mark as handled' }).click();
    await drawer.getByLabel('Note').fill('Settled by hand');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await queue.getByText('1 more needs attention').waitFor();
    await page.getByRole('link', { name: 'Previous that needs attention' }).click();
    await queue.getByText('1 of 1 that needs attention').waitFor();
    await page.getByRole('link', { name: 'Back', exact: true }).click();
    await page.waitForURL(/payments\?needs_attention=true$/);
  },
);

journey(
  'the answer of the channel is put in words, and one that fails is not taken for the service',
  async (t, page) => {
    const payment = await makePayment(own.service.admin, (await makeMethod(own.service.admin)).id, '12.50');
    await follow(page, `/console/trade/payments/${payment.payment_no}`);
    await page.getByRole('button', { name: 'Query the channel' }).click();
    const answer = page.getByRole('status', { name: 'Channel’s answer' });
    await answer.getByText('¥12.50').waitFor();
    await answer.getByText('Pending').waitFor();
    await answer.getByText('Matches our records').waitFor();
    t.is(await page.locator('pre').count(), 0);
    const { username } = (await own.service.admin.get(`/payments/${payment.payment_no}`)).data.user;
    await page.getByRole('link', { name: username }).waitFor();
    await page.route('**/query', (route) =>
      route.fulfill({
        status: 502,
        headers: { 'X-Trace-Id': '01M8ECFRB1CZFZNCA67FE869GG' },
        json: { code: 50005, message: 'A third-party service failed', data: null },
      }),
    );
    await page.getByRole('button', { name: 'Query the channel' }).click();
    await page.getByRole('alert').getByText('A third-party service failed').waitFor();
    t.is(await page.getByText('The service is not responding').count(), 0);
  },
);

journey('a method whose keys are in order is not warned of where only the company signs', async (t, page) => {
  const { admin } = own.service;
  const test = page.getByRole('status', { name: 'Outcome of the test' });
  const tone = async (config: object) => {
    const { data } = await admin.post('/payment-methods', { type: 'alipay', config });
    await leaveScreen(page);
    await follow(page, `/console/trade/payment-methods/${data.id}`);
    await page.getByRole('button', { name: 'Test the callback' }).click();
    return test.locator('.ant-alert').getAttribute('class');
  };
  const known = { ...alipayConfig, notify_url: 'https://pay.example.com/notify' };
  const complete = { ...known, alipay_public_key: newRsaKeys().publicPem };
  t.regex((await tone(complete)) ?? '', /ant-alert-info/);
  const mistaken = { ...known, alipay_public_key: merchantKeys.publicPem };
  t.regex((await tone(mistaken)) ?? '', /ant-alert-warning/, 'a key of its own');
});

freshJourney(
  'a filter that is set keeps its name, a view keeps filters, order and columns, and a pinned screen is on top',
  async (t, page) => {
    await makeOrder(own.service.admin, '50.00');
    await enter(page, { at: '/console/trade/orders' });
    const second = await page.context().newPage();
    await second.goto('/console/trade/users');
    await second.getByRole('heading', { name: 'Users' }).waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Min. amount').fill('10');
    await page.waitForURL(/min_amount=10/);
    await page.locator('[data-filter=min_amount]').getByText('Min. amount').waitFor();
    await chooseEntry(page, 'Common periods', 'Last 7 days');
    await page.waitForURL(/start_time=.*end_time=/);
    await page.getByRole('button', { name: 'Common periods' }).getByText('Last 7 days').waitFor();
    await page.getByRole('button', { name: 'Columns' }).press('Enter');
    await page.getByRole('checkbox', { name: 'Compact rows' }).waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('checkbox', { name: 'User' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Space');
    await page.locator('th', { hasText: 'User' }).waitFor({ state: 'detached' });
    t.true(await page.getByRole('checkbox', { name: 'Order', exact: true }).isDisabled(), 'opens a row');
    await page.keyboard.press('Escape');
    await chooseEntry(page, 'Views', 'Save this view');
    await page.getByLabel('Name of the view').fill('Big ones');
    await page.keyboard.press('Enter');
    await page.getByText('View saved').waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Rename view' }).hover();
    await page.getByRole('menuitem', { name: 'Big ones' }).nth(1).click();
    await page.getByLabel('Name of the view').fill('Large');
    await page.keyboard.press('Enter');
    await page.getByText('View renamed').waitFor();
    // Another tab keeps its setting beside what this one has saved.
    await second.getByRole('button', { name: 'Pin to the top of the menu' }).click();
    const firstOf = (tab: Page) =>
      tab.getByRole('navigation', { name: 'Menu' }).getByRole('menuitem').first();
    await firstOf(second).getByText('Users').waitFor();
    await page.goto('/console/trade/orders');
    await firstOf(page).getByText('Users').waitFor();
    await second.getByRole('button', { name: 'Unpin' }).click();
    await firstOf(second).getByText('Dashboard').waitFor();
    await second.close();
    await chooseEntry(page, 'Views', 'Large');
    await page.waitForURL(/min_amount=10.*start_time=/);
    // The address is ahead of what is drawn.
    await page.locator('[data-filter=min_amount].set').waitFor();
    await page.locator('a.row-link').first().waitFor();
    t.is(await page.getByRole('columnheader', { name: /^User/ }).count(), 0);
    await page.getByRole('button', { name: 'Sum of amounts' }).click();
    const { data } = await own.service.admin.get(
      `/orders${new URL(page.url()).search.replace(/&?(columns|period)=[^&]*/g, '')}&with_sum=true`,
    );
    await page.getByText(`Total ¥${Number(data.amount_sum).toFixed(2)}`).waitFor();

    // By keyboard.
    await leaveScreen(page);
    await follow(page, '/console/trade/orders');
    const from = page.locator('.ant-picker').getByRole('textbox', { name: 'From' });
    await page.getByRole('textbox', { name: 'From' }).focus();
    await from.and(page.locator(':focus')).waitFor();
    await from.fill('2020-01-01');
    await from.press('Enter');
    await page.getByRole('textbox', { name: 'To' }).fill('2020-01-31');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing matches these filters').waitFor();
    t.regex(page.url(), /start_time=2020-01-01.+end_time=2020-01-31/);

    // The month has thirty days, too.
    await page.clock.setFixedTime('2026-11-30T12:00:00Z');
    await leaveScreen(page);
    await follow(page, '/console/trade/orders');
    await chooseEntry(page, 'Common periods', 'This month');
    await page.waitForURL(/start_time=2026-11-01T00.*period=month/);
    await page.getByRole('button', { name: 'Common periods' }).getByText('This month').waitFor();
    await chooseEntry(page, 'Views', 'Save this view');
    await page.getByLabel('Name of the view').fill('The month');
    await page.keyboard.press('Enter');
    await page.getByText('View saved').waitFor();
    await page.clock.setFixedTime('2026-12-02T12:00:00Z');
    await leaveScreen(page);
    await follow(page, '/console/trade/orders');
    await chooseEntry(page, 'Views', 'The month');
    await page.waitForURL(/start_time=2026-12-01T00/);
    await page.getByRole('button', { name: 'Common periods' }).getByText('This month').waitFor();
  },
);

journey(
  'filters that are set faster than the list is drawn all stay, and are cleared together',
  async (t, page) => {
    await makeOrder(own.service.admin, '50.00');
    await follow(page, '/console/trade/orders');
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Min. amount').fill('12,50');
    await page.locator('[data-filter=min_amount].wrong').waitFor();
    t.is(await page.getByLabel('Min. amount').getAttribute('aria-invalid'), 'true');
    await page.getByLabel('Min. amount').fill('10');
    // As a list shows it.
    await page.getByLabel('Max. amount').fill('¥90.00');
    await page.waitForURL(/min_amount=10&max_amount=90\.00/);
    await page.getByRole('search').getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL(/orders$/);
    await page.locator('[data-filter=min_amount]:not(.set)').waitFor();
    await page.locator('#content:focus').waitFor();
    t.is(await page.getByLabel('Min. amount').inputValue(), '');
    // So are a filter that is no amount and one whose list was not asked for yet.
    await page.getByLabel('Min. amount').fill('10');
    await page.getByRole('button', { name: 'Clear filters' }).waitFor();
    await page.getByLabel('Min. amount').fill('10,5');
    await page.locator('[data-filter=min_amount].wrong').waitFor();
    await page.evaluate(`(() => {
      const order = document.querySelector('[data-filter=order_no] input');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(order, 'ORD2');
      order.dispatchEvent(new Event('input', { bubbles: true }));
      [...document.querySelectorAll('.filters button')].find((one) => one.innerText === 'Clear filters').click();
    })()`);
    await page.waitForURL(/orders$/);
    await page.locator('[data-filter=min_amount]:not(.set, .wrong)').waitFor();
    t.is(await page.getByLabel('Min. amount').inputValue(), '');
    t.is(await page.getByRole('textbox', { name: 'Order', exact: true }).inputValue(), '');
    // On a slow machine the list is drawn after further keys.
    const browser = await page.context().newCDPSession(page);
    await browser.send('Emulation.setCPUThrottlingRate', { rate: 8 });
    const number = page.getByRole('textbox', { name: 'Order', exact: true });
    await number.pressSequentially('ORD20', { delay: 350 });
    await page.waitForURL(/order_no=ORD20$/);
    await browser.detach();
  },
);

journey('what is created is opened, and its history says by whom', async (t, page) => {
  await follow(page, '/console/trade/users/new');
  const username = unique('fresh');
  const form = page.getByRole('dialog');
  await form.getByLabel('Username').fill(username);
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: username }).waitFor();
  await page.getByText('No edits yet').waitFor();
  await page.getByText('admin created it').waitFor();
  await page.getByRole('link', { name: 'Edit' }).click();
  await form.getByLabel('Display name').fill('Renamed');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: username }).waitFor();
  await page.getByText('admin changed it').waitFor();
  await page.getByRole('link', { name: 'Edit' }).click();
  await form.locator('#form_username:focus').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('a:focus', { hasText: 'Edit' }).waitFor();
  await page.locator('.changes').getByText('Display name').waitFor();
  t.pass();
});

journey('a log entry leads to its record, which the search forgets once it is deleted', async (t, page) => {
  const { admin } = own.service;
  const { id, username } = await makeUser(admin, { username: unique('logged') });
  const made = await admin.put(`/users/${id}`, { nickname: 'Logged' });
  const entries = `/console/logs/operation-logs?trace_id=`;
  await follow(page, entries + made.headers.get('X-Trace-Id'));
  await page.getByRole('link', { name: `/api/admin/users/${id}` }).click();
  await page.getByRole('heading', { name: username }).waitFor();
  const openedLately = async () => {
    await page.keyboard.press('/');
    await page.getByRole('option').first().waitFor();
    const names = await page.getByRole('option').allTextContents();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return names.filter((one) => one === `${username} · User` || one === `${id} · User`);
  };
  t.deepEqual(await openedLately(), [`${username} · User`]);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.locator('[data-resource=users]').waitFor();
  t.true(page.url().endsWith('/trade/users'));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.deepEqual(await openedLately(), []);
  await follow(page, `/console/trade/users/${id}`);
  await page.getByText('The user does not exist').waitFor();
  t.deepEqual(await openedLately(), []);
  await follow(page, `/console/logs/operation-logs?path=/users/${id}`);
  await page.getByRole('link', { name: 'Change users' }).waitFor();
  await page.getByRole('link', { name: 'Delete users' }).waitFor();
  t.is(await page.getByRole('link', { name: `/api/admin/users/${id}` }).count(), 1, 'of the deletion none');
});

journey('the focus is left alone while the calendar is loaded', async (t, page) => {
  const { asked, go } = await hold(page, /calendar[^/]*\.js/, 'GET');
  await follow(page, '/console/trade/users');
  await page.getByRole('textbox', { name: 'From' }).focus();
  await asked;
  t.is(await page.locator(':focus').getAttribute('aria-label'), 'From');
  const user = page.getByLabel('Username').first();
  await user.focus();
  await page.keyboard.type('some');
  go();
  await page.waitForLoadState('networkidle');
  await page.keyboard.type('body');
  t.is(await user.inputValue(), 'somebody');
  await page.getByRole('textbox', { name: 'From' }).focus();
  await page.locator('.ant-picker-dropdown').waitFor();
  t.is(await page.locator(':focus').getAttribute('placeholder'), 'From');
  await page.keyboard.press('Escape');
});

journey('a role shows what it allows and who holds it', async (t, page) => {
  const { data: menus } = await own.service.admin.with({ 'Accept-Language': 'en-US' }).get('/menus');
  const [first, second] = menus.list.filter(({ children = [] }) => children.length > 1);
  const ids = [second.id, second.children[0].id, first.children[1].id, first.id];
  const role = await makeRole(own.service.admin, ['order.index'], { menu_ids: ids });
  const { account } = await signedInWith(own.service.admin, ['user.index']);
  await own.service.admin.put(`/admins/${account?.id}`, { role_ids: [role.id] });
  await follow(page, `/console/access/roles/${role.id}`);
  const drawer = page.getByRole('dialog');
  await drawer.getByText('1 permission').waitFor();
  await drawer.getByText('List orders').waitFor();
  t.deepEqual(
    await drawer
      .locator('section', { hasText: /^\d menus/ })
      .locator('li')
      .allInnerTexts(),
    [first, first.children[1], second, second.children[0]].map(({ title }) => title),
  );
  await drawer.getByRole('link', { name: account?.username }).click();
  await page.getByRole('heading', { name: account?.username }).waitFor();
  t.pass();
});

journey('nothing keeps moving for a reader who asked for less motion', async (t, page) => {
  const { go: sendScreen } = await hold(page, /assets\/blacklists-.*\.js$/, 'GET');
  const { go: sendRows } = await hold(page, /\/api\/admin\/blacklists\?/, 'GET');
  const endless = () =>
    page.evaluate<string[]>(
      `document.getAnimations().filter(({ effect }) => effect.getTiming().iterations === Infinity).map(({ effect }) => effect.target.className)`,
    );
  await follow(page, '/console/office/blacklists');
  await page.locator('.screen.ant-skeleton-active').waitFor();
  t.deepEqual(await endless(), []);
  sendScreen();
  await page.locator('.ant-spin-spinning').waitFor();
  t.deepEqual(await endless(), []);
  sendRows();
  await page.locator('[data-resource=blacklists][aria-busy=false]').waitFor();
  await page.evaluate(
    `new MutationObserver(() => (window.waved ||= document.querySelector('.ant-wave') !== null)).observe(document.body, { childList: true, subtree: true })`,
  );
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('[data-resource=blacklists][aria-busy=false]').waitFor();
  t.falsy(await page.evaluate('window.waved'), 'no wave around a pressed button');
});

journey(
  'a page beyond the last one shows the last one, and a filter that is refused is named',
  async (t, page) => {
    await makeOrder(own.service.admin);
    await follow(page, '/console/trade/orders?page=999');
    await page.locator('a.row-link').first().waitFor();
    t.notRegex(page.url(), /page=999/);
    await leaveScreen(page);
    await follow(page, `/console/trade/orders?order_no=${'x'.repeat(65)}`);
    await page.getByRole('alert').getByText('Order: must be at most 64 characters long').waitFor();
  },
);

journey('a page is opened again from where nothing was found', async (t, page) => {
  await follow(page, '/console/access/permissions?page=2');
  await page.locator('a.row-link').first().waitFor();
  await choose(page, page, 'Status', 'Disabled');
  const nothing = page.getByText('Nothing matches these filters');
  await nothing.waitFor();
  // What the page before has fetched is forgotten.
  await page.reload();
  await nothing.waitFor();
  await page.goBack();
  await page.locator('a.row-link').first().waitFor();
  t.is(new URL(page.url()).search, '?page=2');
});

journey('the focus returns to the button that opened a box', async (t, page) => {
  await follow(page, '/console/trade/orders');
  for (const name of [/^Find/, 'Keys', /^Notifications/]) {
    const button = page.getByRole('button', { name });
    await button.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button.and(page.locator(':focus')).waitFor();
  }
  t.pass();
});

journey(
  'a form that is still being loaded says so; the focus returns to a link whose page gave way before',
  async (t, page) => {
    const { id, username } = await makeUser(own.service.admin);
    // Loaded anew, it knows no form.
    await page.goto(`/console/trade/users/${id}`);
    await page.getByRole('heading', { name: username }).waitFor();
    const form = await hold(page, '**/assets/form-*.js', 'GET');
    await page.getByRole('link', { name: 'Edit' }).press('Enter');
    await form.asked;
    await page.getByText('Opening…').waitFor();
    form.go();
    await page.getByRole('dialog').getByLabel('Username').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('a:focus', { hasText: 'Edit' }).waitFor();
    t.pass();
  },
);

journey('keys move through rows and open what is new', async (t, page) => {
  await makeOrder(own.service.admin);
  await follow(page, '/console/access/profile');
  await page.getByRole('heading', { name: 'Profile' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.locator('a.row-link').first().waitFor();
  const first = page.locator('td', { has: page.locator('a.row-link') }).first();
  const unfocused = await first.screenshot();
  await page.keyboard.press('j');
  await page.locator('a.row-link:focus').waitFor();
  t.notDeepEqual(await first.screenshot(), unfocused, 'the focus is seen');
  await page.locator('th[tabindex]').first().focus();
  t.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByText('New order').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByText('Next row, previous row').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('.rows tbody').getByRole('checkbox').first().check();
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Find orders' }).waitFor();
  await page.keyboard.press('Escape');
});

journey('failed jobs are tried again and deleted several at once', async (t, page) => {
  const failed = async (day: string) => {
    const now = new Date();
    const key = `maintain-tables-${day}`;
    await insert(
      `INSERT INTO failed_jobs (queue, job, job_key, payload, error, attempts, trace_id, state, failed_at, created_at,
         updated_at) VALUES ('maintenance', 'maintain-tables', ?, ?, 'no room', 1, '', 'failed', ?, ?, ?)`,
      [key, JSON.stringify({ day }), now, now, now],
    );
    return key;
  };
  const [first, second] = [await failed('2020-01-01'), await failed('2020-01-02')];
  const stateOf = (key: string) =>
    select<{ state: string }>('SELECT state FROM failed_jobs WHERE job_key = ?', [key]);
  await follow(page, '/console/office/queues');
  const rows = page.locator('.rows tbody tr', { hasText: 'no room' });
  await rows.nth(1).waitFor();
  const third = await failed('2020-01-03');
  // Together with its number above.
  await rows.nth(2).waitFor();
  t.is(await beyondTable(page), 0);
  // The newest is on top.
  await rows.nth(1).getByRole('checkbox').check();
  await rows.nth(2).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Try again (2)' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Try again (2)' }).click();
  await page.getByText('2 done').waitFor();
  for (const key of [first, second]) t.not((await stateOf(key))[0]?.state, 'failed');
  t.is((await stateOf(third))[0]?.state, 'failed');
  await rows.getByText('Done', { exact: true }).nth(1).waitFor();
  await rows.nth(0).getByRole('checkbox').check();
  await rows.nth(1).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete 2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2' }).click();
  await page.getByText('Deleted').waitFor();
  const left = await select('SELECT id FROM failed_jobs WHERE job_key IN (?, ?, ?)', [first, second, third]);
  t.is(left.length, 1);
});
