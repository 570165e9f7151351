// Every list the console declares, in the same way: a limit, keyboard, a network that is gone, filters in the address, Back,
// nothing found, and somebody who may not. A list that is declared later is walked without a line here.
import '../support/settings/environment.js';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { config } from '../../config/index.js';
import { consoleTest } from '../support/console/console-test.js';
import {
  makeMethod,
  makePayment,
  makeUser,
  permissionId,
  signedInWith,
  unique,
} from '../support/factories.js';
import { enter, follow, leaveScreen } from '../support/console/pages.js';

const own = consoleTest();
const { journey, freshJourney } = own;

const sources = resolve(config.root, 'console/src');

interface List {
  name: string;
  /** Below /api/admin. */
  path: string;
  slug: string;
  address: string;
}

/** The screens that are lists, as they are declared. */
const lists: List[] = [
  ...readFileSync(resolve(sources, 'app/screens.ts'), 'utf8').matchAll(
    /import\('\.\.\/([a-z]+)\/([a-z-]+)\.tsx'\)/g,
  ),
].flatMap(([, room, slug]) => {
  const source = readFileSync(resolve(sources, `${room}/${slug}.tsx`), 'utf8');
  const [, path = '', name] =
    /resource\('GET \/api\/admin([^']+)', \{\s+name: '([a-z-]+)'/.exec(source) ?? [];
  return name ? [{ name, path, slug: String(slug), address: `/console/${room}/${slug}` }] : [];
});

test.serial.before(async () => {
  const { admin } = own.service;
  const method = await makeMethod(admin);
  await makePayment(admin, method.id);
  await admin.post('/blacklists', { ip: '203.0.113.7', type: 1 });
  await admin.post('/departments', { name: 'Warehouse', code: unique('d') });
  await admin.post('/notifications', { title: 'A notice', content: 'Its text' });
});

test('the console has lists', (t) => {
  t.true(lists.length >= 18, String(lists.length));
});

const roomOf = (address = ''): string | undefined => address.split('/')[2];

const shown = (page: Page, { name }: List) =>
  page.locator(`[data-resource=${name}][aria-busy=false]`).waitFor();

const alerts = (page: Page) => page.locator('.screen').getByRole('alert');

/** Opens the list while the service refuses its rows once. */
async function waitOutLimit(t: ExecutionContext, page: Page, list: List): Promise<void> {
  let refused = 0;
  // Not the count of a queue beside the list, which asks for a page of one.
  const isList = (url: URL) =>
    url.pathname === `/api/admin${list.path}` && url.searchParams.get('page_size') !== '1';
  await page.route(
    isList,
    (route) => {
      refused += 1;
      const body = {
        code: 10006,
        message: 'Too many requests',
        data: null,
        error_code: 'too_many_requests',
      };
      return route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: body });
    },
    { times: 1 },
  );
  await follow(page, list.address);
  const alert = alerts(page).filter({ hasText: 'Too many requests' });
  await alert.waitFor();
  await alert.waitFor({ state: 'detached' });
  await shown(page, list);
  t.is(refused, 1);
}

async function openByKeyboard(t: ExecutionContext, page: Page, list: List): Promise<void> {
  const dialog = page.getByRole('dialog');
  const create = page.locator(`.screen-head a[href="${list.address}/new"]`);
  if ((await create.count()) > 0 && list.name !== 'imports') {
    await create.focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.locator(`.screen-head a[href="${list.address}/new"]:focus`).waitFor();
  }
  const row = page.locator('a.row-link').first();
  if ((await row.count()) === 0) return;
  await row.focus();
  await page.keyboard.press('Enter');
  await dialog.or(page.locator('article.screen')).first().waitFor();
  if ((await dialog.count()) === 0) {
    await page.goBack();
  } else {
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('a.row-link:focus').waitFor();
    t.is(new URL(page.url()).pathname, list.address);
  }
  await shown(page, list);
}

async function loseNetwork(t: ExecutionContext, page: Page): Promise<void> {
  const rows = await page.locator('a.row-link').count();
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await alerts(page).getByText('The service cannot be reached').first().waitFor();
  t.is(await page.locator('a.row-link').count(), rows);
  await page.context().setOffline(false);
  await alerts(page).first().waitFor({ state: 'detached' });
}

const typedFilter = (page: Page) =>
  page.locator('[data-filter] input[type=text]:not([role=combobox], [inputmode=decimal])').first();

async function filterInAddress(page: Page): Promise<void> {
  if ((await typedFilter(page).count()) === 0) return;
  const nothing = page.getByText('Nothing matches these filters');
  await typedFilter(page).fill('no such thing');
  await page.waitForURL(/no\+such\+thing/);
  await nothing.waitFor();
  await page.getByRole('search').getByRole('button', { name: 'Clear filters' }).click();
  await page.waitForURL((url) => url.search === '');
  await nothing.waitFor({ state: 'detached' });
  await page.goBack();
  await page.waitForURL(/no\+such\+thing/);
  await nothing.waitFor();
}

/** A network is lost in one list of each room: one component asks for the rows of all. */
const isFirstOfRoom = ({ address }: List, at: number): boolean =>
  roomOf(address) !== roomOf(lists[at - 1]?.address);

for (const [at, list] of lists.entries())
  journey(
    `${list.slug}: a limit passes, the keyboard opens, and the filter is in the URL`,
    async (t, page) => {
      await waitOutLimit(t, page, list);
      await openByKeyboard(t, page, list);
      if (isFirstOfRoom(list, at)) await loseNetwork(t, page);
      await filterInAddress(page);
    },
  );

journey('a filter survives a reload', async (t, page) => {
  // Pages and a tree.
  for (const address of ['/console/trade/orders', '/console/access/departments']) {
    await follow(page, address);
    await typedFilter(page).fill('no such thing');
    await page.waitForURL(/no\+such\+thing/);
    await page.reload();
    await page.getByText('Nothing matches these filters').waitFor();
    t.is(await typedFilter(page).inputValue(), 'no such thing', address);
  }
});

journey(
  'a filter that is still being typed does not change the address of the next screen',
  async (t, page) => {
    const next = '/console/trade/orders?order_no=ORD2026';
    await follow(page, next);
    await page.locator('[data-resource=orders][aria-busy=false]').waitFor();
    await follow(page, '/console/trade/users');
    await typedFilter(page).fill('somebody');
    // A page with much to do: what was typed is due before the next screen is drawn.
    const busyMs = 400;
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(next)}); dispatchEvent(new PopStateEvent('popstate'));
    for (const end = performance.now() + ${busyMs}; performance.now() < end; );`,
    );
    await page.locator('[data-resource=orders][aria-busy=false]').waitFor();
    t.is(new URL(page.url()).search, '?order_no=ORD2026');
  },
);

journey('a row that is opened while a filter is being typed stays open', async (t, page) => {
  const { admin } = own.service;
  const department = (await admin.post('/departments', { name: unique('Branch') })).data;
  const user = await makeUser(admin);
  const openWhileTyping = async (name: string, id: number) => {
    const row = `a.row-link[href$="/${id}"]`;
    await page.locator(row).waitFor();
    await typedFilter(page).fill(name);
    // A page with much to do: what was typed is due before the row is drawn.
    const busyMs = 400;
    await page.evaluate(
      `document.querySelector(${JSON.stringify(row)}).click();
      for (const end = performance.now() + ${busyMs}; performance.now() < end; );`,
    );
  };
  await follow(page, '/console/access/departments');
  await openWhileTyping(department.name, department.id);
  await page.waitForURL(/name=/);
  await page.getByRole('dialog').getByText(department.name).first().waitFor();
  t.is(new URL(page.url()).pathname, `/console/access/departments/${department.id}`);

  await follow(page, '/console/trade/users');
  await openWhileTyping(user.username, user.id);
  await page.getByRole('heading', { name: user.username }).waitFor();
  t.is(new URL(page.url()).pathname, `/console/trade/users/${user.id}`);
});

freshJourney('every list says so to an administrator without permission', async (t, page) => {
  const nobody = await signedInWith(own.service.admin, ['dashboard.show']);
  await enter(page, { at: '/console/access/profile', ...nobody.account });
  for (const { name, path, slug, address } of lists) {
    await follow(page, address);
    // What is one's own needs no permission.
    if ((await nobody.get(path)).status === 200) continue;
    await page.locator(`[data-resource=${name}]`).getByText('You have no permission for this page').waitFor();
    t.is(await page.locator('a.row-link').count(), 0, slug);
    t.is(await page.locator('.screen-head :is(a, button)').count(), 0, `${slug}: nothing to press`);
  }
});

freshJourney(
  'what an administrator may not send, read, choose or delete is refused in words, or not offered',
  async (t, page) => {
    const { admin } = own.service;
    const verbs = ['index', 'show', 'update', 'destroy', 'reset_password', 'kick_out'];
    const slugs = verbs.map((verb) => `admin.${verb}`);
    slugs.push('blacklist.index', 'blacklist.show', 'dictionary.index', 'import.show', 'menu.index');
    slugs.push('permission.destroy', 'permission.show', 'user.index', 'user.update');
    const { account } = await signedInWith(admin, slugs);
    const { list } = (await admin.get('/blacklists')).data;
    // Also beside a row of the same list.
    const open = async (address: string) => {
      await leaveScreen(page);
      await follow(page, `/console/${address}`);
    };
    await enter(page, { at: '/console/access/profile', ...account });
    for (const address of ['office/blacklists/new', `office/blacklists/${list[0].id}/edit`]) {
      await follow(page, `/console/${address}`);
      const drawer = page.getByRole('dialog');
      await drawer.getByText('You have no permission for this page').waitFor();
      t.is(await drawer.getByRole('button', { name: 'Save' }).count(), 0, address);
      await leaveScreen(page);
    }
    for (const address of ['imports/imports/new', 'access/menus/order']) {
      await follow(page, `/console/${address}`);
      await alerts(page).getByText('You have no permission for this page').waitFor();
      t.is(await page.locator('.screen .ant-btn-primary').count(), 0, address);
    }
    await follow(page, '/console/trade/users');
    await page
      .getByRole('button', { name: /^Actions/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Freeze' }).waitFor();
    t.is(await page.getByRole('menuitem', { name: 'Edit' }).count(), 0, 'of a row that they may not read');
    await follow(page, `/console/access/admins/${account?.id}/edit`);
    for (const name of ['Roles', 'Department']) {
      const field = page.getByRole('dialog').getByLabel(name);
      await field.waitFor();
      t.true(await field.isDisabled(), name);
      t.is(await field.getAttribute('placeholder'), 'You may not list these, so none can be chosen');
    }

    await open('office/blacklists');
    await page.getByRole('heading', { name: 'IP blacklist' }).waitFor();
    t.is(await page.getByRole('link', { name: /^New/ }).count(), 0);
    t.is(await page.locator('.menu a', { hasText: 'Orders' }).count(), 0);
    await open('trade/orders');
    await page.getByRole('alert').waitFor();

    const custom = { name: 'Own', slug: unique('own.'), method: 'GET', path: '/api/admin/orders' };
    const { data: made } = await admin.post('/permissions', custom);
    const remove = page.getByRole('button', { name: 'Delete', exact: true });
    await open(`access/permissions/${made.id}`);
    await remove.waitFor();
    for (const row of [`permissions/${await permissionId(admin, 'order.index')}`, 'admins/1']) {
      await open(`access/${row}`);
      await page.locator('.facts').first().waitFor();
      t.is(await remove.count(), 0, `${row}: only a super administrator may`);
    }
    const others = page.getByRole('button', { name: /^(Reset password|Sign out everywhere)$/ });
    t.is(await others.count(), 0, 'nor act upon another one');
    await open(`access/admins/${account?.id}`);
    await others.nth(1).waitFor();

    await admin.delete(`/admins/${account?.id}/tokens`);
    await page.getByLabel('Username').waitFor();
  },
);

freshJourney(
  'what a record names is a link only to who may open it, and advice fits them',
  async (t, page) => {
    const { admin } = own.service;
    const clerk = await signedInWith(admin, ['payment.index', 'payment.show', 'dashboard.show']);
    const [{ payment_no, order_no, user }] = (await admin.get('/payments')).data.list;
    const strange = page.locator('#content a:is([href*="/users/"], [href*="/orders/"])');
    await enter(page, { at: '/console/trade/payments', ...clerk.account });
    await page.locator('.rows').getByText(user.username).waitFor();
    t.is(await strange.count(), 0);
    await page.locator('a.row-link').first().click();
    await page.getByRole('heading', { name: payment_no }).waitFor();
    await page.locator('.facts').getByText(order_no).waitFor();
    t.is(await strange.count(), 0);
    await follow(page, '/console/office/dashboard');
    await page.locator('.card', { hasText: 'Orders today' }).waitFor();
    t.is(await page.locator('#content a.card').count(), 1, 'to the payments');
    const gaps = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.card-label')].map((name) => name.nextElementSibling.getBoundingClientRect().top - name.getBoundingClientRect().bottom)`,
    );
    t.is(new Set(gaps).size, 1, 'figures stand below their names, whether these lead on or not');

    const late = await own.makeFlagged();
    await follow(page, `/console/trade/payments/${late.payment_no}`);
    await page
      .getByRole('region', { name: 'Needs attention' })
      .getByText('ask a colleague who may')
      .waitFor();
    t.is(await page.getByText('“Refund”').count(), 0);
  },
);
