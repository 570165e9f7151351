// Large files in and out, as an operator moves them: an import with bad rows, an export, an upload over a bad network.
import '../support/settings/environment.js';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { change, select } from '../../src/lib/database/db.js';
import { consoleTest } from '../support/console/console-test.js';
import { makeAdmin, makeUser } from '../support/factories.js';
import { png } from '../support/files.js';
import { askExport, endOf } from '../support/exports.js';
import { errorFileOf, sheet } from '../support/imports.js';
import { chooseEntry, beyondTable, enter, follow, hold, nowhere, signIn } from '../support/console/pages.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

const own = consoleTest();
const { journey, freshJourney } = own;
const folder = mkdtempSync(join(tmpdir(), 'console-files-'));

/** Whether one element ends above another, both on the page as it opened. */
async function isAbove(one: Locator, other: Locator): Promise<boolean> {
  const [upper, lower] = [await one.boundingBox(), await other.boundingBox()];
  return upper !== null && lower !== null && upper.y + upper.height <= lower.y;
}

const countOf = async (table: 'orders' | 'attachments' | 'imports'): Promise<number> =>
  (await selectRow<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`)).count;

async function saved(page: Page, button: Locator): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await download.path());
}

const asFile = (content: string | Buffer) => ({
  name: 'orders.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(content),
});

journey('rejected rows of 2,000 are corrected and imported again', async (t, page) => {
  const user = await makeUser(own.service.admin, { username: 'sheet_buyer' });
  const orders = 1750;
  const { content, good } = sheet(user.id, orders);
  await follow(page, '/console/imports/imports/new');
  await page.getByLabel('Choose a file').setInputFiles(asFile(content));
  const start = page.getByRole('button', { name: 'Import the valid orders only' });
  await start.waitFor();
  t.is(await countOf('orders'), 0, 'the check has made none');
  const bad = page.getByRole('cell', { name: 'bad', exact: true }).first();
  await bad.waitFor();
  t.true(await isAbove(start, bad), 'what is to be decided is seen without scrolling');

  await start.click();
  const shown = page.getByRole('link', { name: 'Show the orders of that time' });
  await shown.waitFor();
  // Somebody who comes back to it must not start it again.
  await page.reload();
  await shown.waitFor();
  const save = page.getByRole('button', { name: 'Download the invalid rows' });
  await save.waitFor();
  t.is(await countOf('orders'), good);
  const { id } = await selectRow<{ id: number }>('SELECT MAX(id) AS id FROM imports');
  const kept = await saved(page, save);
  const caller = own.service.admin.with({ 'Accept-Language': 'en-US' });
  t.is(kept.toString(), (await errorFileOf(caller, id)).bytes.toString());

  await page.getByRole('link', { name: 'Import another file' }).click();
  await page.getByLabel('Choose a file').setInputFiles(asFile(kept.toString().replaceAll(',bad,', ',1.00,')));
  await page.getByRole('button', { name: 'Start the import' }).click();
  await shown.waitFor();
  await page.getByText('All rows are valid').waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  const outcome = await page.getByText(/orders were created$/).boundingBox();
  t.true((outcome?.height ?? 0) < 60, 'on a phone its words stand side by side');
  await page.setViewportSize({ width: 1280, height: 800 });
  t.is(await countOf('orders'), orders);
});

journey('what is imported is what was checked, whatever was saved in its file since', async (t, page) => {
  const { username } = await makeUser(own.service.admin);
  const file = join(folder, 'changing.csv');
  const save = (second: string) =>
    writeFileSync(
      file,
      `order_ref,username,product_name,price,quantity\nA,${username},Tea,1.00,1\nB,${second},Tea,1.00,1\n`,
    );
  await follow(page, '/console/imports/imports/new');
  await page
    .getByLabel('Choose a file')
    .setInputFiles(asFile('order_ref,username,product_name,price,quantity\nA,nobody-here,Tea,1.00,1\n'));
  await page.getByText('0 orders can be imported').waitFor();
  const start = page.getByRole('button', { name: 'Import the valid orders only' });
  t.is(await start.count(), 0, 'nothing is offered to be imported where nothing can be');
  save('nobody-here');
  await page.getByRole('button', { name: 'Choose another file' }).click();
  await page.getByLabel('Choose a file').setInputFiles(file);
  await start.waitFor();
  save(username);
  await start.click();
  await page.getByText('1 order was created').waitFor();
  t.is(await page.getByText('The service cannot be reached').count(), 0);
});

journey('an import that is left while it is sent moves nobody', async (t, page) => {
  const { username } = await makeUser(own.service.admin);
  await follow(page, '/console/access/profile');
  await follow(page, '/console/imports/imports/new');
  await page
    .getByLabel('Choose a file')
    .setInputFiles(asFile(`order_ref,username,product_name,price,quantity\nA,${username},Tea,1.00,1\n`));
  const start = page.getByRole('button', { name: 'Start the import' });
  await start.waitFor();
  const { asked, go } = await hold(page, '**/api/admin/orders/import', 'POST');
  await start.click();
  await asked;
  t.true(await page.getByRole('button', { name: 'Choose another file' }).isDisabled());
  await page.goBack();
  await page.locator('[data-screen=profile]').waitFor();
  const noted = () =>
    page.evaluate<boolean>(`Object.keys(sessionStorage).some((name) => / import$/.test(name))`);
  t.true(await noted());
  go();
  // What an answer ends first.
  await until(async () => !(await noted()));
  t.regex(page.url(), /\/profile$/);
});

journey('an import whose answer was lost is not made again after a reload', async (t, page) => {
  const { username } = await makeUser(own.service.admin);
  const file = asFile(`order_ref,username,product_name,price,quantity\nA,${username},Tea,1.00,1\n`);
  await follow(page, '/console/imports/imports/new');
  page.once('dialog', (dialog) => void dialog.accept());
  const orders = await countOf('orders');
  const start = page.getByRole('button', { name: 'Start the import' });
  await page.getByLabel('Choose a file').setInputFiles(file);
  await start.waitFor();
  await page.route('**/api/admin/orders/import', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await start.click();
  await page.getByText('The service cannot be reached').first().waitFor();
  await page.unrouteAll();
  await page.reload();
  await page.getByText('Choose orders.csv again').waitFor();
  await page.getByLabel('Choose a file').setInputFiles(file);
  await start.click();
  await page.getByText('1 order was created').waitFor();
  t.is(await countOf('orders'), orders + 1);
});

freshJourney('an import that does not exist is asked for once', async (t, page) => {
  await enter(page, { at: nowhere });
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/imports/999999')) asked += 1;
  });
  await page.clock.install();
  await follow(page, '/console/imports/imports/999999');
  const back = page.getByRole('link', { name: 'Back to imports' });
  await back.waitFor();
  await page.clock.fastForward(10_000);
  await back.click();
  await page.getByRole('heading', { name: 'Imports' }).waitFor();
  t.is(asked, 1);
  // Nor one whose address is no number.
  await follow(page, '/console/imports/imports/abc');
  await back.waitFor();
});

journey('an import that is stopped leads to the orders it has made', async (t, page) => {
  const { admin } = own.service;
  const { content } = sheet((await makeUser(admin)).id, 40_000);
  const answer = admin.upload('/orders/import', content, { filename: 'stopped.csv' });
  const { id } = await until(async () => {
    const [row] = await select<{ id: number }>(`SELECT id FROM imports WHERE filename = 'stopped.csv'`);
    return row;
  });
  await follow(page, `/console/imports/imports/${id}`);
  await until(async () => (await admin.get(`/imports/${id}`)).data.order_count > 0);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByText(/orders were created$/).waitFor();
  t.is(await page.getByText('The import was cancelled').count(), 1);
  await page.locator('.tag', { hasText: 'Cancelled' }).waitFor();
  await page.getByRole('link', { name: 'Show the orders of that time' }).click();
  await page.waitForURL(/\/trade\/orders\?start_time=/);
  await answer;
});

journey('an export holds exactly the filtered rows', async (t, page) => {
  await follow(page, '/console/trade/orders?keyword=order%20&status=pending');
  await page.locator('a.row-link').first().waitFor();
  await chooseEntry(page, 'Export', 'Export CSV');
  await page.getByText('Export is ready').waitFor();
  const kept = await saved(page, page.locator('.ant-notification .ant-btn-primary'));
  const { id, processed_rows } = await selectRow<{ id: number; processed_rows: number }>(
    'SELECT id, processed_rows FROM exports ORDER BY id DESC LIMIT 1',
  );
  const { bytes } = await own.service.admin.download(`/exports/${id}/download`);
  t.true(kept.equals(bytes));
  t.true(processed_rows > 0 && processed_rows < (await countOf('orders')));
  await page.getByRole('button', { name: /^Notifications, [1-9]/ }).waitFor();
  await follow(page, '/console/exports/exports');
  const done = page.locator('[data-resource=exports] tr', { hasText: 'Done' }).first();
  // An order is an entry, as in its list, and a row of the file for each line.
  await done.getByText(`${processed_rows.toLocaleString('en-US')} entries`).waitFor();
  await page.locator('[data-resource=exports]').getByText('Status: Pending').first().waitFor();
  t.is(await beyondTable(page), 0);
  // Its notification stays until somebody closes it.
  await page.locator('.ant-notification-notice-close').click();
  await page.getByText('Export is ready').waitFor({ state: 'detached' });

  const { id: userId, username } = await makeUser(own.service.admin);
  await follow(page, `/console/trade/payments?user_id=${userId}&needs_attention=false`);
  await page.getByText('Nothing matches these filters').waitFor();
  await chooseEntry(page, 'Export', 'Export CSV');
  await page.getByText('Export is ready').waitFor();
  const { filter } = await selectRow<{ filter: string }>(
    'SELECT filter FROM exports ORDER BY id DESC LIMIT 1',
  );
  t.like(JSON.parse(filter), { user_id: userId, needs_attention: false });
  await page.locator('.ant-notification-notice-close').click();
  await own.service.admin.post('/users/export', { format: 'csv', username });
  await follow(page, '/console/exports/exports');
  await page.getByText(`User: ${userId} · Needs attention: No`, { exact: true }).waitFor();
  await page.locator('.rows').getByText('1 entry', { exact: true }).waitFor();

  await follow(page, '/console/trade/orders');
  await page.route('**/export/status/*', (route) =>
    route.fulfill({ status: 404, json: { code: 404, message: 'There is no such export', data: null } }),
  );
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Export CSV' }).click();
  await page.getByText('There is no such export').waitFor();
  await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
});

const chunkCalls = (page: Page): { sent: number } => {
  const seen = { sent: 0 };
  page.on('response', (response) => {
    if (response.url().endsWith('/attachments/chunk') && response.request().method() === 'POST')
      seen.sent += 1;
  });
  return seen;
};

journey('the drawer of an export follows it to its end', async (t, page) => {
  const { admin } = own.service;
  const id = await askExport(admin, '/users');
  await endOf(admin, id);
  await change(
    'UPDATE exports SET status = 0, progress = 30, processed_rows = 3, total_rows = 10 WHERE id = :id',
    {
      id,
    },
  );
  await follow(page, `/console/exports/exports/${id}`);
  const drawer = page.getByRole('dialog');
  await drawer.getByText('3 / 10 entries').waitFor();
  await change('UPDATE exports SET status = 1, progress = 100, processed_rows = 10 WHERE id = :id', { id });
  await drawer.getByText('Done').waitFor();
  t.is(await drawer.getByText('3 / 10').count(), 0);
});

journey('an upload of 60 MB survives a pause, a lost connection and a reload', async (t, page) => {
  const file = join(folder, 'large.txt');
  const content = Buffer.from(randomBytes(30 * 1024 * 1024).toString('hex'));
  writeFileSync(file, content);
  await follow(page, '/console/files/attachments');
  const slow = await page.context().newCDPSession(page);
  const bytesPerSecond = 12 * 1024 * 1024;
  const network = (offline: boolean) =>
    slow.send('Network.emulateNetworkConditions', {
      ...{ offline, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond },
    });
  await network(false);
  const line = page.locator('li.upload');
  const inState = (state: string) => page.locator(`li.upload[data-state=${state}]`);
  const chunk = () =>
    page.waitForResponse((response) => response.url().endsWith('/attachments/chunk') && response.ok());
  await page.getByLabel('Files to upload').setInputFiles(file);
  await inState('uploading').waitFor();
  await chunk();
  await line.getByRole('button', { name: 'Pause large.txt' }).click();
  await inState('paused').waitFor();
  await line.getByRole('button', { name: 'Resume large.txt' }).click();
  await chunk();
  await network(true);
  await inState('offline').waitFor();
  await network(false);
  await inState('uploading').waitFor();
  await chunk();
  await page.reload();
  await page.getByLabel('Files to upload').waitFor({ state: 'attached' });
  const note = page.getByText('Choose large.txt again');
  await note.waitFor();
  const again = chunkCalls(page);
  await page.getByLabel('Files to upload').setInputFiles(file);
  await note.waitFor({ state: 'detached' });
  await inState('done').waitFor();
  await slow.detach();
  t.true(again.sent < 12, `what was there is not sent again: ${again.sent} calls`);
  const row = await selectRow<{ size: number; sha256: string }>(
    'SELECT size, sha256 FROM attachments ORDER BY id DESC LIMIT 1',
  );
  t.is(Number(row.size), content.length);
  t.is(row.sha256, createHash('sha256').update(content).digest('hex'));
});

journey('the limits of a file are shown before it is sent', async (t, page) => {
  await follow(page, '/console/files/attachments');
  await page.getByText(/, pdf, .*; up to 5\.0 GiB each$/).waitFor();
  const accepted = await page.getByLabel('Files to upload').getAttribute('accept');
  t.regex(accepted ?? '', /(^|,)\.pdf(,|$)/);
  t.notRegex(accepted ?? '', /html/);
  await follow(page, '/console/imports/imports/new');
  await page.getByText('A file may have up to 200.0 MiB').waitFor();
  const before = await countOf('imports');
  const file = join(folder, 'too-large.csv');
  writeFileSync(file, '');
  truncateSync(file, 201 * 1024 * 1024);
  await page.getByLabel('Choose a file').setInputFiles(file);
  await page.getByRole('alert').getByText('A file may have up to 200.0 MiB').waitFor();
  t.is(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  t.is(await countOf('imports'), before);
});

journey('an upload that is paused and resumed within a chunk sends no chunk twice', async (t, page) => {
  const file = join(folder, 'four-chunks.txt');
  writeFileSync(file, randomBytes(10 * 1024 * 1024).toString('hex'));
  await follow(page, '/console/files/attachments');
  const slow = await page.context().newCDPSession(page);
  const uploadThroughput = 12 * 1024 * 1024;
  await slow.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
  });
  const calls = chunkCalls(page);
  await page.getByLabel('Files to upload').setInputFiles(file);
  const line = page.locator('li.upload', { hasText: 'four-chunks.txt' });
  await line.and(page.locator('[data-state=uploading]')).waitFor();
  const toggles = 3;
  for (let times = 0; times < toggles; times++) {
    await line.getByRole('button', { name: 'Pause' }).click();
    await line.getByRole('button', { name: 'Resume' }).click();
  }
  await line.and(page.locator('[data-state=done]')).waitFor();
  await slow.detach();
  t.is(await line.getByRole('alert').count(), 0);
  // One to open, one to merge; a pause may come just after a chunk was taken.
  t.true(calls.sent <= 4 + 2 + 2 * toggles, `${calls.sent} calls`);
  await line.getByRole('button', { name: 'Remove' }).click();
});

journey('files that somebody uploads wait for them, unseen by the next one in the tab', async (t, page) => {
  const other = await makeAdmin(own.service.admin, [1]);
  const signOut = async () => {
    await chooseEntry(page, /^Account/, 'Sign out');
  };
  const line = page.locator('li.upload', { hasText: 'large.txt' });
  await follow(page, '/console/files/attachments');
  await page.getByLabel('Files to upload').setInputFiles(join(folder, 'large.txt'));
  await line.and(page.locator('[data-state=uploading]')).waitFor();
  await signOut();
  const meanwhile = chunkCalls(page);
  await signIn(page, other.username, other.password);
  await page.getByLabel('Files to upload').waitFor({ state: 'attached' });
  t.is(await page.locator('li.upload').count(), 0);
  await signOut();
  t.is(meanwhile.sent, 0);
  await signIn(page);
  await line.and(page.locator('[data-state=done]')).waitFor();
  await line.getByRole('button', { name: 'Remove' }).click();
});

journey('only what is shown is deleted of what is chosen', async (t, page) => {
  const { admin } = own.service;
  for (const name of ['kept-1', 'kept-2', 'gone-3'])
    await admin.upload('/attachments/upload', png, { filename: `${name}.png` });
  const before = await countOf('attachments');
  await follow(page, '/console/files/attachments');
  await page.getByRole('button', { name: 'Refresh' }).click();
  const row = (name: string) => page.locator('.rows tr', { hasText: `${name}.png` });
  for (const name of ['kept-1', 'kept-2', 'gone-3']) await row(name).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete 3' }).waitFor();
  await page.locator('[data-filter=display_name] input').fill('gone');
  await row('kept-1').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete 1' }).click();
  await page.locator('.ant-modal-confirm').getByRole('button', { name: 'Delete 1' }).click();
  await page.getByText('Nothing matches these filters').waitFor();
  t.is(await countOf('attachments'), before - 1);
});

freshJourney('what is asked about is deleted, also what has left the page meanwhile', async (t, page) => {
  const { admin } = own.service;
  const upload = (name: string) => admin.upload('/attachments/upload', png, { filename: `${name}.png` });
  for (let at = 10; at < 20; at += 1) await upload(`asked-${at}`);
  await enter(page, { at: '/console/access/profile' });
  await page.evaluate(`localStorage.setItem('console.settings', JSON.stringify({ pageSize: 10 }))`);
  await page.goto('/console/files/attachments');
  const row = (name: string) => page.locator('.rows tr', { hasText: `${name}.png` });
  for (const name of ['asked-10', 'asked-11']) await row(name).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete 2' }).click();
  const question = page.locator('.ant-modal-confirm');
  await question.getByRole('button', { name: 'Delete 2' }).waitFor();
  const before = await countOf('attachments');
  await upload('asked-20');
  // As it happens when somebody comes back to the tab.
  await until(async () => {
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    return (await row('asked-20').count()) === 1;
  });
  await question.getByRole('button', { name: 'Delete 2' }).click();
  await question.waitFor({ state: 'detached' });
  t.is(await countOf('attachments'), before - 1);
});

journey('of many files a few are sent at once, and all arrive', async (t, page) => {
  const before = await countOf('attachments');
  await follow(page, '/console/files/attachments');
  let open: () => void = () => undefined;
  const opening = new Promise<void>((resolve) => (open = resolve));
  await page.route('**/attachments/chunk', async (route) => {
    await opening;
    await route.continue();
  });
  const files = Array.from({ length: 7 }, (_, at) => ({
    ...{ name: `photo-${at}.png`, mimeType: 'image/png', buffer: png },
  }));
  await page.getByLabel('Files to upload').setInputFiles(files);
  await page.locator('li.upload[data-state=waiting]').first().waitFor();
  t.is(await page.locator('li.upload[data-state=hashing]').count(), 4);
  open();
  await page.locator('li.upload:not([data-state=done])').first().waitFor({ state: 'detached' });
  t.is(await countOf('attachments'), before + files.length);
  await page.locator('.rows').getByText('photo-6.png').first().waitFor();
  const list = await page.locator('.rows').boundingBox();
  t.true((list?.y ?? Infinity) < 800, 'what is sent does not push the list away');
  for (const { name } of files) await page.getByRole('button', { name: `Remove ${name}` }).click();
});

journey('an upload whose merge fails after a while says why', async (t, page) => {
  await follow(page, '/console/files/attachments');
  await page.route('**/attachments/chunk', async (route) => {
    const isMerge = /"action":"merge"/.test(route.request().postData() ?? '');
    if (!isMerge) return route.continue();
    await route.fetch();
    await route.fulfill({ json: { code: 200, message: '', data: { chunk_id: 'any', status: 'merging' } } });
  });
  const picture = { name: 'no-picture.png', mimeType: 'image/png', buffer: Buffer.from('a text') };
  await page.getByLabel('Files to upload').setInputFiles(picture);
  const line = page.locator('li.upload[data-state=failed]', { hasText: picture.name });
  t.is(await line.getByRole('alert').textContent(), 'The content of the file does not fit its extension');
  await page.reload();
  await page.getByLabel('Files to upload').waitFor({ state: 'attached' });
  t.is(await page.getByText('its upload continues').count(), 0);
});

journey('what a proxy refuses by a limit of its own is put plainly', async (t, page) => {
  const page413 = {
    status: 413,
    contentType: 'text/html',
    body: '<html>413 Request Entity Too Large</html>',
  };
  await page.route('**/attachments/chunk', (route) => route.fulfill(page413), { times: 1 });
  // As deploy/nginx.conf answers.
  const json = {
    code: 429,
    message: '请求过于频繁',
    data: null,
    error_code: 'too_many_requests',
    trace_id: '',
  };
  const busy = { status: 429, json };
  await page.route(/attachments\?/, (route) => route.fulfill(busy), { times: 1 });
  await follow(page, '/console/files/attachments?display_name=refused');
  await page.getByText('Too many requests, please try again later (429)').waitFor();
  const picture = { name: 'refused.png', mimeType: 'image/png', buffer: png };
  await page.getByLabel('Files to upload').setInputFiles(picture);
  const line = page.locator('li.upload[data-state=failed]', { hasText: picture.name });
  t.is(
    await line.getByRole('alert').textContent(),
    'The proxy in front of the service does not take a file of this size; ask an administrator (413)',
  );
  await line.getByRole('button', { name: 'Remove' }).click();
});

journey('an upload whose file was changed says so, and is not taken for a lost network', async (t, page) => {
  const file = join(folder, 'changed.txt');
  writeFileSync(file, 'as it was chosen');
  await follow(page, '/console/files/attachments');
  await page.route('**/attachments/chunk', async (route) => {
    writeFileSync(file, 'as it was saved since');
    await route.continue();
  });
  await page.getByLabel('Files to upload').setInputFiles(file);
  const line = page.locator('li.upload[data-state=failed]', { hasText: 'changed.txt' });
  t.regex((await line.getByRole('alert').textContent()) ?? '', /^The file cannot be read/);
  await line.getByRole('button', { name: 'Remove' }).click();
});

journey('a cancelled upload leaves nothing behind', async (t, page) => {
  const file = join(folder, 'large.txt');
  const before = await countOf('attachments');
  await follow(page, '/console/files/attachments');
  await page.getByLabel('Files to upload').setInputFiles(file);
  await page.locator('li.upload[data-state=uploading]').waitFor();
  await page.getByRole('button', { name: 'Pause large.txt' }).click();
  const cancelled = page.waitForResponse(
    (response) =>
      response.url().endsWith('/attachments/chunk') && /cancel/.test(response.request().postData() ?? ''),
  );
  await page.getByRole('button', { name: 'Remove large.txt' }).click();
  t.true((await cancelled).ok());
  t.is(await page.locator('li.upload').count(), 0);
  t.is(await countOf('attachments'), before);
});
