// Forms and questions of the console: where the focus is, whom a picker takes, what is said before and after a refusal.
import '../support/settings/environment.js';
import type { Page, Route } from 'playwright-core';
import { consoleTest } from '../support/console/console-test.js';
import { askExport } from '../support/exports.js';
import { makeAdmin, makeOrder, makeRole, makeUser, signedInWith, unique } from '../support/factories.js';
import {
  chooseEntry,
  choose,
  enter,
  follow,
  hold,
  leaveScreen,
  nowhere,
  push,
} from '../support/console/pages.js';
import { until } from '../support/until.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
const { journey, freshJourney } = own;

const focused = (page: Page) => page.locator(':focus');

journey(
  'a new order is written with the keyboard alone, for the user of exactly that name',
  async (t, page) => {
    const { admin } = own.service;
    const username = `${unique('customer')}.12`;
    const nickname = unique('Rose');
    const { id } = await makeUser(admin, { username, nickname });
    // Newer, so that the service lists them first.
    await makeUser(admin, { username: `${username}0` });
    await makeUser(admin, { username: `${username}1` });
    await follow(page, '/console/trade/orders/new');
    const form = page.getByRole('dialog');
    const active = page.locator('.ant-select-item-option-active');
    await form.locator('#form_user_id:focus').waitFor();
    await page.keyboard.type('nobody of this name');
    await page.getByText('No user found').waitFor();
    await form.locator('#form_user_id').fill(nickname);
    await active.getByText(`${username} · ${nickname}`, { exact: true }).waitFor();
    await form.locator('#form_user_id').fill(username);
    await active.getByText(`${username} · ${nickname}`, { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await form.locator('.ant-select', { hasText: nickname }).waitFor();
    await form.getByRole('button', { name: 'Add a line' }).click();
    await form.getByRole('button', { name: 'Remove this line' }).nth(1).click();
    const complaint = form.getByText('Every line needs a product');
    const isEarly = complaint.waitFor({ timeout: 500 }).then(
      () => true,
      () => false,
    );
    t.false(await isEarly, 'what is missing is said when it is sent');
    await form.getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('Control+Enter');
    await complaint.waitFor();
    t.is(await focused(page).getAttribute('aria-label'), 'Product', 'at the first field that is wrong');
    await page.keyboard.type('Notebook');
    await form.getByLabel('Price').fill('12.345');
    await form.getByText('At most two decimals', { exact: true }).waitFor();
    const marked = form.locator(
      '.lines .ant-input-status-error, .lines .ant-input-affix-wrapper-status-error',
    );
    t.is(await marked.count(), 1, 'the price alone');
    t.is(await form.getByText('Every line needs a product').count(), 0);
    await form.getByLabel('Price').fill('12.50');
    await form.getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: /^ORD/ }).waitFor();
    const { user_id } = await selectRow<{ user_id: number }>(
      'SELECT user_id FROM orders ORDER BY id DESC LIMIT 1',
    );
    t.is(user_id, id);
  },
);

journey('a form that could not be sent says by itself when the service answers again', async (t, page) => {
  await follow(page, '/console/trade/users/new');
  const form = page.getByRole('dialog');
  const username = unique('lost');
  await form.getByLabel('Username').fill(username);
  await page.route('**/api/**', (route) => route.abort());
  await form.getByRole('button', { name: 'Save' }).click();
  const refusal = page.getByText('The service cannot be reached; check the network');
  await form.locator('.ant-alert-error').getByText('The service cannot be reached').waitFor();
  t.is(await refusal.count(), 2, 'in the form, and above the page');
  await page.unrouteAll();
  await form.locator('.ant-alert-info').getByText('The service answers again').waitFor();
  t.is(await refusal.count(), 0);
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: username }).waitFor();

  await follow(page, '/console/access/profile');
  await page.route('**/api/**', (route) => route.abort());
  await page.getByLabel('Display name').fill('Lost');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('form .ant-alert-error').waitFor();
  await page.unrouteAll();
  await page.locator('form').getByText('The service answers again').waitFor();
});

journey('a list asks for users once one is to be chosen', async (t, page) => {
  const { username } = await makeUser(own.service.admin);
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/admin/users?')) asked += 1;
  });
  await Promise.all([page.waitForResponse(/\/api\/admin\/orders\?/), follow(page, '/console/trade/orders')]);
  t.is(asked, 0);
  await page.getByLabel('User', { exact: true }).click();
  await page.locator('.ant-select-item-option', { hasText: username }).waitFor();
  t.is(asked, 1);
  await page.keyboard.press('Escape');
});

journey('a form that is left while it is sent says how it ended, and moves nobody', async (t, page) => {
  const { id, username } = await makeUser(own.service.admin);
  await follow(page, '/console/access/profile');
  await follow(page, '/console/trade/users');
  const form = page.getByRole('dialog');
  const { asked, go } = await hold(page, `**/api/admin/users/${id}`, 'PUT');
  await chooseEntry(page, `Actions ${username}`, 'Edit');
  await form.getByLabel('Display name').fill('Left early');
  await form.getByRole('button', { name: 'Save' }).click();
  await asked;
  await page.goBack();
  await form.waitFor({ state: 'detached' });
  go();
  await page.getByText(`Edit · ${username}: Saved`).waitFor();
  t.regex(page.url(), /\/users$/);
  t.like(await selectRow('SELECT nickname FROM users WHERE id = ?', [id]), { nickname: 'Left early' });
});

journey('the question whether to discard goes with its form', async (t, page) => {
  await follow(page, '/console/access/profile');
  await follow(page, '/console/trade/users');
  await page.getByRole('link', { name: 'New user' }).click();
  await page.getByRole('dialog').getByLabel('Username').fill('Not to be discarded twice');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  const discard = page.getByRole('button', { name: 'Discard' });
  await discard.waitFor();
  await page.goBack();
  await discard.waitFor({ state: 'detached' });
  t.regex(page.url(), /\/users$/);
});

journey('what is typed for one record is not shown in the form of another', async (t, page) => {
  const { admin } = own.service;
  const edit = async (leader: string) => {
    const { id } = (await admin.post('/departments', { name: unique('Branch'), leader })).data;
    await push(page, `/console/access/departments/${id}/edit`);
    await until(async () => (await manager.inputValue()) === leader);
  };
  const manager = page.getByRole('dialog').getByLabel('Manager');
  await follow(page, '/console/access/departments');
  await edit('Ann');
  await edit('Bob');
  await manager.fill('Bob, written anew');
  // Both are known by now, so that nothing is drawn between them.
  await page.goBack();
  await until(async () => (await manager.inputValue()) === 'Ann');
  t.is(await page.locator('.ant-alert').count(), 0, 'nobody has changed it');
});

journey('what is chosen is shown by its name, also when it was disabled since', async (t, page) => {
  const { admin } = own.service;
  const role = await makeRole(admin);
  const top = (await admin.post('/departments', { name: unique('Top') })).data;
  const below = (await admin.post('/departments', { name: unique('Below'), parent_id: top.id })).data;
  const { id } = await makeAdmin(admin, [role.id]);
  await admin.put(`/admins/${id}`, { department_id: top.id });
  await admin.put(`/roles/${role.id}`, { status: 0, name: `Night shift ${role.id}` });
  await admin.put(`/departments/${top.id}`, { status: 0 });
  const form = page.getByRole('dialog');
  await follow(page, `/console/access/admins/${id}/edit`);
  await form.getByText(`Night shift ${role.id} (disabled)`).waitFor();
  await form.getByTitle(`${top.name} (disabled)`).waitFor();
  await follow(page, `/console/access/departments/${below.id}/edit`);
  await form.getByTitle(`${top.name} (disabled)`).waitFor();
  await leaveScreen(page);
  await follow(page, `/console/access/departments/${top.id}/edit`);
  const parent = form.locator('.ant-form-item', { hasText: 'Parent department' });
  await parent.locator('.ant-select').waitFor();
  t.is((await parent.innerText()).replace('Parent department', '').trim(), '', 'the one at the top has none');
});

journey('what was sent before a reload is made once', async (t, page) => {
  await follow(page, '/console/access/departments/new');
  page.once('dialog', (dialog) => void dialog.accept());
  const name = unique('Branch');
  const form = page.getByRole('dialog');
  const save = () => form.getByRole('button', { name: 'Save' }).click();
  const made = () =>
    selectRow<{ count: number }>('SELECT COUNT(*) count FROM departments WHERE name = ?', [name]);
  const answerLost = async (route: Route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    await route.abort();
  };
  await form.getByLabel('Name').fill(name);
  await page.route('**/api/admin/departments', answerLost);
  await save();
  await form.locator('.form-failure').waitFor();
  await page.unrouteAll();
  await page.reload();
  await form.getByText('Your unsaved changes are back').waitFor();
  await save();
  await page.waitForURL(/departments\/\d+$/);
  t.is((await made()).count, 1);
  await follow(page, '/console/access/profile');
  await follow(page, '/console/access/departments/new');
  await form.getByLabel('Name').fill(name);
  await save();
  await page.waitForURL(/departments\/\d+/);
  t.is((await made()).count, 2, 'another form makes another one');
});

freshJourney(
  'neither an entry of a tree nor one below it is offered as its parent, and icons are named',
  async (t, page) => {
    const { admin } = own.service;
    await enter(page, { at: nowhere });
    const form = page.getByRole('dialog');
    const offered = page.locator('.ant-select-tree-title, .ant-select-item-option');
    for (const [address, label, named] of [
      ['departments', 'Parent department', (name: string) => ({ name })],
      ['menus', 'Parent menu', (title: string) => ({ title, slug: unique('menu'), type: 1 })],
    ] as const) {
      const stem = unique('Branch');
      const make = async (name: string, parent_id = 0): Promise<number> =>
        (await admin.post(`/${address}`, { ...named(`${stem} ${name}`), parent_id })).data.id;
      const id = await make('itself');
      await make('below', await make('within', id));
      await make('beside');
      await follow(page, `/console/access/${address}/${id}/edit`);
      if (address === 'menus') await form.getByText('dashboard, setting, file-text').waitFor();
      await form.getByLabel(label).fill(stem);
      await offered.getByText(`${stem} beside`).waitFor();
      t.deepEqual(await offered.allInnerTexts(), [`${stem} beside`]);
      await leaveScreen(page);
    }
    const name = unique('Type');
    const { id } = (await admin.post('/dictionaries', { name, code: name })).data;
    await follow(page, `/console/office/dictionaries/${id}/edit`);
    await form.getByLabel('Type').click();
    await offered.getByText('types only').waitFor();
    t.false((await offered.allInnerTexts()).includes(name));
  },
);

journey(
  'a field named as a part of the page has its label, and the focus when it is refused',
  async (t, page) => {
    await follow(page, '/console/office/notifications/new');
    const form = page.getByRole('dialog');
    await form.getByLabel('Title').fill('Stocktaking tonight');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('textarea:focus').waitFor();
    await page.keyboard.type('From 22:00');
    t.is(await form.getByRole('textbox', { name: 'Content' }).inputValue(), 'From 22:00');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).click();
  },
);

journey(
  'a refused form goes back to its field, a filled one is not discarded by Enter, one that is being sent not at all',
  async (t, page) => {
    const { username } = await makeUser(own.service.admin);
    await follow(page, '/console/trade/users/new');
    const form = page.locator('.ant-drawer');
    await form.locator('#form_username:focus').waitFor();
    await form.getByText('3 to 50 letters, digits').waitFor();
    await form.getByText('8 to 64 characters').waitFor();
    await page.keyboard.type(username);
    await form.getByLabel('Password').fill('blue-kettle-42');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.locator('#form_username[aria-invalid=true]:focus').waitFor();
    t.is(await form.locator('.form-failure').count(), 0, 'what the field says is not said twice');
    await page.keyboard.press('Escape');
    const question = page.locator('.ant-modal-confirm');
    await question.locator('button:focus', { hasText: 'Keep editing' }).waitFor();
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    t.is(await form.locator('#form_username').inputValue(), username);
    const free = unique('free');
    await form.locator('#form_username').fill(free);
    await form.locator('.ant-form-item-explain-error').waitFor({ state: 'detached' });
    const { asked, go } = await hold(page, '**/api/admin/users', 'POST');
    await form.getByRole('button', { name: 'Save' }).click();
    await asked;
    await page.keyboard.press('Escape');
    t.true(await form.getByRole('button', { name: 'Cancel' }).isDisabled());
    go();
    await page.getByRole('heading', { name: free }).waitFor();
    t.is(await page.getByText('Discard your changes?').count(), 0);
  },
);

freshJourney(
  'a form waits as long as a limit says, also while the computer sleeps, and a minute for an answer',
  async (t, page) => {
    await page.clock.install();
    await enter(page, { at: nowhere });
    const form = page.getByRole('dialog');
    const save = form.getByRole('button', { name: 'Save', exact: true });
    const send = async (answer: (route: Route) => unknown) => {
      const username = unique('late');
      await follow(page, '/console/trade/users/new');
      await form.getByLabel('Username').fill(username);
      await form.getByLabel('Password').fill('blue-kettle-42');
      await page.route('**/api/admin/users', answer);
      const asked = page.waitForRequest('**/api/admin/users');
      await save.click();
      await asked;
      return async () => {
        await page.unrouteAll();
        await save.click();
        await page.getByRole('heading', { name: username }).waitFor();
      };
    };
    const limit = (seconds: number) => (route: Route) =>
      route.fulfill({
        ...{ status: 429, headers: { 'Retry-After': String(seconds) }, contentType: 'application/json' },
        body: JSON.stringify({ code: 42900, message: 'Too many requests', error_code: 'too_many_requests' }),
      });
    const sendAgain = await send(limit(2));
    const waiting = form.getByRole('button', { name: 'Save (in 2 s)' });
    await waiting.waitFor();
    t.true(await waiting.isDisabled());
    await sendAgain();

    const sendLater = await send(limit(900));
    await form.getByRole('button', { name: /^Save \(in \d+ s\)$/ }).waitFor();
    await page.clock.fastForward('15:00');
    await sendLater();

    const sendAnew = await send(() => undefined);
    await page.clock.fastForward(61_000);
    await form.locator('.form-failure').waitFor();
    await sendAnew();
  },
);

journey('a balance is changed once both balances are confirmed', async (t, page) => {
  const { admin } = own.service;
  const { id, username } = await makeUser(admin);
  await admin.post(`/users/${id}/update-balance`, { type: 'income', amount: '528.10' });
  const balance = async () =>
    (await selectRow<{ balance: string }>('SELECT balance FROM users WHERE id = ?', [id])).balance;
  const { go } = await hold(page, /\/(user-balance|operation)-logs\?/, 'GET');
  await follow(page, `/console/trade/users/${id}`);
  for (const title of ['Balance changes', 'History'])
    await page.locator('.panel', { hasText: title }).locator('.ant-skeleton').waitFor();
  go();
  await page.getByRole('button', { name: 'Adjust balance' }).click();
  const form = page.locator('.ant-drawer');
  await form.getByText(`Adjust balance · ${username} · ¥528.10`).waitFor();
  await choose(page, form, 'Type', 'Expense');
  await form.getByLabel('Amount').fill('500');
  await form.getByRole('button', { name: 'Save' }).click();
  const question = page.locator('.ant-modal-confirm');
  const title = question.locator('.ant-modal-confirm-title');
  await title.getByText(`Deduct ¥500.00 from ${username}: ¥528.10 → ¥28.10?`).waitFor();
  t.is(await balance(), '528.10');
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await question.waitFor({ state: 'detached' });
  await admin.post(`/users/${id}/update-balance`, { type: 'income', amount: '1.90' });
  await form.getByText(`Adjust balance · ${username} · ¥530.00`).waitFor();
  await choose(page, form, 'Type', 'Income');
  await form.getByRole('button', { name: 'Save' }).click();
  await title.getByText(`Add ¥500.00 to ${username}: ¥530.00 → ¥1,030.00?`).waitFor();
  await question.getByRole('button', { name: 'Add' }).click();
  await form.waitFor({ state: 'detached' });
  t.is(await balance(), '1030.00');
  await page
    .locator('.panel', { hasText: 'History' })
    .getByText('admin adjusted the balance')
    .first()
    .waitFor();

  // The answer is lost, and the amount is then typed anew.
  const lose = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  await page.route('**/update-balance', lose, { times: 1 });
  const add = async (amount: string) => {
    await form.getByLabel('Amount').fill(amount);
    await form.getByRole('button', { name: 'Save' }).click();
    await question.getByRole('button', { name: 'Add' }).click();
  };
  await page.getByRole('button', { name: 'Adjust balance' }).click();
  await choose(page, form, 'Type', 'Income');
  await add(' 5 ');
  await form.locator('.form-failure').waitFor();
  await add('7');
  await form.getByText('Your earlier attempt did take effect').waitFor();
  t.is(await balance(), '1035.00');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await form.waitFor({ state: 'detached' });
});

freshJourney(
  'the first password is asked for with its rules, and a wrong one where it stands; a sign-out ends the session',
  async (t, page) => {
    const { username, password } = await makeAdmin(own.service.admin);
    await page.route('**/api/admin/info', async (route) => {
      const answer = await route.fetch();
      const { data, ...envelope } = (await answer.json()) as { data: object };
      await route.fulfill({
        response: answer,
        json: { ...envelope, data: { ...data, password_must_change: true } },
      });
    });
    await page.goto(nowhere);
    await page.getByLabel('Username').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.locator('button[type=submit]').click();
    await page.locator('#old_password:focus').waitFor();
    await page.getByText('8 to 64 characters').waitFor();
    t.true(
      await page.evaluate<boolean>(
        `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.ant-card-head-title'))`,
      ),
      'the title is read whole',
    );
    await page.keyboard.type('not the old one');
    await page.getByLabel('New password', { exact: true }).fill('blue-kettle-42');
    await page.getByLabel('Repeat the new password').fill('blue-kettle-42');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The old password is wrong').waitFor();
    await page.locator('#old_password:focus').waitFor();
    t.is(await page.locator('.form-failure').count(), 0);
    t.is(await page.title(), 'Choose a password of your own first');
    const token = await page.evaluate<string>(`sessionStorage.getItem('console.token')`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.sign-in').waitFor();
    await until(
      async () =>
        (await own.service.anonymous.with({ Authorization: `Bearer ${token}` }).get('/info')).status === 401,
    );
  },
);

freshJourney(
  'the dashboard stays in the language of the page, whatever the browser speaks',
  async (t, page) => {
    await page.addInitScript(`
      localStorage.setItem('console.settings', JSON.stringify({ language: 'en-US' }));
      window.figures = '';
      window.EventSource = class extends EventSource {
        constructor(address) {
          super(address);
          this.addEventListener('message', ({ data }) => {
            if (data.includes('dashboard_data')) window.figures = JSON.stringify(JSON.parse(data).data.recent_activities);
          });
        }
      };
    `);
    await enter(page, { at: '/console/office/dashboard' });
    const latest = page.locator('.panel', { hasText: 'Latest operations' });
    await latest.locator('li').first().waitFor();
    const streamed = await until(() => page.evaluate<string>('window.figures'));
    for (const text of [streamed, await latest.innerText()]) {
      t.regex(text, /[A-Z][a-z]+/);
      t.notRegex(text, /[\u4e00-\u9fff]/);
    }
    await latest.getByRole('link').first().click();
    await page.waitForURL(/\/logs\/operation-logs\/\d+$/);
    await page.getByRole('dialog').locator('.facts').getByText('Operation', { exact: true }).waitFor();
  },
  { locale: 'zh-CN' },
);

freshJourney(
  'a clerk begins at their first screen; what they may not do is neither offered nor asked',
  async (t, page) => {
    const slugs = ['index', 'show', 'store', 'export', 'import'].map((verb) => `order.${verb}`);
    slugs.push('import.index', 'export.index', 'payment.index', 'payment.store');
    slugs.push('role.index', 'role.show', 'role.update');
    const clerk = await signedInWith(own.service.admin, slugs);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await enter(page, { at: '/', ...clerk.account });
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    await page.locator('[data-resource=orders][aria-busy=false]').waitFor();
    t.is(await page.getByRole('alert').count(), 0);
    t.is(await page.locator('[data-filter=status]').count(), 1);
    t.is(await page.locator('[data-filter=user_id]').count(), 0);
    t.is(await page.getByRole('link', { name: 'Import', exact: true }).count(), 0);
    t.is(await page.getByRole('button', { name: 'Export', exact: true }).count(), 0, 'nor the download');
    await follow(page, '/console/imports/imports');
    await page.locator('[data-resource=imports][aria-busy=false]').waitFor();
    t.is(await page.getByRole('link', { name: 'Import orders' }).count(), 0);
    await askExport(clerk, '/orders');
    await follow(page, '/console/exports/exports');
    const exported = page.locator('[data-resource=exports]');
    await exported.locator('.tag', { hasText: 'Done' }).waitFor();
    t.is(await exported.getByRole('button', { name: 'Download' }).count(), 0);
    await follow(page, '/console/trade/orders');
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog');
    await keys.getByText('g o').waitFor();
    t.is(await keys.getByText('g u').count(), 0);
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    t.regex(page.url(), /\/trade\/orders$/);
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByText('You may not list users').waitFor();
    await follow(page, '/console/trade/payments');
    await page.locator('[data-resource=payments][aria-busy=false]').waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.locator('[data-filter=time_field]').waitFor();
    t.is(await page.locator('.rows th .unseen').count(), 0, 'no row has an action');
    for (const name of ['payment_method_id', 'assignee_id'])
      t.is(await page.locator(`[data-filter=${name}]`).count(), 0, name);
    const { order_no } = await makeOrder(own.service.admin);
    await follow(page, `/console/trade/orders/${order_no}`);
    await page.getByRole('heading', { name: order_no }).waitFor();
    await page.getByText('No payment has been started yet').waitFor();
    t.is(await page.getByRole('button', { name: 'Start payment' }).count(), 0);
    const role = await makeRole(own.service.admin, ['role.index']);
    const form = page.getByRole('dialog');
    await follow(page, `/console/access/roles/${role.id}/edit`);
    await form.getByLabel('Name').fill(unique('Renamed'));
    t.is(await form.getByPlaceholder('You may not list these').count(), 2, 'permissions and menus');
    t.is(await form.getByRole('alert').count(), 0);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    const { permissions } = (await own.service.admin.get(`/roles/${role.id}`)).data;
    t.deepEqual(
      permissions.map(({ slug }: { slug: string }) => slug),
      ['role.index'],
    );
    const denied = page.getByRole('alert').getByText('You have no permission for this page');
    await follow(page, '/console/office/dashboard');
    await denied.waitFor();
    await page.goto('/console/trade/users');
    await denied.waitFor();
    t.is(await page.getByRole('search').count(), 0);
    t.is(await page.getByRole('button', { name: 'Try again' }).count(), 0);
    await page.getByRole('link', { name: 'Go to my first page' }).click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    t.deepEqual(
      asked.filter((path) => /\/(users|dashboard|options)\b/.test(path) && path.startsWith('/api/')),
      [],
    );
  },
);

journey('each search for a permission unfolds what it finds', async (t, page) => {
  await follow(page, '/console/access/roles/new');
  const form = page.getByRole('dialog');
  const search = form.getByRole('textbox', { name: 'Find a permission' });
  await search.fill('order.show');
  await form.getByText('order.show').waitFor();
  await search.fill('refund.show');
  await form.getByText('refund.show').waitFor();
  t.is(await form.getByText('order.show').count(), 0);
  await search.fill('nothing.show');
  await form.getByText('No permission found').waitFor();
  await leaveScreen(page);
});
