// Signing in and staying signed in: captcha, lock-out, an ended session, language, appearance, time zone.
import '../support/settings/environment.js';
import test from 'ava';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { change } from '../../src/lib/database/db.js';
import { key, patientRedis as redis } from '../../src/lib/redis/redis.js';
import { consoleTest } from '../support/console/console-test.js';
import { makeAdmin, makeMethod, makeOrder, makeUser, unique, type MadeAdmin } from '../support/factories.js';
import {
  chooseEntry,
  copiedLink,
  enter,
  follow,
  hold,
  openPage,
  plainHost,
  signIn,
  startBrowser,
} from '../support/console/pages.js';
import { paidPayment } from '../support/refunds.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
const { journey, freshJourney } = own;

async function tryPassword(page: Page, password: string): Promise<string> {
  await page.getByLabel('Password').fill(password);
  const answered = page.waitForResponse((response) => response.url().endsWith('/api/admin/login'));
  await page.locator('button[type=submit]').click();
  await answered;
  await page.locator('button[type=submit]:enabled').waitFor();
  return page.getByRole('alert').innerText();
}

const sessionsOf = async (username: string): Promise<number> =>
  (
    await selectRow<{ sessions: number }>(
      'SELECT COUNT(*) AS sessions FROM admin_sessions s JOIN admins a ON a.id = s.admin_id WHERE a.username = ?',
      [username],
    )
  ).sessions;

/** Knows the captcha that the page shows, which only the service can read. */
function watchCaptchas(page: Page): { answer: () => Promise<string> } {
  let latest = Promise.resolve('');
  page.on('response', (response) => {
    if (!/login\/captcha$/.test(response.url())) return;
    latest = response.json().then(({ data }: { data: { captcha_id: string } }) => data.captcha_id);
  });
  return { answer: async () => (await redis.get(key('captcha', await latest))) ?? '' };
}

freshJourney(
  'a captcha is required after wrong passwords, and signing in leads to the requested page',
  async (t, page) => {
    const { username, password } = await makeAdmin(own.service.admin, [1]);
    const captchas = watchCaptchas(page);
    await page.goto('/console/trade/orders?status=paid');
    await page.getByLabel('Username').fill(username);
    for (let failures = 0; failures < 2; failures++) t.not(await tryPassword(page, 'wrong-password'), '');
    await page.getByLabel('Characters in the image').waitFor();
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Characters in the image').fill('?????');
    await page.locator('button[type=submit]').click();
    await page.locator('button[type=submit]:enabled').waitFor();
    await page.getByLabel('Characters in the image').fill(await captchas.answer());
    await page.locator('button[type=submit]').click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    t.regex(page.url(), /\/console\/trade\/orders\?status=paid$/);
    t.is(await sessionsOf(username), 1);
  },
);

freshJourney('a locked account shows how long it is locked', async (t, page) => {
  const { username, password } = await makeAdmin(own.service.admin);
  const anonymous = own.service.anonymous;
  let status = 0;
  for (let tries = 0; status !== 429 && tries < 30; tries++) {
    const { captcha_id } = (await anonymous.get('/login/captcha')).data;
    const captcha_code = await redis.get(key('captcha', captcha_id));
    const body = { username, password: 'wrong-password', captcha_id, captcha_code };
    ({ status } = await anonymous.post('/login', body));
  }
  const captchas = watchCaptchas(page);
  await page.goto('/');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').focus();
  await page.getByLabel('Characters in the image').waitFor();
  await page.getByLabel('Characters in the image').fill(await captchas.answer());
  t.regex(await tryPassword(page, password), / \(in 1[45] min\)/);
  t.is(await sessionsOf(username), 0);
});

freshJourney('a browser that refuses every storage has the console until it reloads', async (t, page) => {
  await page.addInitScript(`
    for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });
  `);
  await page.goto('/console/trade/users/new');
  await signIn(page);
  const form = page.getByRole('dialog');
  await form.getByLabel('Username').fill(unique('buyer'));
  await form.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/users\/\d+$/);
  await page.reload();
  await page.locator('.sign-in').waitFor();
  t.pass();
});

/** Ends the sessions of somebody, and signs in again. */
async function signInAgain(
  page: Page,
  account: MadeAdmin,
  meanwhile?: () => Promise<unknown>,
): Promise<void> {
  await own.service.admin.delete(`/admins/${account.id}/tokens`);
  await page.locator('.sign-in').waitFor();
  await meanwhile?.();
  await signIn(page, account.username, account.password);
}

const isBack = (page: Page) => page.getByText('Your unsaved changes are back').waitFor();

freshJourney(
  'a form survives the end of its session, with what its writer and others have changed',
  async (t, page) => {
    const { admin } = own.service;
    const username = unique('buyer');
    const account = await makeAdmin(admin, [1]);
    const other = await makeAdmin(admin, [1]);
    await enter(page, { at: '/console/trade/users/new', ...account });
    const form = page.getByRole('dialog');
    await form.getByLabel('Username').fill(username);
    await form.getByLabel('Display name').fill('王小明');
    await signInAgain(page, account, async () => {
      await page.getByRole('alert').getByText('Your session was ended by another administrator').waitFor();
      await signIn(page, other.username, other.password);
      await form.waitFor();
      t.is(await form.getByLabel('Username').inputValue(), '', 'not to somebody else');
      await admin.delete(`/admins/${other.id}/tokens`);
      await page.locator('.sign-in').waitFor();
    });
    await form.waitFor();
    t.regex(page.url(), /\/console\/trade\/users\/new$/);
    await isBack(page);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    const rowOf = (name: string) => selectRow('SELECT nickname, email FROM users WHERE username = ?', [name]);
    t.like(await rowOf(username), { nickname: '王小明' });

    const known = await makeUser(admin, { nickname: 'Before', email: 'before@example.com' });
    await follow(page, `/console/trade/users/${known.id}/edit`);
    await form.getByLabel('Display name').fill('Mine');
    await signInAgain(page, account, () =>
      admin.put(`/users/${known.id}`, { nickname: 'Theirs', email: 'theirs@example.com' }),
    );
    await isBack(page);
    t.is(await form.getByLabel('Email').inputValue(), 'theirs@example.com');
    await form.getByText('Someone else has just changed Display name').waitFor();
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    t.like(await rowOf(known.username), { nickname: 'Mine', email: 'theirs@example.com' });
  },
);

freshJourney('a form that a button opened is open again after a new sign-in', async (t, page) => {
  const { admin } = own.service;
  const account = await makeAdmin(admin, [1]);
  const payment = await paidPayment(admin, (await makeMethod(admin)).id, '30.00');
  const { id, username } = await makeUser(admin);
  const order = await makeOrder(admin);
  const form = page.getByRole('dialog');
  const again = () => signInAgain(page, account);
  const comesBack = async (label: string, typed: string) => {
    await form.getByLabel(label).fill(typed);
    await again();
    await isBack(page);
    t.is(await form.getByLabel(label).inputValue(), typed);
    await form.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Discard', exact: true }).last().click();
    await form.waitFor({ state: 'detached' });
  };
  await enter(page, { at: `/console/trade/payments/${payment.payment_no}`, ...account });
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await comesBack('Reason', 'One box was broken');
  await follow(page, `/console/trade/orders/${order.order_no}`);
  await page.getByRole('button', { name: 'Start payment' }).click();
  await comesBack('Note', 'By phone');
  await follow(page, '/console/trade/users');
  await chooseEntry(page, `Actions ${username}`, 'Adjust balance');
  await comesBack('Amount', '12.00');
  await follow(page, `/console/trade/users/${id}`);
  await page.getByRole('button', { name: 'Adjust balance' }).click();
  await comesBack('Amount', '13.00');
  await again();
  await page.getByRole('heading', { name: username }).waitFor();
  t.is(await form.count(), 0, 'one that was discarded stays closed');
});

freshJourney(
  'moves of the menu, the profile, a note for several rows and the name of a file survive the end of a session',
  async (t, page) => {
    const payment = await own.makeFlagged();
    const account = await makeAdmin(own.service.admin, [1]);
    const again = () => signInAgain(page, account);
    await enter(page, { at: '/console/access/menus/order', ...account });
    await page.getByRole('treeitem', { name: 'Departments' }).getByText('Departments').click();
    await page.getByRole('button', { name: 'Move out' }).click();
    const changes = await page.getByText(/will change/).innerText();
    await again();
    await isBack(page);
    t.is(await page.getByText(/will change/).innerText(), changes);
    await page.getByRole('button', { name: 'Undo all' }).click();
    await page.getByText('No changes').waitFor();

    await follow(page, '/console/access/profile');
    await page.getByLabel('Phone').fill('555 0100');
    await again();
    await isBack(page);
    t.is(await page.getByLabel('Phone').inputValue(), '555 0100');
    await page.getByRole('button', { name: 'Discard' }).click();
    t.is(await page.getByLabel('Phone').inputValue(), '');
    await page.getByLabel('Email').fill('nobody');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.ant-form-item-explain-error').waitFor();

    await follow(page, '/console/imports/imports/new');
    const file = { name: 'spring.csv', mimeType: 'text/csv', buffer: Buffer.from('order_ref\n') };
    await page.getByLabel('Choose a file').setInputFiles(file);
    await page.getByText('spring.csv').waitFor();
    await again();
    await page.getByText('Choose spring.csv again').waitFor();

    await follow(page, '/console/trade/payments?needs_attention=true');
    const handle = async () => {
      await page.locator('.rows tr', { hasText: payment.payment_no }).getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Mark as handled (1)' }).click();
    };
    await handle();
    const note = page.getByRole('dialog').getByLabel('Note');
    await note.fill('Refunded at the channel');
    await again();
    await handle();
    await isBack(page);
    t.is(await note.inputValue(), 'Refunded at the channel');
  },
);

freshJourney('a day of the chosen zone is whole when its clocks change', async (t, page) => {
  const zone = JSON.stringify({ zone: 'Australia/Sydney' });
  await page.addInitScript(`localStorage.setItem('console.settings', ${JSON.stringify(zone)})`);
  await page.clock.setFixedTime('2026-04-04T12:00:00Z');
  await enter(page, { at: '/console/logs/login-logs' });
  const boundsOf = async (period: string, name: string) => {
    await page.getByRole('button', { name: 'Common periods' }).click();
    await page.getByRole('menuitem', { name: period }).click();
    await page.waitForURL(new RegExp(`period=${name}`));
    const { searchParams } = new URL(page.url());
    return [searchParams.get('start_time'), searchParams.get('end_time')];
  };
  t.deepEqual(await boundsOf('Today', 'today'), ['2026-04-03T13:00:00.000Z', '2026-04-04T12:59:59.999Z']);
  await page.clock.setFixedTime('2026-04-05T12:00:00Z');
  t.deepEqual(await boundsOf('Last 7 days', 'last7'), [
    '2026-03-29T13:00:00.000Z',
    '2026-04-05T13:59:59.999Z',
  ]);
  // The next day has begun there, but not where the browser is.
  await page.clock.setFixedTime('2026-04-05T20:00:00Z');
  await page.getByLabel('To', { exact: true }).click();
  await page.locator('.ant-picker-cell-today[title="2026-04-06"]').first().waitFor();
  // A midnight that comes twice.
  const other = JSON.stringify({ zone: 'America/Havana' });
  await page.addInitScript(`localStorage.setItem('console.settings', ${JSON.stringify(other)})`);
  await page.clock.setFixedTime('2025-11-02T12:00:00Z');
  await page.goto('/console/logs/login-logs');
  t.deepEqual(await boundsOf('Today', 'today'), ['2025-11-02T04:00:00.000Z', '2025-11-03T04:59:59.999Z']);
  t.deepEqual(await boundsOf('Yesterday', 'yesterday'), [
    '2025-11-01T04:00:00.000Z',
    '2025-11-02T03:59:59.999Z',
  ]);
});

test.serial('a browser whose system names no known time zone shows UTC', async (t) => {
  const browser = await startBrowser({ ...process.env, TZ: 'CST-8' });
  try {
    const { page, complaints } = await openPage(browser, own.service.url, { timezoneId: undefined });
    await enter(page, { at: '/console/' });
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    const time = page.getByRole('columnheader', { name: 'Time UTC' });
    await follow(page, '/console/logs/login-logs');
    await time.waitFor();
    // As a system of GMT+8 was stored once.
    await page.evaluate(`localStorage.setItem('console.settings', JSON.stringify({ zone: '+08:00' }))`);
    await page.reload();
    await time.waitFor();
    t.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
});

test.serial('a time zone that nobody chose follows the browser', async (t) => {
  let storageState: BrowserContextOptions['storageState'];
  for (const [timezoneId, offset] of [
    ['Asia/Shanghai', 'UTC+8'],
    ['Asia/Tokyo', 'UTC+9'],
  ] as const) {
    const { page } = await openPage(own.browser, own.service.url, { timezoneId, storageState });
    await enter(page, { at: '/console/logs/login-logs' });
    await page.getByRole('columnheader', { name: `Time ${offset}` }).waitFor();
    if (storageState) await page.locator('html[data-theme=dark]').waitFor();
    await chooseEntry(page, /^Account/, 'Appearance', 'Dark');
    await page.locator('html[data-theme=dark]').waitFor();
    storageState = await page.context().storageState();
    await page.context().close();
  }
  t.pass();
});

freshJourney(
  'times and date filters are in the chosen zone; language and theme persist, too',
  async (t, page) => {
    const order = await makeOrder(own.service.admin);
    const { created_at } = await selectRow<{ created_at: Date }>(
      'SELECT created_at FROM orders WHERE order_no = ?',
      [order.order_no],
    );
    const shownIn = (zone: string) =>
      new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(
        created_at,
      );
    await enter(page, { at: `/console/trade/orders/${order.order_no}` });
    await page.getByText(shownIn('America/New_York'), { exact: true }).first().waitFor();
    await follow(page, '/console/access/profile');
    await page.getByLabel('Time zone').fill('Asia/Shanghai');
    await page.locator('.ant-select-item-option', { hasText: 'Asia/Shanghai' }).click();
    await follow(page, `/console/trade/orders/${order.order_no}`);
    await page.getByText(shownIn('Asia/Shanghai'), { exact: true }).first().waitFor();
    const created = page.locator('dt', { hasText: 'Created UTC+8' }).locator('+ dd');
    await created.waitFor();
    // A time that the clocks of the browser skip.
    const skipped = await makeOrder(own.service.admin);
    const instant = new Date('2026-03-07T18:30:00Z');
    await change('UPDATE orders SET created_at = ? WHERE order_no = ?', [instant, skipped.order_no]);
    await follow(page, `/console/trade/orders/${skipped.order_no}`);
    await page.getByRole('heading', { name: skipped.order_no }).waitFor();
    t.is(await created.innerText(), '2026-03-08 02:30:00');
    await follow(page, '/console/trade/orders');
    await page.getByRole('columnheader', { name: 'Created UTC+8' }).waitFor();
    const day = shownIn('Asia/Shanghai').slice(0, 10);
    await page.getByPlaceholder('From').click();
    await page.getByPlaceholder('From').fill(day);
    await page.keyboard.press('Enter');
    await page.getByPlaceholder('To').fill(day);
    await page.keyboard.press('Enter');
    await page.waitForURL(/start_time=/);
    const start = new URL(page.url()).searchParams.get('start_time') ?? '';
    t.is(new Date(start).getTime(), Date.parse(`${day}T00:00:00+08:00`));
    await page.locator('a.row-link', { hasText: order.order_no }).waitFor();

    await chooseEntry(page, /^Account/, 'Appearance', 'Dark');
    await page.locator('html[data-theme=dark]').waitFor();
    await chooseEntry(page, /^Account/, 'Language', '简体中文');
    await page.getByRole('heading', { name: '订单' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: '订单' }).waitFor();
    t.is(await page.locator('html').getAttribute('lang'), 'zh-CN');
    t.is(await page.locator('html').getAttribute('data-theme'), 'dark');
    await page
      .getByRole('columnheader', { name: /UTC\+8$/ })
      .first()
      .waitFor();
    await follow(page, '/console/trade/orders/ORD-none');
    await page.getByRole('alert').getByText('订单不存在').waitFor();
    t.is(await page.getByRole('button', { name: '重试' }).count(), 0);
    await page.getByRole('link', { name: '返回订单', exact: true }).click();
    await page.getByRole('heading', { name: '订单' }).waitFor();
  },
  { timezoneId: 'America/New_York' },
);

journey('a late refusal of the last session does not end the one since', async (t, page) => {
  const { id, username } = await makeUser(own.service.admin);
  await follow(page, `/console/trade/users/${id}`);
  const { asked, go } = await hold(page, `**/api/admin/users/${id}`, 'PUT');
  await page.getByRole('button', { name: 'Freeze' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click();
  await asked;
  const other = await page.context().newPage();
  await other.goto('/console/access/profile');
  await chooseEntry(other, /^Account/, 'Sign out');
  await other.getByLabel('Username').waitFor();
  await other.close();
  await signIn(page);
  await page.getByRole('heading', { name: username }).waitFor();
  const answered = page.waitForResponse((response) => response.request().method() === 'PUT');
  go();
  t.is((await answered).status(), 401);
  await follow(page, '/console/trade/users');
  await page.getByRole('link', { name: username }).waitFor();
});

freshJourney('tabs share one session: a slower sign-in, a new tab and a sign-out', async (t, page) => {
  const slow = await makeAdmin(own.service.admin, [1]);
  const tokenOf = (of: Page) => of.evaluate<string>(`sessionStorage.getItem('console.token')`);
  await page.goto('/console/access/profile');
  const { asked, go } = await hold(page, '**/api/admin/login', 'POST');
  await page.getByLabel('Username').fill(slow.username);
  await page.getByLabel('Password').fill(slow.password);
  await page.locator('button[type=submit]').click();
  await asked;
  const quick = await page.context().newPage();
  await quick.goto('/console/access/profile');
  await signIn(quick);
  await page.getByRole('button', { name: 'Account: Admin' }).waitFor();
  const answered = page.waitForResponse('**/api/admin/login');
  go();
  await (await answered).finished();
  await page.locator('.live.on').waitFor();
  t.is(await tokenOf(page), await tokenOf(quick), 'of the tab that was ahead');
  await quick.close();

  const order = await makeOrder(own.service.admin);
  const second = await page.context().newPage();
  await second.goto(`/console/trade/orders/${order.order_no}`);
  await second.getByRole('heading', { name: order.order_no }).waitFor();
  const stored = 'Object.keys(localStorage).filter((key) => /token/.test(key)).length';
  t.is(await second.evaluate<number>(stored), 0);
  await follow(page, '/console/trade/users/new');
  await page.getByRole('dialog').getByLabel('Username').fill('Not saved');
  await chooseEntry(second, /^Account/, 'Sign out');
  await second.getByLabel('Username').waitFor();
  await page.getByRole('alert').getByText('You signed out in another tab').waitFor();
  t.false(JSON.stringify(await page.evaluate('({ ...sessionStorage })')).includes('Not saved'));
});

freshJourney(
  'a session elsewhere is ended from the profile, which others may change meanwhile',
  async (t, page) => {
    const { admin, anonymous } = own.service;
    const account = await makeAdmin(admin, [1]);
    const elsewhere = await anonymous.signIn(account);
    await enter(page, { at: '/console/access/profile', ...account });
    const sessions = page.locator('[data-session]');
    await sessions.nth(1).waitFor();
    t.is(await sessions.count(), 2);
    for (const text of await sessions.allInnerTexts())
      t.notRegex(text, /^,/, 'without a browser the address comes first');
    await sessions.getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await sessions.nth(1).waitFor({ state: 'detached' });
    await page.locator('#content:focus').waitFor();
    t.is((await elsewhere.get('/info')).errorCode, 'token_revoked');

    await page.getByLabel('Display name').fill('Mine');
    await admin.put(`/admins/${account.id}`, { nickname: 'Theirs', email: 'theirs@example.com' });
    await page.locator('input[value="theirs@example.com"]').waitFor();
    // Not in the page yet.
    await page.route('**/api/admin/info', (route) => route.abort());
    await admin.put(`/admins/${account.id}`, { phone: '555 0100' });
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('Saved', { exact: true }).waitFor();
    t.like(await selectRow('SELECT nickname, email, phone FROM admins WHERE id = ?', [account.id]), {
      nickname: 'Mine',
      email: 'theirs@example.com',
      phone: '555 0100',
    });

    // And what is typed while it is saved is a draft.
    await page.unrouteAll();
    const saving = await hold(page, '**/api/admin/profile', 'PUT');
    await page.getByLabel('Display name').fill('First');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await saving.asked;
    await page.getByLabel('Phone').fill('555 0200');
    saving.go();
    await page.getByText('Saved', { exact: true }).last().waitFor();
    await page.reload();
    await page.getByText('Your unsaved changes are back').waitFor();
    t.is(await page.getByLabel('Phone').inputValue(), '555 0200');
    t.is(await page.getByLabel('Display name').inputValue(), 'First');
  },
);

test.serial('a page that came over plain http sends forms, uploads files and copies texts', async (t) => {
  const { page, complaints } = await openPage(own.browser, own.service.url.replace('127.0.0.1', plainHost));
  const username = unique('buyer');
  await page.goto('/console/trade/users/new');
  await signIn(page);
  t.false(await page.evaluate('isSecureContext'));
  const form = page.getByRole('dialog');
  await form.getByLabel('Username').fill(username);
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await selectRow('SELECT id FROM users WHERE username = ?', [username]);
  await follow(page, '/console/trade/users');
  t.regex(await copiedLink(page, 'Display name'), /^http:.*\/console\/trade\/users\?/);
  await follow(page, '/console/files/attachments');
  const file = { name: 'plain.txt', mimeType: 'text/plain', buffer: Buffer.from('over http') };
  await page.getByLabel('Files to upload').setInputFiles(file);
  await page.locator('li.upload[data-state=done]').waitFor();
  t.deepEqual(complaints, []);
  await page.context().close();
});
