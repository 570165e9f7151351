// Data that no screen expects: names that every object inherits break nothing, and values of another kind one place only.
import '../support/environment.js';
import test from 'ava';
import type { Page } from 'playwright-core';
import { change } from '../../src/lib/database/db.js';
import { consoleTest } from '../support/console-test.js';
import { makeMethod, makeOrder, makePayment } from '../support/factories.js';
import { enter, follow } from '../support/pages.js';
import { until } from '../support/until.js';

const own = consoleTest();
const { journey, freshJourney } = own;

const strange = [
  { slug: 'constructor', icon: '__proto__' },
  { slug: '__proto__', icon: 'toString' },
  { slug: 'toString', icon: 'constructor' },
];

test.serial.before(async () => {
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
});

journey('menus named as what every object inherits leave the console standing', async (t, page) => {
  await follow(page, '/console/access/menus');
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
  await page.getByRole('textbox', { name: 'Find orders' }).fill('roles');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Roles' }).waitFor();
  for (const { slug } of strange) {
    await page.goto(`/console/access/${slug}`);
    await page.getByText('There is no such page').waitFor();
  }
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

freshJourney('a cell that cannot be shown leaves its list standing', async (t, page, complaints) => {
  const { order_no } = await makeOrder(own.service.admin, '7.00');
  await changing(page, '/orders', ({ list }: { list: { created_at: unknown }[] }) => {
    for (const row of list) row.created_at = 'once';
  });
  await enter(page, { at: '/console/trade/orders' });
  const row = page.locator('.rows tr', { hasText: order_no });
  await row.getByText('Cannot be shown').waitFor();
  await row.getByText('Pending').waitFor();
  t.true(complaints.splice(0).length > 0);
});

freshJourney(
  'a plot that cannot be drawn leaves the others standing, until it can',
  async (t, page, complaints) => {
    await page.route('**/dashboard/stream?*', (route) => route.abort());
    await changing(page, '/dashboard/daily-sales', (days: { date: unknown }[]) => {
      for (const day of days) day.date = null;
    });
    await enter(page, { at: '/console/office/dashboard' });
    const plot = (title: string) => page.locator('.plot', { hasText: title });
    await plot('Sales by day').getByRole('alert').getByText(part).waitFor();
    await plot('Sales by month').locator('canvas').waitFor();
    t.true(complaints.splice(0).length > 0);
    await page.unroute('**/dashboard/stream?*');
    await plot('Sales by day').locator('canvas').waitFor();
  },
);

freshJourney('a drawer that cannot be shown leaves its list standing', async (t, page, complaints) => {
  const { admin } = own.service;
  await admin.post('/roles', { name: 'Told', slug: 'told' });
  await until(() =>
    // What a call came to is written after it: before that it would be overwritten.
    change(
      `UPDATE operation_logs SET changes = '[null]' WHERE path = '/api/admin/roles' AND duration_ms > 0`,
      [],
    ),
  );
  await enter(page, { at: '/console/logs/operation-logs?path=%2Fapi%2Fadmin%2Froles' });
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

freshJourney('a menu that cannot be shown leaves the page standing', async (t, page, complaints) => {
  await changing(page, '/info', ({ menus }: { menus: { title: unknown }[] }) => {
    for (const menu of menus) menu.title = { zh: '', en: '' };
  });
  await enter(page, { at: '/console/access/roles' });
  await page.getByRole('navigation', { name: 'Menu' }).getByText(part).waitFor();
  await page.locator('a.row-link').first().waitFor();
  t.true(complaints.splice(0).length > 0);
});
