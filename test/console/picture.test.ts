// The dashboard of a trial that was filled: every plot has something to show. Its picture is that of the README (docs/console.png).
import '../support/environment.js';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { config } from '../../config/index.js';
import { consoleTest } from '../support/console-test.js';
import { enter } from '../support/pages.js';

const { journey } = consoleTest();
const viewport = { width: 1200, height: 720 };

journey(
  'the dashboard shows the months of a trial that was filled',
  async (t, page) => {
    const program = resolve(config.root, 'build/src/api/demo/main.js');
    await promisify(execFile)(process.execPath, [program, '--days', '40']);
    await enter(page, { at: '/console/office/dashboard' });
    await page.locator('canvas').nth(3).waitFor();
    await page.getByRole('button', { name: 'Sales by month: As a table' }).click();
    const sales = page.locator('.values td').filter({ hasText: /[1-9]/ });
    await sales.first().waitFor();
    t.true((await sales.count()) >= 2, 'sales in two months');
    await page.getByRole('button', { name: 'Sales by month: As a plot' }).click();
    await page.locator('canvas').nth(3).waitFor();
    mkdirSync(resolve(config.root, 'build/screens'), { recursive: true });
    await page.screenshot({ path: resolve(config.root, 'build/screens/readme.png') });
  },
  { viewport },
);
