// A trial that was filled: every plot has something to show, long lists fit a desk and one row a telephone. The picture of the dashboard
// is that of the README (docs/console.png).
import '../support/environment.js';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import { config } from '../../config/index.js';
import { consoleTest } from '../support/console-test.js';
import { png } from '../support/files.js';
import { enter, follow, inaccessible } from '../support/pages.js';
import { runCli } from '../support/processes.js';

const own = consoleTest();
const { journey, freshJourney } = own;
const pictures = resolve(config.root, 'build/screens');

test.serial.before(async () => {
  const { code, errors } = await runCli(['demo', '--days', '40']);
  if (code !== 0) throw new Error(errors);
  for (let at = 0; at < 4; at++)
    await own.service.admin.upload('/attachments/upload', png, { filename: `receipt-${at}.png` });
  mkdirSync(pictures, { recursive: true });
});

journey('the dashboard shows the months of demo data', async (t, page) => {
  await follow(page, '/console/office/dashboard');
  await page.locator('canvas').nth(5).waitFor();
  await page.getByRole('button', { name: 'Sales by month: As a table' }).click();
  const sales = page.locator('.values td').filter({ hasText: /[1-9]/ });
  await sales.first().waitFor();
  t.true((await sales.count()) >= 2, 'sales in two months');
  await page.getByRole('button', { name: 'Sales by month: As a plot' }).click();
  await page.locator('canvas').nth(5).waitFor();
  await page.screenshot({ path: `${pictures}/readme.png` });
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

const lists = [
  ...['trade/orders', 'trade/payments', 'trade/users', 'trade/user-balance-logs', 'trade/payment-methods'],
  ...['access/admins', 'access/roles', 'access/menus', 'access/permissions', 'access/departments'],
  ...['access/online-admins', 'office/dictionaries', 'files/attachments'],
  ...['logs/operation-logs', 'logs/login-logs'],
];

journey('long lists need no horizontal scrolling on a desktop', async (t, page) => {
  for (const list of lists) {
    await follow(page, `/console/${list}`);
    await page.locator('.rows tbody tr.ant-table-row').first().waitFor();
    const beyond = await page.evaluate<number>(
      `Math.max(...[...document.querySelectorAll('.ant-table-content, .ant-table-body')].map((one) => one.scrollWidth - one.clientWidth))`,
    );
    t.true(beyond <= 0, `${list} is ${beyond} px too wide`);
    await page.screenshot({ path: `${pictures}/${list.replace('/', '-')}-long.png` });
  }
});

journey('a payment, an order and a user fit a phone', async (t, page) => {
  await page.setViewportSize({ width: 360, height: 740 });
  const { list } = (await own.service.admin.get('/payments?needs_attention=true')).data;
  const [{ payment_no, order_no, user_id }] = list;
  for (const address of [
    `trade/payments/${payment_no}`,
    `trade/orders/${order_no}`,
    `trade/users/${user_id}`,
  ]) {
    await follow(page, `/console/${address}`);
    await page.locator('.screen .facts').first().waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    t.true(width <= 360, `${address} is ${width} px wide`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
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
  await page.locator('.tiles').getByRole('link', { name: 'receipt-0.png' }).click();
  await page.getByRole('dialog').locator('img.preview').waitFor();
});
