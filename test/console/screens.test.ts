// Every screen of the console on a trial that was filled: in both languages and themes, wide and narrow, with axe, and
// photographed. The picture of the dashboard is that of the README (docs/console.png).
import '../support/settings/environment.js';
import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { config } from '../../config/index.js';
import { change } from '../../src/lib/database/db.js';
import { consoleTest } from '../support/console/console-test.js';
import { makeMethod, makeOrder, makePayment, makeUser } from '../support/factories.js';
import { png } from '../support/files.js';
import { beyondTable, enter, follow, inaccessible, nowhere } from '../support/console/pages.js';
import { runCli } from '../support/processes.js';
import { paidPayment } from '../support/refunds.js';
import { until } from '../support/until.js';

const largest = '9999999999999.99';
const pictures = resolve(config.root, 'build/screens');

/** As the console declares them. */
const screens = [
  ...readFileSync(resolve(config.root, 'console/src/app/screens.ts'), 'utf8').matchAll(
    /import\('\.\.\/([a-z]+)\/([a-z-]+)\.tsx'\)/g,
  ),
].map(([, room, slug]) => ({ slug: slug as string, address: `/console/${room}/${slug}` }));

const own = consoleTest();
const { journey, freshJourney } = own;

test.serial.before(async () => {
  mkdirSync(pictures, { recursive: true });
  const { code, errors } = await runCli(['demo', '--days', '32']);
  if (code !== 0) throw new Error(errors);
  for (let at = 0; at < 4; at++)
    await own.service.admin.upload('/attachments/upload', png, { filename: `receipt-${at}.png` });
  const method = await makeMethod(own.service.admin, 'a shared secret');
  const { id } = await makeUser(own.service.admin);
  const balance = { type: 'income', amount: largest };
  await own.service.admin.post(`/users/${id}/update-balance`, balance);
  await makePayment(own.service.admin, method.id, largest);
});

test('the console has screens', (t) => {
  t.true(screens.length >= 20);
});

test('the page is served with a nonce, cached and compressed', async (t) => {
  const first = await fetch(`${own.service.url}/`);
  t.is(new URL(first.url).pathname, '/console/');
  const policy = first.headers.get('content-security-policy') ?? '';
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? 'none';
  t.false(/unsafe/.test(policy));
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ])
    t.true(policy.split('; ').includes(part), part);
  const page = await first.text();
  t.true(page.includes(nonce));
  t.is(first.headers.get('cache-control'), 'no-store');
  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
  const asset = await fetch(own.service.url + script, { headers: { 'Accept-Encoding': 'br' } });
  t.is(asset.headers.get('content-encoding'), 'br');
  t.is(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  t.is((await fetch(`${own.service.url}/console/assets/gone.js`)).status, 404);
  t.not(
    /'nonce-([^']+)'/.exec(
      (await fetch(`${own.service.url}/console/`)).headers.get('content-security-policy') ?? '',
    )?.[1],
    nonce,
  );
});

/** Bytes of script that the page has fetched, as they travel. */
const scriptBytes = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );

freshJourney('the sign-in and the first list need little script', async (t, page) => {
  const [, entry = ''] = /src="([^"]+\.js)"/.exec(await (await fetch(`${own.service.url}/`)).text()) ?? [];
  const door = new Set([entry]);
  let bytes = 0;
  // What one script imports joins the set while it is walked.
  for (const path of door) {
    const answer = await fetch(own.service.url + path, { headers: { 'Accept-Encoding': 'br' } });
    bytes += Number(answer.headers.get('content-length'));
    for (const [, name] of (await answer.text()).matchAll(/(?:from|import)["'`]\.\/([^"'`]+\.js)/g))
      door.add(`/console/assets/${name}`);
  }
  t.true(door.size > 1);
  t.true(bytes > 0 && bytes <= 70_000, `${bytes} bytes to sign in`);
  await enter(page, { at: '/console/trade/orders' });
  await page.locator('a.row-link').first().waitFor();
  t.true((await scriptBytes(page)) <= 360_000, `${await scriptBytes(page)} bytes for the first list`);
  const ahead = await page.locator('link[rel=modulepreload]').count();
  t.is(ahead, 0, 'Safari asks no more for a script that it failed to fetch ahead');
});

async function open(page: Page, address: string): Promise<void> {
  await follow(page, address);
  await isDrawn(page);
}

async function isDrawn(page: Page): Promise<void> {
  await page.locator('.screen h1').waitFor();
  await page.locator('[aria-busy=false], [data-screen]').first().waitFor();
  // What is fetched only now leaves its place to a few grey bars.
  await page.locator('.ant-skeleton').first().waitFor({ state: 'hidden' });
}

/** What does not fit: amounts beyond their cell, headings on two lines, controls of one line that differ in height. */
const unfit = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const all = (query) => [...document.querySelectorAll(query)];
    const high = (one) => Math.round(one.getBoundingClientRect().height);
    const wide = (one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getBoundingClientRect().width;
    };
    const room = (one) => one.clientWidth - parseFloat(getComputedStyle(one).paddingLeft) - parseFloat(getComputedStyle(one).paddingRight);
    return [
      ...all('.rows td').filter((one) => one.querySelector('.cell-figure') && wide(one) > room(one) + 0.5),
      ...all('.rows thead th:not(:has(.unseen))').filter((one) => high(one) > 48 || wide(one) > room(one) + 0.5),
      ...all('.filter-times > .ant-btn').filter((one) => high(one) !== high(one.parentElement)),
    ].map((one) => 'does not fit: ' + one.innerText + ' ' + [high(one), wide(one), room(one)]);
  })()`);

/** Photographs a screen. @returns what axe finds on it, and what does not fit */
async function faultsOf(page: Page, slug: string, look: string, rules?: string[]): Promise<string[]> {
  await page.screenshot({ path: `${pictures}/${slug}-${look}.png` });
  const found = [...(await inaccessible(page, rules)), ...(await unfit(page))];
  const beyond = await beyondTable(page);
  if (beyond > 0) found.push(`${beyond} px too wide`);
  return found.map((one) => `${slug}: ${one}`);
}

/** Names of controls that the library has in English only, in a page that is in Chinese. */
const notChinese = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('#content [aria-label]')].map((one) => one.ariaLabel).filter((name) => /^[A-Z][a-z]+ (?:[a-z]+|Value)\\b/.test(name))`,
  );

/** Texts in which a Chinese character touches a digit or a colon of another script. */
const tight = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const found = document.evaluate('//*[@id="content"]//text()', document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    const texts = Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at).data);
    return texts.filter((text) => /\\p{Script=Han}[\\d:]|\\d\\p{Script=Han}/u.test(text));
  })()`);

/** Notes the texts that plots draw. */
const noteDrawn = `
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (...given) {
    (window.drawn ??= new Set()).add(given[0]);
    return fillText.apply(this, given);
  };
`;

const desk = { width: 1280, height: 800 };
const telephone = { width: 360, height: 740 };

freshJourney(
  'every screen is accessible, light, in Chinese, and speaks it well',
  async (t, page) => {
    await page.addInitScript(noteDrawn);
    await page.addInitScript(`new MutationObserver(() => {
      window.firstCard ??= document.querySelector('a.card')?.innerText;
    }).observe(document, { childList: true, subtree: true })`);
    await own.service.admin.post('/users/export', { format: 'csv', username: 'nobody' });
    await enter(page, { at: nowhere });
    const found: string[] = [];
    for (const { slug, address } of screens) {
      await open(page, address);
      found.push(
        ...(await faultsOf(page, slug, 'light')),
        ...(await notChinese(page)),
        ...(await tight(page)),
      );
    }
    t.deepEqual(found, []);
    const drawn = await page.evaluate<string>(`[...window.drawn].join(' ')`);
    t.regex(drawn, /¥\d+万/, 'axes count as the language does');
    const card = await page.evaluate<string>('window.firstCard');
    t.regex(card, /^需要处理/, 'the cards of the dashboard come together, so that none moves');

    await page.setViewportSize(telephone);
    await page.evaluate('window.drawn.clear()');
    await follow(page, '/console/office/dashboard');
    const isNamed = `['电脑', '手机', '平板', '其他'].every((name) => window.drawn.has(name))`;
    await t.notThrowsAsync(
      until(() => page.evaluate<boolean>(isNamed)),
      'every device, also on a phone',
    );
    await page.setViewportSize(desk);

    const details = [{ product_name: 'Tea'.repeat(60), price: '99999.99', quantity: 99 }];
    const { order_no } = await makeOrder(own.service.admin, '1.00', { details });
    await follow(page, `/console/trade/orders/${order_no}`);
    const heightOf = async (name: string) =>
      (await page.getByRole('columnheader', { name }).boundingBox())?.height ?? 99;
    t.is(await heightOf('数量'), await heightOf('商品'), 'columns keep their names beside a long product');
    t.true((await heightOf('数量')) < 50);

    const { payment_no } = await makePayment(own.service.admin);
    await follow(page, `/console/trade/payments/${payment_no}`);
    t.regex(await page.getByText('渠道还没有发来任何回调').innerText(), /^(几秒|1 分钟)前创建，/);

    await follow(page, '/console/trade/orders?status=paid');
    await page.locator('[data-filter=status]').getByRole('button', { name: '清空' }).press('Enter');
    await page.waitForURL(/\/orders$/);
    t.is(await page.getByRole('button', { name: 'Clear' }).count(), 0);
  },
  { locale: 'zh-CN' },
);

journey('every screen is legible, dark, in English, and fits a phone', async (t, page) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  const found: string[] = [];
  for (const { slug, address } of screens) {
    await open(page, address);
    // All but the colours is as in the light.
    found.push(...(await faultsOf(page, slug, 'dark', ['color-contrast'])));
    await page.setViewportSize(telephone);
    await isDrawn(page);
    await page.screenshot({ path: `${pictures}/${slug}-360.png` });
    t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= telephone.width, slug);
    await page.setViewportSize(desk);
  }
  t.deepEqual(found, []);
  await page.emulateMedia({ colorScheme: null });
});

journey(
  'a wide page has room for reasons, and for the numbers, e-mails and phones of users',
  async (t, page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(page, '/console/trade/payments?needs_attention=true');
    const head = await page.getByRole('columnheader', { name: 'Reason' }).boundingBox();
    t.true(head !== null && head.width > 240, `it has ${head?.width} px`);
    const { id } = await makeUser(own.service.admin, { phone: '139 0000 2222' });
    await change('UPDATE users SET id = 1234567 WHERE id = ?', [id]);
    await open(page, '/console/trade/users');
    await page.locator('.cell-text', { hasText: '139 0000 2222' }).first().waitFor();
    await page.getByRole('cell', { name: '1234567', exact: true }).waitFor();
    const cut = await page.evaluate<number>(
      `[...document.querySelectorAll('.cell-text')].filter((one) => /@|139/.test(one.innerText) && one.scrollWidth > one.clientWidth).length`,
    );
    t.is(cut, 0);
    await page.setViewportSize(desk);
  },
);

journey('a payment, an order, a user, the queues and a long text fit a phone', async (t, page) => {
  await page.setViewportSize(telephone);
  const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
  const { list } = (await own.service.admin.get('/payments?needs_attention=true')).data;
  const [{ payment_no, order_no, user_id }] = list;
  const method = await makeMethod(own.service.admin, 'a shared secret', { name: 'M'.repeat(50) });
  const long = await makePayment(own.service.admin, method.id);
  for (const address of [
    `trade/payments/${payment_no}`,
    `trade/orders/${order_no}`,
    `trade/orders/${long.order_no}`,
    `trade/users/${user_id}`,
  ]) {
    await follow(page, `/console/${address}`);
    await page.locator('.screen .facts').first().waitFor();
    t.true((await width()) <= telephone.width, `${address} is ${await width()} px wide`);
  }
  const [big] = (await own.service.admin.get('/payments?order_by=amount:desc&page_size=1')).data.list;
  await follow(page, `/console/trade/orders/${big.order_no}`);
  const row = page.locator('.latest tbody tr').first();
  await row.waitFor();
  const [whole, time, amount] = [row, row.locator('time'), row.locator('td.cell-figure')];
  const right = async (one: typeof row) => {
    const { x = 0, width = 0 } = (await one.boundingBox()) ?? {};
    return x + width;
  };
  t.true(((await amount.boundingBox())?.x ?? 0) >= (await right(time)) + 8, 'a large amount stays apart');
  const panel = page.locator('.panel').filter({ has: whole });
  t.true((await right(amount)) <= (await right(panel)) - 8, 'and in its panel');

  await open(page, '/console/office/queues');
  const card = page.locator('.cards.queues .card');
  await card.nth(1).waitFor();
  const [first, second] = [await card.nth(0).boundingBox(), await card.nth(1).boundingBox()];
  t.is(first?.y, second?.y, 'two in a row');
  t.true((await width()) <= telephone.width, `the queues are ${await width()} px wide`);

  await own.service.admin.post('/blacklists', { ip: '203.0.113.9', remark: 'Attack. '.repeat(31) });
  await open(page, '/console/office/blacklists');
  const entry = page.locator('.row-cards .facts').first();
  const text = await entry.getByText(/^Attack/).boundingBox();
  t.is(text?.width, (await entry.boundingBox())?.width);
  const lineHeight = await page.evaluate<number>(
    `parseFloat(getComputedStyle(document.querySelector('.row-cards .facts .cell-text')).lineHeight)`,
  );
  t.is(Math.round((text?.height ?? 0) / lineHeight), 4, 'lines of a long text');

  const title = 'T'.repeat(100);
  await own.service.admin.post('/notifications', { title, content: 'Long' });
  await page.getByRole('button', { name: /^Notifications/ }).click();
  const notice = await page.getByRole('dialog').getByText(title).boundingBox();
  t.true(notice !== null && notice.x + notice.width <= telephone.width, 'the title of a notification');
  await page.keyboard.press('Escape');
  await page.setViewportSize(desk);
});

journey('the dashboard shows the months of demo data', async (t, page) => {
  await follow(page, '/console/office/dashboard');
  await page.locator('canvas').nth(5).waitFor();
  await page.getByRole('button', { name: 'Sales by month: As a table' }).click();
  const sales = page.locator('.values td').filter({ hasText: /[1-9]/ });
  await sales.first().waitFor();
  t.true((await sales.count()) >= 2, 'sales in two months');
  await page.getByRole('heading', { name: 'Paid orders by month' }).waitFor();
  await page.getByRole('button', { name: 'Sales by month: As a plot' }).click();
  await page.locator('canvas').nth(5).waitFor();
  await page.screenshot({ path: `${pictures}/readme.png` });
});

journey('orders and operations of today lead to just those', async (t, page) => {
  await makeOrder(own.service.admin);
  for (const name of ['Orders today', 'Operations today']) {
    await follow(page, '/console/office/dashboard');
    const card = page.locator('a.card', { hasText: name });
    const figure = Number((await card.locator('.figure').innerText()).replace(',', ''));
    await card.click();
    const count = page.locator('.screen-head [role=status]');
    await count.getByText(/entr/).waitFor();
    const listed = Number.parseInt((await count.innerText()).replace(',', ''), 10);
    // What happens meanwhile is listed, too.
    t.true(figure > 0 && listed >= figure && listed < figure + 20, `${name}: ${figure}, ${listed} listed`);
  }
});

journey('payments by channel and status equal the list', async (t, page) => {
  await follow(page, '/console/office/dashboard');
  await page.getByRole('button', { name: 'Payments by channel and state (30 days): As a table' }).click();
  const row = page.locator('.values tr', { hasText: 'Mock' });
  const counts = (await row.locator('td').allInnerTexts()).map(Number);
  const { data } = await own.service.admin.get('/dashboard/payments-by-channel');
  const of = (status: string): number =>
    data.find((one: { status: string }) => one.status === status).payments;
  t.deepEqual(counts, [of('paid'), of('pending'), of('failed'), of('cancelled')]);
  t.true((counts[0] ?? 0) > 10);
});

journey('the amounts of today lead to the orders and refunds they are the sums of', async (t, page) => {
  const { admin } = own.service;
  const { payment_no } = await paidPayment(admin, (await makeMethod(admin)).id, '12.30');
  const refund = { payment_no, amount: '2.30', destination: 'balance', reason: 'sold out' };
  const { refund_no } = (await admin.post('/refunds', refund)).data;
  await admin.post('/refunds', { ...refund, amount: '1.00' });
  // Requested today, but not finished.
  await change('UPDATE refunds SET finished_at = finished_at - INTERVAL 1 DAY WHERE refund_no = ?', [
    refund_no,
  ]);
  const { paid_amount_today: paid, refunded_amount_today: refunded } = (await admin.get('/dashboard/count'))
    .data;
  for (const [card, expected] of [
    ['Paid today', paid],
    ['Refunded today', refunded],
  ]) {
    await follow(page, '/console/office/dashboard');
    await page.locator('a.card', { hasText: card }).click();
    await page.getByRole('button', { name: 'Sum of amounts' }).click();
    const sum = (await page.locator('.screen-head strong').innerText()).replace(/[^\d.]/g, '');
    t.is(Number(sum), expected, card);
  }
});

journey('the amounts of an order stay in sight beside a long word', async (t, page) => {
  const details = [{ product_name: 'W'.repeat(150), price: '12.30', quantity: 1200 }];
  const { order_no } = await makeOrder(own.service.admin, '12.30', { details });
  await follow(page, `/console/trade/orders/${order_no}`);
  await page.getByRole('cell', { name: '¥12.30' }).first().waitFor();
  await page.getByRole('cell', { name: '1,200', exact: true }).waitFor();
  t.is(await beyondTable(page), 0);
});

journey('a first child is shown below its parent, also one with a long name', async (t, page) => {
  const { admin } = own.service;
  const parent = (await admin.post('/departments', { name: 'W'.repeat(50) })).data;
  await open(page, '/console/access/departments');
  const row = page.locator(`tr[data-row-key="${parent.id}"]`);
  await row.waitFor();
  const child = (await admin.post('/departments', { name: 'V'.repeat(50), parent_id: parent.id })).data;
  const below = await page.locator(`tr[data-row-key="${child.id}"] a`).boundingBox();
  const link = await row.locator('a').boundingBox();
  t.true(link !== null && below !== null && below.x > link.x, 'the child stands further in');
  const short = await page.locator('tr[data-row-key]').first().boundingBox();
  t.is((await row.boundingBox())?.height, short?.height, 'the name has one line');
  await row.getByRole('button', { name: 'Collapse row' }).click();
  await page.locator(`tr[data-row-key="${child.id}"]`).waitFor({ state: 'hidden' });
});

journey('a name that is written from the right is cut off at its end', async (t, page) => {
  await makeUser(own.service.admin, { nickname: 'مريم بنت عبد الله الفارسي القرشي' });
  await follow(page, '/console/trade/users');
  await page.locator('.cell-text', { hasText: 'مريم' }).waitFor();
  const [first, cell] = await page.evaluate<{ left: number; right: number }[]>(`(() => {
    const cell = [...document.querySelectorAll('.cell-text')].find((one) => one.textContent.startsWith('مريم'));
    const range = document.createRange();
    range.setStart(cell.firstChild, 0);
    range.setEnd(cell.firstChild, 1);
    return [range, cell].map((one) => one.getBoundingClientRect()).map(({ left, right }) => ({ left, right }));
  })()`);
  t.true(first && cell && first.left >= cell.left && first.right <= cell.right, 'its beginning is in sight');
});

journey(
  'the smallest phone has room for ten levels, a refund, seven digits and a message',
  async (t, page) => {
    const { admin } = own.service;
    await page.setViewportSize({ width: 320, height: 640 });
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
    let parent_id = 0;
    for (let level = 0; level < 10; level++) {
      const slug = `level-${level}`;
      const entry = { title: `Level number ${level}`, slug, type: 1, parent_id, path: `/${slug}` };
      parent_id = (await admin.post('/menus', entry)).data.id;
    }
    await follow(page, '/console/access/menus/order');
    await page.getByRole('treeitem', { name: 'Level number 9' }).waitFor();
    t.is(await width(), 320);

    const { payment_no } = await paidPayment(admin, undefined, '1234567.89');
    await admin.post('/refunds', { payment_no, amount: '2.30', destination: 'balance', reason: 'sold out' });
    await follow(page, `/console/trade/payments/${payment_no}`);
    await page.locator('.timeline').getByRole('link', { name: /^REF/ }).waitFor();
    t.is(await width(), 320);

    await follow(page, '/console/office/dashboard');
    const figure = page.locator('a.card', { hasText: 'Paid today' }).locator('.figure');
    await figure.filter({ hasText: /^¥\d,\d{3},\d{3}\.\d\d$/ }).waitFor();
    const { height = 0 } = (await figure.boundingBox()) ?? {};
    t.true(height > 0 && height < 25, `one line, not ${height} px`);

    await follow(page, '/console/trade/orders/ORD-none');
    const alert = page.getByRole('alert');
    const text = await alert.getByText('The order does not exist').boundingBox();
    const button = await alert.getByRole('link', { name: 'Back to orders' }).boundingBox();
    const copy = await alert.getByRole('button', { name: 'Copy' }).boundingBox();
    t.true(text !== null && button !== null && button.y >= text.y + text.height);
    t.true(copy !== null && copy.x + copy.width <= 320, 'the trace can be copied');
    await page.setViewportSize(desk);
  },
);

journey('high contrast shows what is chosen and switched on', async (t, page) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await open(page, '/console/trade/payments');
  const item = page.locator('.menu').getByRole('menuitem', { name: 'Payments', exact: true }).last();
  const tab = page.locator('.ant-segmented-item', { hasText: 'All' });
  const chosen = [await item.screenshot(), await tab.screenshot()];
  await page.locator('.ant-segmented-item', { hasText: 'Needs attention' }).click();
  await open(page, '/console/trade/refunds?needs_attention=true');
  const others = [await item.screenshot(), await tab.screenshot()];
  for (const [index, picture] of chosen.entries()) t.notDeepEqual(picture, others[index]);
  await open(page, '/console/trade/users/new');
  const status = page.getByRole('dialog').getByRole('switch', { name: 'Status' });
  const on = await status.screenshot();
  await status.click();
  await page.mouse.move(0, 0);
  t.notDeepEqual(await status.screenshot(), on);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.emulateMedia({ forcedColors: 'none' });
});

journey(
  'the head of the page names its buttons on a phone, and leaves the bell in sight',
  async (t, page) => {
    for (let sent = 0; sent < 12; sent++)
      await own.service.admin.post('/notifications', { title: 'Unread', content: 'Once more' });
    await page.setViewportSize(telephone);
    await open(page, '/console/trade/orders');
    const read = await page.locator('header').ariaSnapshot();
    t.notRegex(read, /button$/m, 'a button without a name');
    const bell = page.getByRole('button', { name: /^Notifications, \d\d unread/ });
    await bell.waitFor();
    const icon = await bell.locator('svg').boundingBox();
    const count = await page.locator('header .ant-badge-count').boundingBox();
    t.true(icon !== null && count !== null && count.x >= icon.x + icon.width / 2, 'half of the bell');
    const next = await page
      .getByRole('button', { name: /^Account/ })
      .locator('svg')
      .boundingBox();
    t.true(next !== null && count !== null && count.x + count.width <= next.x, 'and the next button');
    await page.setViewportSize(desk);
  },
);

journey('a list is one table to a reader of the screen, its header included', async (t, page) => {
  await open(page, '/console/trade/orders');
  await page.locator('a.row-link').first().waitFor();
  t.is(await page.getByRole('table').count(), 1);
  t.notRegex(
    await page.locator('body').ariaSnapshot(),
    /- img|button$/m,
    'no icon, no button without a name',
  );
  const table = page.getByRole('table', { name: 'Orders' });
  await table.getByRole('columnheader', { name: 'Amount' }).waitFor();
  await table
    .getByRole('checkbox', { name: /^Select ORD/ })
    .first()
    .waitFor();
  t.is(await table.getByRole('row').count(), 1 + (await page.locator('a.row-link').count()));
});

journey('the names of columns stay apart in a list without rows', async (t, page) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await open(page, '/console/trade/refunds?refund_no=none');
  await page.getByText('Nothing matches these filters').waitFor();
  const over = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.rows .ant-table-column-title')].filter((one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX === 'visible').map((one) => one.innerText)`,
  );
  t.deepEqual(over, []);
  await page.setViewportSize(desk);
});

journey('a printed page has the list without controls', async (t, page) => {
  await open(page, '/console/trade/orders');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-theme=dark]').waitFor();
  const themeAfter = (event: string) =>
    page.evaluate<string>(`dispatchEvent(new Event('${event}')); document.documentElement.dataset.theme`);
  t.is(await themeAfter('beforeprint'), 'light', 'Firefox prints the page as the event leaves it');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  t.true(await page.locator('a.row-link').first().isVisible());
  for (const left of ['.sider', '.head', '.filters', '.screen-head button', '.screen-head a', '.rows button'])
    t.false(await page.locator(left).first().isVisible(), left);
  const edges = await page.evaluate<number[][]>(
    `['.rows thead th', '.rows tbody tr.ant-table-row td'].map((cells) => [...document.querySelectorAll(cells)].map((one) => Math.round(one.getBoundingClientRect().left)).slice(0, 6))`,
  );
  t.deepEqual(edges[0], edges[1], 'heads stand above their columns');
  await page.screenshot({ path: `${pictures}/orders-print.png` });
  const cut = await page.evaluate<string>(
    `getComputedStyle(document.querySelector('.rows .ant-table-header')).overflowX`,
  );
  t.is(cut, 'visible', 'what is wider than the page is printed smaller');
  await follow(page, '/console/logs/operation-logs');
  await page.locator('a.row-link').first().click();
  const entry = page.getByRole('dialog');
  await entry.getByText('Method', { exact: true }).waitFor();
  t.false(await page.locator('a.row-link').first().isVisible(), 'an entry that is open is printed alone');
  const { width = 0 } = (await entry.boundingBox()) ?? {};
  t.is(width, desk.width);
  await page.emulateMedia({ media: null, colorScheme: 'dark' });
  t.is(await themeAfter('afterprint'), 'dark');
  await open(page, '/console/office/dashboard');
  await page.locator('.canvas canvas').first().waitFor();
  await page.evaluate(`document.querySelector('.canvas canvas').dataset.drawn = ''`);
  await themeAfter('beforeprint');
  t.is(await page.locator('canvas[data-drawn]').count(), 1, 'a plot drawn anew would be printed empty');
  await themeAfter('afterprint');
  await page.emulateMedia({ colorScheme: null });
});

journey('a list on a phone is a set of cards, and its filters are collapsed', async (t, page) => {
  await page.setViewportSize(telephone);
  await open(page, '/console/trade/orders');
  await page.locator('.row-cards li').first().waitFor();
  t.is(await page.locator('table').count(), 0);
  await page.getByLabel('Sort by').selectOption('Amount ↑');
  await page.waitForURL(/order_by=amount%3Aasc/);
  const filter = page.locator('[data-filter=order_no] input');
  t.false(await filter.isVisible());
  const filters = page.getByRole('search');
  await filters.getByRole('button', { name: 'Filters', exact: true }).click();
  const edges = ['[data-filter=order_no]', '.filter-period'].map(async (one) => {
    const { x = 0, width = 0 } = (await filters.locator(one).boundingBox()) ?? {};
    return x + width;
  });
  const [edge = 0, ofPeriod = 0] = await Promise.all(edges);
  t.true(Math.abs(edge - ofPeriod) < 1, 'the period is as wide as the other filters');
  await filters.getByLabel('From').click();
  const calendar = page.locator('.ant-picker-dropdown');
  await calendar.locator('.ant-picker-cell-in-view.ant-picker-cell-today').waitFor();
  const { x = -1, width = 0 } = (await calendar.boundingBox()) ?? {};
  t.true(x >= 0 && x + width <= telephone.width, `from ${x}, ${width} wide`);
  await page.keyboard.press('Escape');
  await filter.fill('ORD-no-such-order');
  await page.getByText('Nothing matches these filters').waitFor();
  await filters.getByRole('button', { name: 'Clear filters' }).click();
  await page.locator('.row-cards a.row-link').first().click();
  await page.getByRole('heading', { name: /^ORD/ }).waitFor();
  await page.setViewportSize(desk);
});

journey('the values of a list are named at every width', async (t, page) => {
  await open(page, '/console/trade/orders');
  const names = page.locator('.row-cards dt, th').filter({ hasText: 'Amount', visible: true });
  const cut = `[...document.querySelectorAll('.row-cards .facts > *')].filter((one) => one.scrollWidth > one.clientWidth).length`;
  // A desk at twice the size has 640.
  for (const width of [360, 480, 600, 640, 700, 701]) {
    await page.setViewportSize({ width, height: 400 });
    await names.first().waitFor();
    t.is(await page.locator('.row-cards').count(), width > 700 ? 0 : 1);
    t.is(await page.evaluate<number>(cut), 0, `at ${width} px`);
  }
  await page.setViewportSize(desk);
});

freshJourney('the grid view of files persists', async (t, page) => {
  await enter(page, { at: '/console/files/attachments' });
  await page.getByRole('button', { name: 'As a grid' }).click();
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await page.locator('.tiles img').nth(3).waitFor();
    t.is(await page.locator('table').count(), 0);
  }
  await page.screenshot({ path: `${pictures}/attachments-grid.png` });
  t.deepEqual(await inaccessible(page), []);
  const link = (name: string) => page.locator('.tiles').getByRole('link', { name });
  await link('receipt-0.png').click();
  const drawer = page.getByRole('dialog');
  await drawer.locator('img.preview').waitFor();
  // A write fetches no picture again.
  const fetched: string[] = [];
  page.on('request', (request) => void (request.url().endsWith('/preview') && fetched.push(request.url())));
  await drawer.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog', { name: 'Rename' }).getByLabel('Name').fill('receipt-renamed.png');
  await page.keyboard.press('Enter');
  await link('receipt-renamed.png').waitFor();
  t.deepEqual(fetched, []);
});
