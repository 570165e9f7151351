// Chasing a payment: how methods are set up, and why a payment is not paid.
import '../support/environment.js';
import { consoleTest } from '../support/console-test.js';
import { makeMethod, makeOrder, makePayment, mockCallback, mockSign } from '../support/factories.js';
import { choose, enter, follow, leaveScreen } from '../support/pages.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
const { journey, freshJourney } = own;

journey('a payment method form has the fields its channel declares', async (t, page) => {
  await follow(page, '/console/trade/payment-methods/new');
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('Scan to pay');
  await choose(page, form, 'Type', 'WeChat');
  await form.getByLabel('Merchant ID', { exact: true }).fill('1900000109');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Required').first().waitFor();
  t.is((await selectRow<{ count: number }>('SELECT COUNT(*) AS count FROM payment_methods')).count, 0);
  await choose(page, form, 'Type', 'Mock');
  await form.getByLabel('Signing secret').fill('a shared secret');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/payment-methods\/\d+$/);
  const { id } = await selectRow<{ id: number }>('SELECT id FROM payment_methods');
  await leaveScreen(page);
  await follow(page, `/console/trade/payment-methods/${id}/edit`);
  await form.getByLabel('Callback URL').fill('https://pay.example.com/notify');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByLabel('Callback URL').waitFor({ state: 'detached' });
  const { admin } = own.service;
  const { data } = await admin.get(`/payment-methods/${id}`);
  t.deepEqual(data.config, { notify_url: 'https://pay.example.com/notify', shared_secret: '***' });
  const { order_no } = await makeOrder(admin, '5.00');
  const placed = await admin.post('/payments', { order_no, payment_method_id: id, initiate: true });
  t.is(placed.data.gateway.sign, mockSign(placed.data.payment_no, '5.00', 'a shared secret'));
});

journey('the page of a payment explains its status', async (t, page) => {
  const { admin, anonymous } = own.service;
  const method = await makeMethod(admin);
  const payment = await makePayment(admin, method.id, '20.00');
  await follow(page, `/console/trade/payments/${payment.payment_no}`);
  const why = page.getByRole('region', { name: 'Why is it not paid?' });
  await why.getByText('the channel has sent no callback yet').waitFor();
  const notify = (body: object) => anonymous.request('POST', '//api/payment/notify/mock', { body });
  await notify({ ...mockCallback(payment), sign: 'f'.repeat(64) });
  await page.reload();
  await why.getByText('The latest callback was refused: A callback with a wrong signature').waitFor();
  await why.getByText('Compare the secret of the payment method').waitFor();
  await admin.put(`/payment-methods/${method.id}`, { is_active: false });
  await page.reload();
  await why.getByText('The payment method is disabled').waitFor();
  await notify(mockCallback(payment));
  await page.getByText('Settled: the order is paid').waitFor();
  await why.waitFor({ state: 'detached' });
  t.like(await selectRow('SELECT status FROM payments WHERE payment_no = ?', [payment.payment_no]), {
    status: 'paid',
  });
});

journey('a flagged payment is handled with a remark', async (t, page) => {
  const { admin, anonymous } = own.service;
  const method = await makeMethod(admin);
  const order = await makeOrder(admin, '30.00');
  const { data: payment } = await admin.post('/payments', {
    order_no: order.order_no,
    payment_method_id: method.id,
  });
  await admin.put(`/orders/${order.order_no}`, { status: 'cancelled' });
  await anonymous.request('POST', '//api/payment/notify/mock', { body: mockCallback(payment) });
  await follow(page, '/console/trade/payments?needs_attention=true');
  await page.locator('a.row-link', { hasText: payment.payment_no }).click();
  await page.getByText('The money arrived when its order could no longer be paid').waitFor();
  await page.getByRole('button', { name: 'Mark as handled' }).click();
  await page.getByRole('dialog').getByLabel('Note').fill('Refunded as R-2026-1');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Mark as handled' }).waitFor({ state: 'detached' });
  t.like(
    await selectRow('SELECT needs_attention, remark FROM payments WHERE payment_no = ?', [
      payment.payment_no,
    ]),
    { needs_attention: 0, remark: 'Refunded as R-2026-1' },
  );
});

for (const reducedMotion of ['no-preference', 'reduce'] as const)
  freshJourney(
    `a popup in a drawer stays at its control when the page moves (motion: ${reducedMotion})`,
    async (t, page) => {
      await makeMethod(own.service.admin, 'a shared secret', { name: `Stays ${reducedMotion}` });
      const order = await makeOrder(own.service.admin);
      await page.setViewportSize({ width: 1280, height: 500 });
      await enter(page, { at: `/console/trade/orders/${order.order_no}` });
      await page.getByRole('button', { name: 'Start payment' }).click();
      await page.getByLabel('Payment method').click();
      await page.locator('.ant-select-item-option', { hasText: `Stays ${reducedMotion}` }).waitFor();
      const [before, after] = await page.evaluate<[number, number]>(`(() => {
    const top = () => document.querySelector('.ant-select-item-option').getBoundingClientRect().top;
    const found = [top()];
    document.documentElement.scrollTop = 60;
    return document.documentElement.scrollTop === 0 ? [0, -1] : [...found, top()];
  })()`);
      t.is(after, before);
      await page.locator('.ant-select-item-option', { hasText: `Stays ${reducedMotion}` }).click();
      await page.locator('.ant-drawer .ant-select', { hasText: `Stays ${reducedMotion}` }).waitFor();
    },
    { reducedMotion },
  );
