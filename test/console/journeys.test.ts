// The console as a person uses it: real Chromium, the real service and worker, no answer made up.
import '../support/environment.js';
import test from 'ava';
import { consoleTest } from '../support/console-test.js';
import { makeMethod, makePayment, makeUser, mockCallback, signedInWith } from '../support/factories.js';
import { follow } from '../support/pages.js';

const own = consoleTest();
const { journey, freshJourney } = own;

test('the page is served with a nonce, cached and compressed', async (t) => {
  const first = await fetch(`${own.service.url}/`);
  t.is(new URL(first.url).pathname, '/console/');
  const nonce = /'nonce-([^']+)'/.exec(first.headers.get('content-security-policy') ?? '')?.[1] ?? 'none';
  t.false(/unsafe/.test(first.headers.get('content-security-policy') ?? ''));
  const page = await first.text();
  t.true(page.includes(nonce));
  t.is(first.headers.get('cache-control'), 'no-store');
  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
  const asset = await fetch(own.service.url + script, { headers: { 'Accept-Encoding': 'br' } });
  t.is(asset.headers.get('content-encoding'), 'br');
  t.is(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  t.is((await fetch(`${own.service.url}/console/assets/gone.js`)).status, 404);
  t.not(
    /'nonce-([^']+)'/.exec(
      (await fetch(`${own.service.url}/console/`)).headers.get('content-security-policy') ?? '',
    )?.[1],
    nonce,
  );
});

freshJourney('signing in leads to the requested page', async (t, page) => {
  await page.goto('/console/trade/orders?status=paid');
  await page.getByLabel('Username').fill('admin');
  await page.getByLabel('Password').fill('wrong-password');
  await page.locator('button[type=submit]').click();
  await page.getByRole('alert').waitFor();
  t.not(await page.getByRole('alert').innerText(), '');
  await page.getByLabel('Password').fill('admin123');
  await page.locator('button[type=submit]').click();
  await page.getByRole('heading', { name: 'Orders' }).waitFor();
  t.regex(page.url(), /\/console\/trade\/orders\?status=paid$/);
});

journey('the page of an order shows its payment by itself', async (t, page) => {
  const user = await makeUser(own.service.admin, { username: 'journey_buyer' });
  await makeMethod(own.service.admin, 'journey-secret', { name: 'Trial' });
  await follow(page, '/console/trade/orders/new');
  const form = page.getByRole('dialog');
  await form.getByLabel('User').fill('journey_buyer');
  await page.locator('.ant-select-item-option', { hasText: 'journey_buyer' }).click();
  await form.getByLabel('Product').fill('Notebook');
  await form.getByLabel('Price').fill('1234567.89');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: /^ORD/ }).waitFor();
  const orderNo = await page.getByRole('heading', { name: /^ORD/ }).innerText();
  await page.locator('article', { hasText: '¥1,234,567.89' }).waitFor();

  const second = await page.context().newPage();
  await second.goto(`/console/trade/orders/${orderNo}`);
  await second.getByRole('button', { name: 'Start payment' }).click();
  await second.getByLabel('Payment method').click();
  await second.locator('.ant-select-item-option', { hasText: 'Trial' }).click();
  await second.getByRole('dialog').getByRole('button', { name: 'Start payment' }).click();
  await second.getByRole('button', { name: 'Simulate payment' }).click();

  await page.locator('.screen-head .tag', { hasText: 'Paid' }).waitFor();
  const { data: order } = await own.service.admin.get(`/orders/${orderNo}`);
  t.like(order, { status: 'paid', user_id: user.id });
  await page.locator('.plain-list a').first().click();
  await page.getByText('Settled: the order is paid').waitFor();
});

journey('a refused callback is replayed after its secret is corrected', async (t, page) => {
  const { id } = await makeMethod(own.service.admin, 'mistyped');
  const payment = await makePayment(own.service.admin, id);
  const callback = mockCallback(payment, 'the real one');
  await own.service.anonymous.post('//api/payment/notify/mock', callback);
  await follow(page, `/console/trade/payment-methods/${id}`);
  await page.getByRole('button', { name: 'Test the callback' }).click();
  await page.getByText('A callback signed with the stored keys is accepted').waitFor();
  await follow(page, `/console/trade/payments/${payment.payment_no}`);
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.locator('.ant-modal-confirm-title', { hasText: 'The signature' }).waitFor();
  await page.keyboard.press('Escape');
  await own.service.admin.put(`/payment-methods/${id}`, { shared_secret: 'the real one' });
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.locator('.screen-head .tag', { hasText: 'Paid' }).waitFor();
  t.is((await own.service.admin.get(`/payments/${payment.payment_no}`)).data.status, 'paid');
});

freshJourney('an administrator sees only what their role allows', async (t, page) => {
  const { account } = await signedInWith(own.service.admin, [
    'blacklist.index',
    'blacklist.show',
    'dictionary.index',
  ]);
  await page.goto('/console/office/blacklists');
  await page.getByLabel('Username').fill(account?.username ?? '');
  await page.getByLabel('Password').fill(account?.password ?? '');
  await page.locator('button[type=submit]').click();
  await page.getByRole('heading', { name: 'IP blacklist' }).waitFor();
  t.is(await page.getByRole('link', { name: /^New/ }).count(), 0);
  t.is(await page.locator('.menu a', { hasText: 'Orders' }).count(), 0);
  await follow(page, '/console/trade/orders');
  await page.getByRole('alert').waitFor();
  await own.service.admin.delete(`/admins/${account?.id}/tokens`);
  await page.getByLabel('Username').waitFor();
});
