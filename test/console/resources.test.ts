// Every list the console declares, in the same way: filters in the address, reload, Back, nothing found, keyboard, a network that
// is gone, and somebody who may not. A list that is declared later is walked without a line here.
import '../support/environment.js';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { config } from '../../config/index.js';
import { consoleTest } from '../support/console-test.js';
import { makeMethod, makePayment, signedInWith, unique } from '../support/factories.js';
import { enter, follow } from '../support/pages.js';

const own = consoleTest();
const { freshJourney } = own;

const sources = resolve(config.root, 'console/src');

/** The screens that are lists, as they are declared. */
const lists = [
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

const shown = (page: Page, name: string) =>
  page.locator(`[data-resource=${name}][aria-busy=false]`).waitFor();

/** Follows a link of the page without loading it anew. */
async function go(page: Page, { name, address }: { name: string; address: string }): Promise<void> {
  await follow(page, address);
  await shown(page, name);
}

freshJourney('a filter persists in the URL', async (t, page) => {
  await enter(page, { at: '/console/access/profile' });
  for (const list of lists) {
    await go(page, list);
    const typed = page
      .locator('[data-filter] input[type=text]:not([role=combobox], [inputmode=decimal])')
      .first();
    if ((await typed.count()) === 0) continue;
    await typed.fill('no such thing');
    await page.waitForURL(/no\+such\+thing/);
    await page.getByText('Nothing matches these filters').waitFor();
    await page.reload();
    await page.getByText('Nothing matches these filters').waitFor();
    t.is(await typed.inputValue(), 'no such thing', list.slug);
    await page.getByRole('search').getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL((url) => url.search === '');
    await page.goBack();
    await page.waitForURL(/no\+such\+thing/);
  }
});

freshJourney('rows and forms open and close by keyboard', async (t, page) => {
  await enter(page, { at: '/console/access/profile' });
  for (const list of lists) {
    await go(page, list);
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
    if ((await row.count()) === 0) continue;
    await row.focus();
    await page.keyboard.press('Enter');
    await dialog.or(page.locator('article.screen')).first().waitFor();
    if ((await dialog.count()) === 0) {
      await page.goBack();
      await shown(page, list.name);
      continue;
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('a.row-link:focus').waitFor();
    t.is(new URL(page.url()).pathname, list.address, list.slug);
  }
});

const alerts = (page: Page) => page.locator('.screen').getByRole('alert');

freshJourney('every list recovers from a lost network', async (t, page) => {
  await enter(page, { at: '/console/access/profile' });
  for (const list of lists) {
    await go(page, list);
    const rows = await page.locator('a.row-link').count();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await alerts(page).getByText('The service cannot be reached').first().waitFor();
    t.is(await page.locator('a.row-link').count(), rows, list.slug);
    await page.context().setOffline(false);
    await alerts(page).first().waitFor({ state: 'detached' });
  }
});

freshJourney('every list waits out a limit and continues by itself', async (t, page) => {
  await enter(page, { at: '/console/access/profile' });
  for (const list of lists) {
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
    await shown(page, list.name);
    t.is(refused, 1, list.slug);
    await page.unroute(isList);
  }
});

freshJourney('every list tells an administrator without permission so', async (t, page) => {
  const nobody = await signedInWith(own.service.admin, ['dashboard.show']);
  await enter(page, { at: '/console/access/profile', ...nobody.account });
  for (const { name, path, slug, address } of lists) {
    await follow(page, address);
    // What is one's own needs no permission.
    if ((await nobody.get(path)).status === 200) continue;
    await page.locator(`[data-resource=${name}]`).getByText('You have no permission for this page').waitFor();
    t.is(await page.locator('a.row-link').count(), 0, slug);
    t.is(await page.locator('.screen-head a').count(), 0, `${slug}: nothing to create`);
  }
});
