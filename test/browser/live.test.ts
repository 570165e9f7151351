// Streams and notifications as a browser reads them: EventSource and WebSocket of headless Chromium, on a page of this test.
import '../support/environment.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/pages.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { ticketOf } from '../support/socket.js';

// The page's own scripts: they run in the browser, not here.
const readTwo = (url: string, type: string): string => `new Promise((resolve, reject) => {
  const seen = [];
  const source = new EventSource(${JSON.stringify(url)});
  source.onmessage = ({ data }) => {
    seen.push(JSON.parse(data).type);
    if (seen.filter((one) => one === ${JSON.stringify(type)}).length < 2) return;
    source.close();
    resolve(seen);
  };
  source.onerror = () => reject(new Error('the stream failed'));
})`;

const openSocketScript = (url: string): string => `{
  var received = [], opened = false, code;
  const socket = new WebSocket(${JSON.stringify(url)});
  socket.onopen = () => (opened = true);
  socket.onmessage = ({ data }) => received.push(JSON.parse(data));
  socket.onclose = (event) => (code = event.code);
}`;

let service: Service;
let api: TestProcess;
let browser: Browser;
let pageUrl: string;
const pages = createServer((_, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>admin</title>');
});

test.before(async () => {
  service = await startService();
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  pageUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  api = await startApi({ CORS_ORIGINS: pageUrl });
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  pages.close();
  await killProcesses();
  await service.stop();
});

test('an EventSource with a ticket reads the dashboard and the monitor', async (t) => {
  const page = await browser.newPage();
  await page.goto(pageUrl);
  for (const [path, type] of [
    ['/dashboard/stream?interval=2', 'dashboard_data'],
    ['/monitor/system-info/stream?interval=1', 'system_info'],
  ]) {
    const url = `${api.url}/api/admin${path}&ticket=${await ticketOf(service.admin)}`;
    const types = await page.evaluate<string[]>(readTwo(url, type as string));
    t.deepEqual(types, ['connected', type, type]);
  }
});

test('a WebSocket with a ticket receives a notification', async (t) => {
  const page = await browser.newPage();
  await page.goto(pageUrl);
  const other = await service.anonymous.signIn();
  const url = `${api.url.replace('http', 'ws')}/ws/admin/notifications?ticket=${await ticketOf(other)}`;
  await page.evaluate(openSocketScript(url));
  await page.waitForFunction('opened');
  await service.admin.post('/notifications', { title: 'hello browser', content: 'x' });
  const frame = `received.find(({ type }) => type === 'notification')`;
  await page.waitForFunction(frame);
  t.is(await page.evaluate<string>(`${frame}.data.title`), 'hello browser');
  await other.post('/logout');
  await page.waitForFunction('code !== undefined');
  t.is(await page.evaluate<number>('code'), 4401);
});

test('the documentation page calls an operation without foreign requests', async (t) => {
  const page = await browser.newPage({ locale: 'en-US', viewport: { width: 360, height: 700 } });
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(api.url) && !request.url().startsWith('data:'))
      complaints.push(request.url());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => (window.violations ??= []).push(event.violatedDirective));`,
  );
  await page.goto(`${api.url}/docs`);
  await page.locator('#operations-tag-Orders').waitFor();
  await page.getByRole('searchbox').fill('replay callback');
  await page.getByText('1 operation', { exact: true }).waitFor();
  await page.locator('.opblock', { hasText: '/callbacks/{id}/replay' }).waitFor();
  t.is(await page.locator('.opblock').count(), 1);

  await page.getByRole('button', { name: 'Sign in' }).click();
  const door = page.getByRole('dialog');
  await door.getByLabel('Username').fill('admin');
  await door.getByLabel('Password').fill('not this one');
  await door.getByRole('button', { name: 'Sign in' }).click();
  await door.getByText('Wrong username or password').waitFor();
  await door.getByLabel('Password').fill('admin123');
  await door.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();

  await page.reload();
  await page.locator('#who', { hasText: 'admin' }).waitFor();
  await page.getByRole('searchbox').fill('/api/admin/info');
  const info = page.locator('.opblock', { hasText: '/api/admin/info' }).first();
  await info.locator('.opblock-summary-control').click();
  await info.locator('.try-out__btn').click();
  await info.locator('.execute').click();
  const answer = info.locator('.live-responses-table');
  await answer.locator('.response-col_status').last().waitFor();
  t.regex(await answer.innerText(), /"username": "admin"/);
  const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
  t.true(widest <= 360, `${widest} px wide`);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  t.is(await page.evaluate<string | null>("localStorage.getItem('authorized')"), '{}');
  t.deepEqual(await page.evaluate('window.violations ?? []'), []);
  t.is(await page.locator('.errors-wrapper').count(), 0);
  t.deepEqual(complaints, []);
});
