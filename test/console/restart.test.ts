// The API is restarted while somebody works: the page says so, keeps what they see and type, and continues by itself.
import '../support/environment.js';
import test from 'ava';
import { consoleTest } from '../support/console-test.js';
import { makeUser } from '../support/factories.js';
import { startGateway } from '../support/gateway.js';
import { enter, openPage } from '../support/pages.js';
import { killProcesses, startApi } from '../support/processes.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
test.after.always(killProcesses);

const usersNamed = async (name: string): Promise<number> =>
  (await selectRow<{ count: number }>('SELECT COUNT(*) AS count FROM users WHERE username = ?', [name]))
    .count;

own.freshJourney(
  'while a proxy answers 502 the page says so and keeps its rows and what is typed; then all continues by itself',
  async (t) => {
    const api = await startApi({ LOG_LEVEL: 'warn' });
    const gateway = await startGateway(api.url);
    const { page, complaints, log } = await openPage(own.browser, gateway.url);
    const banner = page.getByText('The service is not responding; this page continues as soon as it does');
    const form = page.getByRole('dialog');
    try {
      const known = await makeUser(own.service.admin);
      await enter(page, { at: '/console/trade/users' });
      const row = page.locator('a.row-link', { hasText: known.username });
      await row.waitFor();
      await page.getByRole('link', { name: /^New/ }).click();
      await form.getByLabel('Username').fill('restarted_buyer');

      await api.kill();
      await banner.waitFor();
      t.is(await row.count(), 1, 'what was there stays');
      await form.getByLabel('Display name').fill('李雷');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByRole('alert').getByText('Nothing is lost: try again in a moment (502)').waitFor();
      t.is(await form.getByLabel('Username').inputValue(), 'restarted_buyer');
      t.is(await usersNamed('restarted_buyer'), 0);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Keep editing' }).click();
      t.is(await form.getByLabel('Display name').inputValue(), '李雷');

      await startApi({ PORT: new URL(api.url).port, LOG_LEVEL: 'warn' });
      await banner.waitFor({ state: 'detached' });
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      t.is(await usersNamed('restarted_buyer'), 1);
      await page.getByRole('heading', { name: 'restarted_buyer' }).waitFor();
      await page.locator('.live.on').waitFor();
      t.deepEqual(complaints, []);
    } catch (error) {
      t.log(`kept in ${await log.keep('restart', error)}`);
      throw error;
    } finally {
      await page.context().close();
      gateway.close();
    }
  },
);
