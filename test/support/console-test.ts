// What the tests of the console share: the service with its worker, a browser, and pages that must not complain.
import test, { type ExecutionContext } from 'ava';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, startBrowser } from './pages.js';
import { startService, type Service } from './service.js';

export interface ConsoleTest {
  service: Service;
  browser: Browser;
  /**
   * Declares a test with a page of its own, which must neither throw, complain, ask another origin nor break the policy. A walk
   * that expects complaints takes them out of the list.
   */
  journey: (
    title: string,
    walk: (t: ExecutionContext, page: Page, complaints: string[]) => Promise<void>,
    options?: BrowserContextOptions,
  ) => void;
}

export function consoleTest(): ConsoleTest {
  const shared = {} as ConsoleTest;
  shared.journey = (title, walk, options) =>
    test.serial(title, async (t) => {
      const { page, complaints, log } = await openPage(shared.browser, shared.service.url, options);
      try {
        await walk(t, page, complaints);
        t.deepEqual(complaints, []);
      } catch (error) {
        t.log(`kept in ${await log.keep(title, error)}`);
        throw error;
      } finally {
        await page.context().close();
      }
    });
  // One by one: what else a test file prepares needs the service.
  test.serial.before(async () => {
    shared.service = await startService();
    shared.browser = await startBrowser();
  });
  test.after.always(async () => {
    await shared.browser?.close();
    await shared.service?.stop();
  });
  return shared;
}
