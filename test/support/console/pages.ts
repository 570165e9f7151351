// Pages of the console in headless Chromium; their complaints fail a test.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { logPages, type PageLog } from './page-log.js';

/** A name of this machine whose pages browsers do not trust as they trust `localhost`. */
export const plainHost = 'plain.test';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
  `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`,
  // The page of a file lives for a minute: compiling at once and quickly pays, the thorough compiler costs more than it saves,
  // and so do threads that look for garbage in the little that pages make, and a process of its own for drawing.
  '--js-flags=--always-sparkplug --no-opt --single-threaded-gc --min-semi-space-size=32',
  '--in-process-gpu',
];

/** Starts Chromium as Debian packs it without a window. @param env of its process */
export const startBrowser = (env?: NodeJS.ProcessEnv): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: flags, env });

/** A page and what it complained about: errors of scripts and of the console, violations of the policy, foreign requests. */
export interface Watched {
  page: Page;
  complaints: string[];
  log: PageLog;
}

/** How long a state is waited for before the test gives up. A loaded machine needs its time; one that works never waits it out. */
const patienceMs = 60_000;

// Refused calls and a socket without a network are answers like any other; the browser writes a line about each.
const isRefusal = (text: string): boolean =>
  text.startsWith('Failed to load resource') || /^WebSocket .*ERR_INTERNET_DISCONNECTED/.test(text);

/** Opens a page of a browser context of its own. Nothing moves in it unless `options` say so: pictures and clicks need no patience. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    ...{ baseURL: url, locale: 'en-US', timezoneId: 'UTC', viewport: { width: 1280, height: 800 } },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(patienceMs);
  const log = logPages(context);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error' && !isRefusal(message.text())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url))
      complaints.push(request.url());
  });
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('policy', event.violatedDirective, event.blockedURI));`,
  );
  const page = await context.newPage();
  return { page, complaints, log };
}

/** Signs in without the form, as a tab does that another one hands its session to, and opens an address. */
export async function enter(
  page: Page,
  { at = '/', username = 'admin', password = 'admin123' } = {},
): Promise<void> {
  const answer = await page.request.post('/api/admin/login', { data: { username, password } });
  const { data } = (await answer.json()) as { data: { token: string } };
  // The storage of a tab belongs to an origin: any answer of it will do.
  await page.goto('/healthz');
  await page.evaluate(`sessionStorage.setItem('console.token', ${JSON.stringify(data.token)})`);
  await page.goto(at);
  await page.locator('#content').waitFor();
}

/** Fills the sign-in form that is shown. */
export async function signIn(page: Page, username = 'admin', password = 'admin123'): Promise<void> {
  const form = page.locator('.sign-in');
  await form.getByLabel(/^(Username|用户名)$/).fill(username);
  await form.getByLabel(/^(Password|密码)$/).fill(password);
  await form.locator('button[type=submit]').click();
  await page.locator('#content').waitFor();
}

const script = (address: string): string =>
  `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`;

/** Changes the address as a link of the page does, without loading the page anew, and waits for nothing. */
export const push = (page: Page, address: string): Promise<unknown> => page.evaluate(script(address));

/** Goes to an address as `push` does; resolves when another screen is there. */
export async function follow(page: Page, address: string): Promise<void> {
  await page.evaluate(`document.querySelector('.screen')?.setAttribute('data-left', ''); ${script(address)}`);
  await page.locator('.screen:not([data-left])').waitFor();
}

/** An address without a screen. */
export const nowhere = '/console/nowhere';

/** Leaves the screen that is open, as `follow` does. */
export async function leaveScreen(page: Page): Promise<void> {
  await push(page, nowhere);
  await page.getByText('There is no such page').waitFor();
}

/** Holds calls of that method back. @returns when the first is there, and what lets them go */
export async function hold(page: Page, address: string | RegExp, method: string) {
  let arrive = () => undefined as void;
  let go = () => undefined as void;
  const asked = new Promise<void>((resolve) => (arrive = resolve));
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route(address, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    arrive();
    await held;
    return route.continue();
  });
  return { asked, go };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/** Chooses an option of a select by its text. */
export async function choose(
  page: Page,
  scope: Page | Locator,
  label: string,
  option: string,
): Promise<void> {
  await scope.getByLabel(label, { exact: true }).click();
  await page.locator('.ant-select-item-option', { hasText: option }).first().click();
}

/** Opens the menu of a button and chooses an entry, which may be below others. */
export async function chooseEntry(page: Page, button: string | RegExp, ...path: string[]): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  const entries = path.map((name) => page.getByRole('menuitem', { name }));
  for (const above of entries.slice(0, -1)) await above.hover();
  await entries.at(-1)?.click();
}

/** Copies the link of the list that is open, and pastes it. @param filter the label of one of its filters, to paste into */
export async function copiedLink(page: Page, filter: string): Promise<string> {
  await chooseEntry(page, 'Views', 'Copy the link');
  await page.getByText('Link copied').waitFor();
  await page.getByLabel(filter).click();
  await page.keyboard.press('Control+V');
  return page.getByLabel(filter).inputValue();
}

/** What axe calls serious or critical on the page, one line each. @param rules all by default */
export async function inaccessible(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe);
  // What is in order is counted only, not described.
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })})
       .then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ target }) => target.join(' '))
          .slice(0, 3)
          .join(' | ')}`,
    );
}

/** Pixels by which the widest table of the page exceeds its container. */
export const beyondTable = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `Math.max(0, ...[...document.querySelectorAll('.ant-table-content, .ant-table-body')].map((one) => one.scrollWidth - one.clientWidth))`,
  );
