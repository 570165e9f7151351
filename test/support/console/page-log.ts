// The log of a browser context, saved with a picture of each page when a test fails.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import type { BrowserContext } from 'playwright-core';
import { config } from '../../../config/index.js';

const kept = resolve(config.root, 'build/failures');
const lineLimit = 300;
const errorLimit = 6000;

export interface PageLog {
  /** Writes the log, and a picture and the text of each page that is still open, into build/failures/; answers the folder. */
  keep(title: string, error: unknown): Promise<string>;
}

/** Logs the console, errors, calls of the API that were refused or slow, and requests that failed. */
export function logPages(context: BrowserContext): PageLog {
  const begun = performance.now();
  const lines: string[] = [];
  const say = (text: string, limit = lineLimit) =>
    lines.push(`${((performance.now() - begun) / 1000).toFixed(2)} ${text.slice(0, limit)}`);
  context.on('console', (message) => say(`console ${message.type()}: ${message.text()}`));
  context.on('weberror', (error) => say(`error: ${error.error().stack ?? error.error().message}`));
  context.on('requestfailed', (request) =>
    say(`failed: ${request.method()} ${pathOf(request.url())} ${request.failure()?.errorText ?? ''}`),
  );
  context.on('response', (response) => {
    if (!response.url().includes('/api/')) return;
    const said = `${response.status()} ${response.request().method()} ${pathOf(response.url())}`;
    say(said);
    if (response.status() < 400) return;
    void response.text().then(
      (text) => say(`  ${said}: ${text}`),
      () => undefined,
    );
  });
  context.on('page', (page) => page.on('framenavigated', (frame) => say(`at ${pathOf(frame.url())}`)));
  return {
    async keep(title, error) {
      say(inspect(error, { depth: 4 }), errorLimit);
      const folder = resolve(kept, title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80));
      mkdirSync(folder, { recursive: true });
      for (const [at, page] of context.pages().entries()) {
        // A page that hangs must not hide what else is known.
        await page.screenshot({ path: resolve(folder, `page-${at + 1}.png`) }).catch(() => undefined);
        const seen = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String);
        writeFileSync(resolve(folder, `page-${at + 1}.txt`), `${page.url()}\n${seen}\n`);
      }
      writeFileSync(resolve(folder, 'log.txt'), `${lines.join('\n')}\n`);
      return folder;
    },
  };
}

const pathOf = (url: string): string =>
  URL.canParse(url) ? new URL(url).pathname + new URL(url).search : url;
