// `npm run bench -- console`: what the console weighs and how long it takes, in Chromium against the real service.
//
// Script is counted as it travels (brotli). A list counts as shown when its rows stand on the page; the time is counted from
// the end of the API's answer. Layout shift is what the browser itself reports.
import '../test/support/environment.js';
import type { Page } from 'playwright-core';
import { makeMethod, makePayment } from '../test/support/factories.js';
import { openPage, startBrowser } from '../test/support/pages.js';
import { startService } from '../test/support/service.js';
import { median, printColumns } from './support/report.js';

const limits = { signIn: 140, first: 400, further: 25, list: 100, shift: 0 };

const lists = [
  ...['trade/payments', 'trade/users', 'access/admins', 'access/roles', 'access/permissions'],
  ...[
    'office/blacklists',
    'office/notifications',
    'logs/operation-logs',
    'logs/login-logs',
    'exports/exports',
  ],
];

/** Bytes of script that came over the wire so far. */
const scriptBytes = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );

/** Bytes of what the page itself asks for, before the shell is fetched behind the door. */
async function doorBytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/console/`)).text();
  const scripts = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+\.js)"/g)].map(
    ([, path]) => path,
  );
  const sizes = scripts.map(async (path) => {
    const answer = await fetch(url + path, { headers: { 'Accept-Encoding': 'br' } });
    return Number(answer.headers.get('content-length'));
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

interface Step {
  /** From the end of the API's answer until its rows are shown, in milliseconds. */
  afterData: number;
  shift: number;
}

// Runs in the page: presses a link of the menu, and waits for the rows of its list.
const walk = `(async (address) => {
  let shift = 0;
  const shifts = new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; });
  shifts.observe({ type: 'layout-shift' });
  const name = address.split('/').at(-1);
  const begun = performance.now();
  document.querySelector('.menu a[href$="/' + address + '"]').click();
  const isShown = () => document.querySelector('[data-resource="' + name + '"][aria-busy=false]');
  while (!isShown()) await new Promise((resolve) => requestAnimationFrame(resolve));
  const shown = performance.now();
  const answers = performance.getEntriesByType('resource').filter((entry) => entry.startTime >= begun && entry.name.includes('/api/admin/' + name + '?'));
  const data = Math.max(begun, ...answers.map(({ responseEnd }) => responseEnd));
  await new Promise((resolve) => setTimeout(resolve, 300));
  shifts.disconnect();
  return { afterData: shown - data, shift };
})`;

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
const inMs = (value: number): string => `${value.toFixed(0)} ms`;

function row(what: string, result: string, target = '', isReached?: boolean): string[] {
  return [what, result, target, isReached === undefined ? '' : isReached ? 'reached' : 'missed'];
}

const service = await startService();
const browser = await startBrowser();
try {
  const method = await makeMethod(service.admin);
  for (let count = 0; count < 15; count++) await makePayment(service.admin, method.id);
  const { page } = await openPage(browser, service.url);
  await page.goto('/console/trade/orders');
  await page.getByLabel('Username').fill('admin');
  await page.getByLabel('Password').fill('admin123');
  await page.locator('button[type=submit]').click();
  await page.locator('a.row-link').first().waitFor();
  await page.waitForLoadState('networkidle');
  const first = await scriptBytes(page);

  const added: number[] = [];
  const steps: Step[] = [];
  for (let round = 0; round < 4; round++) {
    for (const list of lists) {
      const before = await scriptBytes(page);
      const step = await page.evaluate<Step>(`${walk}(${JSON.stringify(list)})`);
      if (round === 0) added.push((await scriptBytes(page)) - before);
      // The first visit also fetches the screen.
      else steps.push(step);
    }
  }
  const door = await doorBytes(service.url);
  const times = steps.map(({ afterData }) => afterData);
  const shift = steps.reduce((sum, one) => sum + one.shift, 0);
  const heaviest = Math.max(...added);
  const slowest = Math.max(...times);
  printColumns(
    'bench:console',
    ['', 'result', 'target', ''],
    [
      row('script of signing in', kilobytes(door), `≤ ${limits.signIn} kB`, door <= limits.signIn * 1000),
      row(
        'script until the first list',
        kilobytes(first),
        `≤ ${limits.first} kB`,
        first <= limits.first * 1000,
      ),
      row('script of each further list, median', kilobytes(median(added))),
      row('… the heaviest', kilobytes(heaviest), `≤ ${limits.further} kB`, heaviest <= limits.further * 1000),
      row(
        'list to list after the data, median',
        inMs(median(times)),
        `< ${limits.list} ms`,
        median(times) < limits.list,
      ),
      row('… the slowest of the visits', inMs(slowest)),
      row('layout shift, all visits together', shift.toFixed(3), String(limits.shift), shift < 0.001),
    ],
  );
} finally {
  await browser.close();
  await service.stop();
}
