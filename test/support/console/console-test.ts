// What the tests of the console share: the service with its worker, a browser, and pages that must not complain.
import test, { type ExecutionContext } from 'ava';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { callBack, makePayment, type MadePayment } from '../factories.js';
import { enter, leaveScreen, nowhere, openPage, startBrowser, type Watched } from './pages.js';
import { startService, type Service } from '../service.js';

/** What a test does. A walk that expects complaints takes them out of the list. */
type Walk = (t: ExecutionContext, page: Page, complaints: string[]) => Promise<void>;

interface ConsoleTest {
  service: Service;
  browser: Browser;
  /**
   * Declares a test on the page of its file, where the first administrator has signed in and no screen is open. The page must
   * neither throw, complain, ask another origin nor break the policy. What outlives a screen the journey takes back itself: size
   * and media of the page, and what the frame has opened. Changed settings need a freshJourney.
   */
  journey: (title: string, walk: Walk) => void;
  /** Declares a test with a browser context of its own, where nobody has signed in; the page must not complain either. */
  freshJourney: (title: string, walk: Walk, options?: BrowserContextOptions) => void;
  /** Makes a payment whose money came when its order was cancelled. */
  makeFlagged: (methodId?: number, price?: string) => Promise<MadePayment>;
}

export function consoleTest(): ConsoleTest {
  const shared = {} as ConsoleTest;
  let signedIn: Watched | undefined;
  const open = (options?: BrowserContextOptions) => openPage(shared.browser, shared.service.url, options);
  const openSignedIn = async (): Promise<Watched> => {
    const watched = await open();
    await enter(watched.page, { at: nowhere });
    return watched;
  };

  shared.freshJourney = (title, walk, options) =>
    test.serial(title, async (t) => {
      const watched = await open(options);
      try {
        await take(t, watched, walk);
        await watched.page.unrouteAll({ behavior: 'ignoreErrors' });
      } finally {
        await watched.page.context().close();
      }
    });

  shared.journey = (title, walk) =>
    test.serial(title, async (t) => {
      const watched = signedIn ?? (await openSignedIn());
      // The page of a journey that fails is not used again.
      signedIn = undefined;
      try {
        await take(t, watched, walk);
        t.deepEqual(await leave(watched.page), [], 'changed settings need a freshJourney');
        signedIn = watched;
      } finally {
        if (!signedIn) await watched.page.context().close();
      }
    });

  shared.makeFlagged = async (methodId, price) => {
    const { admin, anonymous } = shared.service;
    const payment = await makePayment(admin, methodId, price);
    await admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
    await callBack(anonymous, payment);
    return payment;
  };

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

async function take(t: ExecutionContext, { page, complaints, log }: Watched, walk: Walk): Promise<void> {
  try {
    await walk(t, page, complaints);
    t.deepEqual(complaints, []);
  } catch (error) {
    t.log(`kept in ${await log.keep(t.title, error)}`);
    throw error;
  }
}

/** Closes what a journey has opened, and forgets what the tab remembers of it. @returns the names of settings that it leaves */
async function leave(page: Page): Promise<string[]> {
  for (const other of page.context().pages()) if (other !== page) await other.close();
  await page.context().setOffline(false);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await leaveScreen(page);
  // A connection that is restored renews all that the page shows, also what the next journey opens.
  await page.locator('.live.on').waitFor();
  return page.evaluate<string[]>(`(() => {
    for (const name of Object.keys(sessionStorage)) if (name !== 'console.token') sessionStorage.removeItem(name);
    return Object.keys(localStorage);
  })()`);
}
