// Every screen of the console: opened by its address, in both languages and themes, wide and narrow, with axe, and photographed.
import '../support/environment.js';
import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { config } from '../../config/index.js';
import { makeMethod, makePayment } from '../support/factories.js';
import { enter, inaccessible, openPage, startBrowser } from '../support/pages.js';
import { startService, type Service } from '../support/service.js';

const pictures = resolve(config.root, 'build/screens');

/** As the console declares them. */
const screens = [
  ...readFileSync(resolve(config.root, 'console/src/app/screens.ts'), 'utf8').matchAll(
    /import\('\.\.\/([a-z]+)\/([a-z-]+)\.tsx'\)/g,
  ),
].map(([, room, slug]) => ({ slug: slug as string, address: `/console/${room}/${slug}` }));

let service: Service;
let browser: Browser;

test.before(async () => {
  mkdirSync(pictures, { recursive: true });
  service = await startService();
  const method = await makeMethod(service.admin, 'a shared secret');
  await makePayment(service.admin, method.id, '1234567.89');
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await service.stop();
});

test.serial('there are screens to look at', (t) => {
  t.true(screens.length >= 20);
});

// An address is opened as a link of somebody else is: without what the page did before.
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page
    .locator('.screen h1')
    .waitFor()
    .catch(async (error: unknown) => {
      await page.screenshot({ path: `${pictures}/stuck.png` });
      throw error;
    });
  await page.locator('[aria-busy=false], [data-screen]').first().waitFor();
}

const looks = [
  { name: 'light', options: { locale: 'zh-CN', colorScheme: 'light' } },
  { name: 'dark', options: { locale: 'en-US', colorScheme: 'dark' } },
] as const;

for (const { name, options } of looks) {
  test.serial(`every screen is there and accessible, ${name}`, async (t) => {
    t.timeout(300_000);
    const { page, complaints } = await openPage(browser, service.url, options);
    await enter(page);
    const found: string[] = [];
    for (const { slug, address } of screens) {
      await open(page, address);
      await page.screenshot({ path: `${pictures}/${slug}-${name}.png` });
      found.push(...(await inaccessible(page)).map((one) => `${slug}: ${one}`));
    }
    t.deepEqual(found, []);
    t.deepEqual(complaints, []);
    await page.context().close();
  });
}

test.serial('every screen fits a telephone', async (t) => {
  t.timeout(300_000);
  const { page, complaints } = await openPage(browser, service.url, {
    viewport: { width: 360, height: 740 },
  });
  await enter(page);
  for (const { slug, address } of screens) {
    await open(page, address);
    await page.screenshot({ path: `${pictures}/${slug}-360.png` });
    t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 360, slug);
  }
  t.deepEqual(complaints, []);
  await page.context().close();
});

test.serial('on a telephone the filters open when they are asked for', async (t) => {
  const { page, complaints } = await openPage(browser, service.url, {
    viewport: { width: 360, height: 740 },
  });
  await enter(page);
  await open(page, '/console/trade/orders');
  const filter = page.locator('[data-filter=order_no] input');
  t.false(await filter.isVisible());
  await page.getByRole('search').getByRole('button', { name: 'Filters' }).click();
  await filter.fill('ORD-no-such-order');
  await page.getByText('Nothing matches these filters').waitFor();
  t.deepEqual(complaints, []);
  await page.context().close();
});

test.serial('filters stand in the address: reloaded they are the same, Back takes them away', async (t) => {
  const { page, complaints } = await openPage(browser, service.url);
  await enter(page);
  await open(page, '/console/trade/orders');
  await page.locator('[data-filter=order_no] input').fill('ORD-no-such-order');
  await page.waitForURL(/order_no=ORD-no-such-order/);
  await page.getByText('Nothing matches these filters').waitFor();
  await page.reload();
  await page.getByText('Nothing matches these filters').waitFor();
  t.is(await page.locator('[data-filter=order_no] input').inputValue(), 'ORD-no-such-order');
  await page.getByRole('search').getByRole('button', { name: 'Clear filters' }).click();
  await page.locator('a.row-link').first().waitFor();
  await page.goBack();
  await page.getByText('Nothing matches these filters').waitFor();
  t.deepEqual(complaints, []);
  await page.context().close();
});
