// A payment from its method to its refund: started, paid, chased, replayed, handled, sent back; and its timeline, which says
// what happened to it, in every state it can be in, and when.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/refund-approvals.js';
import type { Page } from 'playwright-core';
import { change } from '../../src/lib/database/db.js';
import { consoleTest } from '../support/console/console-test.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  makeUser,
  mockCallback,
  mockSign,
  signedInWith,
  somePaymentNumber,
  type MadePayment,
} from '../support/factories.js';
import { alipayConfig } from '../support/companies/merchant.js';
import { choose, enter, follow, leaveScreen } from '../support/console/pages.js';
import { booksOf, paidPayment, refundPart, refundRow } from '../support/refunds.js';
import { selectRow } from '../support/rows.js';
import { WechatPlatform } from '../support/companies/wechat-platform.js';

const own = consoleTest();
const { journey, freshJourney } = own;

journey('a payment method form has the fields its channel declares', async (t, page) => {
  await follow(page, '/console/trade/payment-methods/new');
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('Scan to pay');
  t.is(await form.getByText('Letters, digits and _ . : -').count(), 1, 'what a code may hold');
  await choose(page, form, 'Type', 'WeChat');
  await form.getByLabel('Merchant ID', { exact: true }).fill('1900000109');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Required').first().waitFor();
  t.is((await selectRow<{ count: number }>('SELECT COUNT(*) AS count FROM payment_methods')).count, 0);
  await form.getByLabel('Callback URL').fill('https://pay.example.com/of-both');
  await choose(page, form, 'Type', 'Mock');
  await form.getByLabel('Signing secret').fill('a shared secret');
  t.is(await form.getByLabel('Callback URL').inputValue(), 'https://pay.example.com/of-both');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/payment-methods\/\d+$/);
  const { id } = await selectRow<{ id: number }>('SELECT id FROM payment_methods');
  const { data: made } = await own.service.admin.get(`/payment-methods/${id}`);
  const shown = { notify_url: 'https://pay.example.com/of-both', shared_secret: '***' };
  t.deepEqual(made.config, shown, 'what the form showed is stored, also after another type was chosen');
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
  const alipay = await admin.post('/payment-methods', { type: 'alipay', config: alipayConfig });
  await leaveScreen(page);
  await follow(page, `/console/trade/payment-methods/${alipay.data.id}`);
  await form.getByRole('button', { name: 'Test the callback' }).click();
  await form.getByRole('status').locator('dt', { hasText: 'Application private key (PEM)' }).waitFor();
  const secret = form.locator('dt', { hasText: 'Signing secret' }).locator('+ dd');
  t.is(await secret.innerText(), '–', 'none is missing where keys sign');
  await form.getByRole('link', { name: 'Edit' }).click();
  await form.getByLabel('Application private key (PEM)').waitFor();
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
  await second.locator('.screen-head .tag', { hasText: 'Paid' }).waitFor();
  await second.keyboard.press('Escape');
  await second.locator('#content:focus').waitFor();
  const { data: order } = await own.service.admin.get(`/orders/${orderNo}`);
  t.like(order, { status: 'paid', user_id: user.id });
  await page.locator('.latest a').first().click();
  await page.getByText('Settled: the order is paid').waitFor();
});

journey('a payment by WeChat is started by keyboard, and what to scan can be copied', async (t, page) => {
  const wechat = await WechatPlatform.start();
  t.teardown(() => wechat.stop());
  const config = { ...wechat.config, notify_url: 'https://pay.example.com/api/payment/notify/wechat' };
  await own.service.admin.post('/payment-methods', { type: 'wechat', name: 'Scanned', config });
  const { order_no } = await makeOrder(own.service.admin, '3.00');
  await follow(page, `/console/trade/orders/${order_no}`);
  const start = page.locator('.screen-head').getByRole('button', { name: 'Start payment' });
  await start.press('Enter');
  await page.getByLabel('Payment method').fill('Scanned');
  await page.locator('.ant-select-item-option-active', { hasText: 'Scanned' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+Enter');
  const drawer = page.getByRole('dialog').filter({ hasText: 'weixin://' });
  const copy = await drawer.getByRole('button', { name: 'Copy' }).boundingBox();
  t.true(copy !== null && copy.x + copy.width <= 1280, 'the button is beside what it copies');
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await start.and(page.locator(':focus')).waitFor();
});

journey('an open page follows changes after the clock of the browser was set back', async (t, page) => {
  const { order_no } = await makeOrder(own.service.admin);
  await follow(page, `/console/trade/orders/${order_no}`);
  const remark = async (text: string) => {
    await own.service.admin.put(`/orders/${order_no}`, { remark: text });
    await page.locator('article').getByText(text).first().waitFor();
  };
  await remark('seen before');
  await page.evaluate('{ const { now } = Date; Date.now = () => now() - 3_600_000; }');
  // The first may come with a frame that was under way.
  for (const text of ['seen after', 'seen again']) await remark(text);
  await page.reload();
  t.pass();
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
  await why.getByText('The latest callback was refused: wrong signature').waitFor();
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

journey('an order that was cancelled in time is not said to have expired', async (t, page) => {
  const { admin } = own.service;
  const payment = await makePayment(admin, (await makeMethod(admin)).id);
  await admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  await follow(page, `/console/trade/payments/${payment.payment_no}`);
  const shown = async (expiry: string, text: RegExp) => {
    await change(`UPDATE orders SET expire_at = ${expiry} WHERE order_no = ?`, [payment.order_no]);
    await page.reload();
    await page.getByRole('region', { name: 'Why is it not paid?' }).getByText(text).waitFor();
  };
  await shown('cancelled_at + INTERVAL 1000 MICROSECOND', /The order was cancelled/);
  await shown('cancelled_at', /The order expired at/);
  t.pass();
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

journey('a payment is refunded in parts from its page', async (t, page) => {
  const { admin } = own.service;
  const payment = await paidPayment(admin, (await makeMethod(admin)).id, '30.00');
  await follow(page, `/console/trade/payments/${payment.payment_no}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('up to ¥30.00').waitFor();
  await dialog.getByText('Above ¥10.00 in all refunds of the payment, another').waitFor();
  t.is(await dialog.getByLabel('Amount').inputValue(), '30.00');
  await dialog.getByLabel('Amount').fill('31.00');
  await dialog.getByLabel('Reason').fill('One box was broken');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('The amount is more than the 30.00 that is left to refund').first().waitFor();
  await dialog.getByLabel('Amount').fill('');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('Required').waitFor();
  t.like(await booksOf(payment), { refund_reserved: '0.00' });
  await dialog.getByLabel('Amount').fill('5.00');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const story = page.locator('.timeline');
  await story.getByText('requested a refund of ¥5.00 (Channel)').waitFor();
  await story.getByText('Refunded · ¥5.00').waitFor();
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('up to ¥25.00').waitFor();
  await choose(page, dialog, 'Refund to', 'Balance');
  await dialog.getByLabel('Amount').fill('4.00');
  await dialog.getByLabel('Reason').fill('For the wait');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await story.getByText('Refunded · ¥4.00').waitFor();
  t.like(await booksOf(payment), { status: 'paid', refunded_amount: '9.00' });
  // Somebody else is faster.
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByLabel('Reason').fill('The rest came late');
  const rest = { payment_no: payment.payment_no, destination: 'balance', reason: 'Late', amount: '21.00' };
  const { refund_no } = (await admin.post('/refunds', rest)).data;
  await dialog.getByText('up to ¥0.00').waitFor();
  t.is(await dialog.getByLabel('Reason').inputValue(), 'The rest came late');
  await admin.post(`/refunds/${refund_no}/reject`, {});
  await dialog.getByText('up to ¥21.00').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard' }).click();
});

journey('what a channel with closed results can only refuse is not offered', async (t, page) => {
  const { admin } = own.service;
  const { id } = (await admin.post('/payment-methods', { type: 'alipay', config: alipayConfig })).data;
  await follow(page, `/console/trade/payments/${(await makePayment(admin, id)).payment_no}`);
  await page.getByText(/^The results of this channel are not open/).waitFor();
  const query = page.getByRole('button', { name: 'Query the channel' });
  t.is(await query.count(), 0);
  const payment = await paidPayment(admin, (await makeMethod(admin)).id, '30.00');
  const { refund_no } = await refundPart(admin, payment);
  await change(`UPDATE refunds SET status = 'processing' WHERE refund_no = ?`, [refund_no]);
  await follow(page, `/console/trade/refunds/${refund_no}`);
  await query.waitFor();
  for (const table of ['payments', 'refunds'])
    await change(`UPDATE ${table} SET payment_method_id = ? WHERE payment_no = ?`, [id, payment.payment_no]);
  await page.reload();
  await page.getByRole('dialog').getByText('Processing').waitFor();
  t.is(await query.count(), 0);
  await leaveScreen(page);
  await follow(page, `/console/trade/payments/${payment.payment_no}`);
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Refund to').click();
  t.deepEqual(await page.locator('.ant-select-item-option').allInnerTexts(), ['Balance']);
  await page.keyboard.press('Escape');
  await dialog.getByLabel('Amount').fill('2.00');
  await dialog.getByLabel('Reason').fill('Not by the channel');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.locator('.timeline').getByText('Refunded · ¥2.00').waitFor();
});

journey('a large refund is approved by another administrator', async (t, page) => {
  const { admin } = own.service;
  const payment = await paidPayment(admin, (await makeMethod(admin)).id, '80.00');
  const clerk = await signedInWith(admin, ['refund.store']);
  const body = { payment_no: payment.payment_no, destination: 'channel', reason: 'Sent back' };
  const [mine, theirs] = [
    (await admin.post('/refunds', { ...body, amount: '20.00' })).data,
    (await clerk.post('/refunds', { ...body, amount: '60.00' })).data,
  ];
  await follow(page, '/console/office/dashboard');
  await page
    .locator('a.card', { hasText: 'Refunds awaiting approval' })
    .getByText('2', { exact: true })
    .click();
  const drawer = page.getByRole('dialog');
  await page.locator('a.row-link', { hasText: mine.refund_no }).click();
  await drawer.getByRole('button', { name: 'Withdraw' }).click();
  for (const name of ['Approve', 'Reject'])
    t.is(await drawer.getByRole('button', { name }).count(), 0, 'nobody decides on their own');
  const withdrawal = page.getByRole('dialog', { name: /^Withdraw · ¥20\.00 to .+ \(Channel\)$/ });
  await withdrawal.getByLabel('Why it is withdrawn').fill('Already replaced');
  await withdrawal.getByRole('button', { name: 'Withdraw' }).click();
  await drawer.getByText('Already replaced').waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await page.locator('a.row-link', { hasText: theirs.refund_no }).click();
  await drawer.getByRole('button', { name: 'Reject' }).waitFor();
  t.is(await drawer.getByRole('button', { name: 'Withdraw' }).count(), 0);
  await drawer.getByRole('button', { name: 'Approve' }).click();
  const sure = page.locator('.ant-modal-confirm').filter({ hasText: 'Approve this refund?' });
  const { username } = (await admin.get(`/payments/${payment.payment_no}`)).data.user;
  await sure.getByText(`¥60.00 to ${username} (Channel)`).waitFor();
  await sure.getByRole('button', { name: 'Approve' }).click();
  await drawer.getByText('Refunded', { exact: true }).first().waitFor();
  t.like(await booksOf(payment), { refund_reserved: '60.00', refunded_amount: '60.00' });
  await follow(page, `/console/trade/payments/${payment.payment_no}`);
  const withdrawn = page.getByRole('listitem').filter({ hasText: 'admin withdrew the refund · ¥20.00' });
  await withdrawn.getByText('Already replaced').waitFor();
});

journey('refunds that need attention are found from the dashboard, with advice', async (t, page) => {
  const { admin } = own.service;
  const payment = await paidPayment(admin, (await makeMethod(admin)).id, '9.00');
  const body = { payment_no: payment.payment_no, destination: 'balance', reason: 'Sent back' };
  const { refund_no } = (await admin.post('/refunds', body)).data;
  const flag = (needs: number) =>
    change(`UPDATE refunds SET needs_attention = ?, fail_reason = 'refund_failed' WHERE refund_no = ?`, [
      needs,
      refund_no,
    ]);
  await flag(1);
  try {
    await follow(page, '/console/office/dashboard');
    const card = page.locator('a.card', { hasText: 'Refunds that need attention' });
    await card.getByText('1', { exact: true }).click();
    const tab = page.getByRole('radio', { name: /^Needs attention 1$/, checked: true });
    await tab.waitFor({ state: 'attached' });
    await page.locator('a.row-link', { hasText: refund_no }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('Agree on another way with the customer').waitFor();
    await drawer.getByRole('button', { name: 'Mark as handled' }).click();
    await drawer.getByText('Agree on another way with the customer').waitFor({ state: 'detached' });
    t.like(await refundRow(refund_no), { needs_attention: 0, fail_reason: 'refund_failed' });
  } finally {
    await flag(0);
  }
});

journey(
  'a payment behind a hundred others in the queue has its place and its neighbours',
  async (t, page) => {
    const { admin } = own.service;
    const { id } = await makeMethod(admin);
    const made = [await makePayment(admin, id), await makePayment(admin, id)];
    const copies = Array.from({ length: 100 }, () => [somePaymentNumber(), made[1]?.payment_no ?? '']);
    const copy =
      'SELECT period, ?, order_no, user_id, payment_method_id, amount, NOW(3), NOW(3) FROM payments WHERE payment_no = ?';
    await change(
      `INSERT INTO payments (period, payment_no, order_no, user_id, payment_method_id, amount, created_at, updated_at)
       ${copies.map(() => copy).join(' UNION ALL ')}`,
      copies.flat(),
    );
    const flag = (needs: number) =>
      change('UPDATE payments SET needs_attention = ? WHERE payment_method_id = ?', [needs, id]);
    await flag(1);
    try {
      const { total } = (await admin.get('/payments?needs_attention=1')).data;
      t.true(total >= made.length + copies.length);
      const oldest = (await admin.get('/payments?needs_attention=1&order_by=id:asc&page_size=2')).data.list;
      await follow(page, `/console/trade/payments/${oldest[1].payment_no}`);
      const queue = page.getByRole('group', { name: 'Payments that need attention' });
      await queue.getByText(`${total - 1} of ${total} that need attention`).waitFor();
      await queue.getByRole('link', { name: 'Next that needs attention' }).click();
      await page.getByRole('heading', { name: oldest[0].payment_no }).waitFor();
      await queue.getByText(`${total} of ${total} that need attention`).waitFor();
      t.true(await queue.getByRole('button', { name: 'Next that needs attention' }).isDisabled());
      await queue.getByRole('link', { name: 'Previous that needs attention' }).click();
      await page.getByRole('heading', { name: oldest[1].payment_no }).waitFor();
    } finally {
      await flag(0);
    }
  },
);

journey('the payments of an order are a table, with method and reason below each', async (t, page) => {
  const { admin } = own.service;
  const { id } = await makeMethod(admin, undefined, { name: 'Pay at the desk' });
  const payment = await own.makeFlagged(id);
  await follow(page, `/console/trade/orders/${payment.order_no}`);
  const row = page.getByRole('row', { name: new RegExp(payment.payment_no.slice(-8)) });
  await row.waitFor();
  const [number, ...others] = (await row.innerText()).split('\t');
  t.is(number?.trim(), payment.payment_no, 'copied whole');
  t.regex(others.join(' ').trim(), /^[\d-]{10} [\d:]{8} ¥12\.30 Paid$/);
  t.true(((await row.getByRole('link').boundingBox())?.width ?? 0) < 100, 'shown by its end');
  await page.getByRole('row', { name: 'Pay at the desk · The money arrived when its order' }).waitFor();
  const table = page.getByRole('table').filter({ has: row });
  t.deepEqual(await table.getByRole('columnheader').allInnerTexts(), [
    'Number',
    'Created',
    'Amount',
    'Status',
  ]);
  const { user_id } = (await admin.get(`/orders/${payment.order_no}`)).data;
  await follow(page, `/console/trade/users/${user_id}`);
  await page.getByRole('row', { name: 'Pay at the desk · The money arrived when its order' }).waitFor();
});

journey('what is typed into a refund or payment stays with its own record', async (t, page) => {
  const { admin } = own.service;
  const { id } = await makeMethod(admin);
  const dialog = page.getByRole('dialog');
  const leaveFilled = async (address: string, button: string, label: string) => {
    await follow(page, address);
    await page.getByRole('button', { name: button, exact: true }).click();
    await dialog.getByLabel(label).fill('Meant for this one');
    await page.evaluate('history.back()');
    await dialog.waitFor({ state: 'detached' });
  };
  const valueAt = async (address: string, button: string, label: string) => {
    await follow(page, address);
    await page.getByRole('button', { name: button, exact: true }).click();
    const value = await dialog.getByLabel(label).inputValue();
    await page.keyboard.press('Escape');
    return value;
  };
  const [first, second] = [await paidPayment(admin, id, '5.00'), await paidPayment(admin, id, '6.00')];
  const paymentPage = ({ payment_no }: MadePayment) => `/console/trade/payments/${payment_no}`;
  await leaveFilled(paymentPage(first), 'Refund', 'Reason');
  t.is(await valueAt(paymentPage(second), 'Refund', 'Reason'), '');
  const [one, other] = [await makeOrder(admin), await makeOrder(admin)];
  const orderPage = ({ order_no }: { order_no: string }) => `/console/trade/orders/${order_no}`;
  await leaveFilled(orderPage(one), 'Start payment', 'Note');
  t.is(await valueAt(orderPage(other), 'Start payment', 'Note'), '');

  const flagged = 'UPDATE payments SET needs_attention = 1, fail_reason = :reason WHERE payment_no = :no';
  const openOf = async ({ payment_no: no }: MadePayment) => {
    await change(flagged, { no, reason: 'paid_twice' });
    await follow(page, `/console/trade/payments?payment_no=${no}`);
    await page.locator('.rows tr', { hasText: no }).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Mark as handled (1)' }).click();
  };
  await openOf(first);
  await dialog.getByLabel('Note').fill('Meant for this one');
  await leaveScreen(page);
  await openOf(second);
  t.is(await dialog.getByLabel('Note').inputValue(), '', 'of rows that were chosen');
});

interface Point {
  tone: string;
  title: string;
  /** Null when the page shows none. */
  at: string | null;
}

const points = (page: Page): Promise<Point[]> =>
  page.evaluate<Point[]>(
    `[...document.querySelector('.timeline').children].map((point) => ({
      tone: point.className.replace('point-', ''),
      title: point.firstElementChild.innerText,
      at: point.querySelector('.timeline-when time')?.dateTime ?? null,
    }))`,
  );

/** @returns the points of the page that is open, without their times */
async function notes(page: Page): Promise<string[]> {
  await page.locator('.timeline').first().waitFor();
  return (await points(page)).map(({ tone, title }) => `${tone}: ${title.replace(/ from [\d.:a-f]+/, '')}`);
}

/** Opens the page of a payment. @returns its points without their times */
async function story(page: Page, { payment_no }: MadePayment): Promise<string[]> {
  await leaveScreen(page);
  await follow(page, `/console/trade/payments/${payment_no}`);
  return notes(page);
}

/** Loads the page of a payment once more. @returns its points without their times */
async function storyNow(page: Page): Promise<string[]> {
  await page.reload();
  return notes(page);
}

let methodId: number | undefined;

const pending = async () => {
  methodId ??= (await makeMethod(own.service.admin)).id;
  return makePayment(own.service.admin, methodId, '69.00');
};

const notify = (payment: MadePayment, more: object = {}) => callBack(own.service.anonymous, payment, more);

const cancel = ({ order_no }: MadePayment) =>
  own.service.admin.put(`/orders/${order_no}`, { status: 'cancelled' });

const orderState = (page: Page) =>
  page.locator('.facts').filter({ hasText: 'Order' }).first().locator('.tag');

/** As if its callbacks came hours ahead: those that have waited for a second the sweeper settles, often before the page is drawn. */
const verifyIn = (hours: number, { payment_no }: MadePayment) =>
  change(
    `UPDATE payment_callbacks SET state = 'pending', verdict = 'verified', created_at = UTC_TIMESTAMP(3) + INTERVAL ? HOUR
     WHERE payment_no = ?`,
    [hours, payment_no],
  );

const created = 'blue: Payment created';
const settled = 'green: Settled: the order is paid';
const callback = 'Channel callback ·';

journey('a payment that is pending, paid, and paid twice', async (t, page) => {
  const payment = await pending();
  t.deepEqual(await story(page, payment), [created]);
  await page.getByText('No callback from the channel yet').waitFor();
  t.is(await orderState(page).innerText(), 'Pending');
  await notify(payment);
  const once = [created, `green: ${callback} Settled`, settled];
  t.deepEqual(await storyNow(page), once);
  t.is(await orderState(page).innerText(), 'Paid');
  const [, came, paid] = await points(page);
  const stored = await selectRow<{ created_at: Date; settled_at: Date }>(
    'SELECT created_at, settled_at FROM payment_callbacks WHERE payment_no = ?',
    [payment.payment_no],
  );
  t.is(came?.at, stored.created_at.toISOString());
  t.is(paid?.at, stored.settled_at.toISOString());
  await notify(payment, { transaction_id: `second-${payment.payment_no.slice(-12)}` });
  t.deepEqual(await storyNow(page), [...once, `gold: ${callback} The payment was paid twice`]);
});

journey(
  'money for a cancelled order is never called settled, and handling it moves nothing',
  async (t, page) => {
    const payment = await pending();
    await cancel(payment);
    t.deepEqual(await story(page, payment), [created, 'grey: Payment cancelled']);
    t.is(await orderState(page).innerText(), 'Cancelled');
    await notify(payment);
    const arrived = [
      created,
      'grey: Payment cancelled',
      `gold: ${callback} Money arrived; needs attention`,
      'gold: The money arrived; the order was not paid',
    ];
    t.deepEqual(await storyNow(page), arrived);
    t.is(await page.getByText('Settled: the order is paid').count(), 0);
    const before = await points(page);
    const form = page.getByRole('dialog');
    const row = () =>
      selectRow('SELECT needs_attention, remark FROM payments WHERE payment_no = ?', [payment.payment_no]);
    await page.getByRole('button', { name: 'Mark as handled' }).click();
    await form.getByLabel('Note').fill('  ');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Required').waitFor();
    t.like(await row(), { needs_attention: 1 }, 'none is handled without a note');
    await form.getByLabel('Note').fill('Refunded as R-2026-1');
    await form.getByRole('button', { name: 'Save' }).click();
    const handled = 'admin marked as handled: The money arrived when its order could no longer be paid';
    await page.getByText(handled).waitFor();
    t.deepEqual((await points(page)).slice(0, -1), before);
    const last = (await points(page)).at(-1);
    t.like(last, { tone: 'blue', title: handled });
    const { created_at } = await selectRow<{ created_at: Date }>(
      'SELECT created_at FROM payment_handlings WHERE payment_no = ?',
      [payment.payment_no],
    );
    t.is(last?.at, created_at.toISOString());
    await page.locator('.timeline').first().getByText('Refunded as R-2026-1').waitFor();
    t.is(await page.getByRole('button', { name: 'Mark as handled' }).count(), 0);
    t.like(await row(), { needs_attention: 0, remark: 'Refunded as R-2026-1' });
  },
);

journey('money for an order that another payment has paid', async (t, page) => {
  const payment = await pending();
  const { order_no } = payment;
  const body = { order_no, payment_method_id: methodId };
  const { data: other } = await own.service.admin.post('/payments', body);
  await notify(payment);
  await notify(other);
  t.deepEqual(await story(page, other), [
    created,
    'grey: Payment cancelled',
    `gold: ${callback} Money arrived; needs attention`,
    'gold: The money arrived; another payment had paid the order',
  ]);
  t.deepEqual(await story(page, payment), [created, `green: ${callback} Settled`, settled]);
  await follow(page, `/console/trade/payments/${other.payment_no}`);
  const why = page.getByRole('region', { name: 'Needs attention' });
  await why.getByText('Give it back with “Refund”').waitFor();
  const refund = { payment_no: other.payment_no, destination: 'balance', reason: 'Paid before' };
  await own.service.admin.post('/refunds', refund);
  await why.getByText('All of it is refunded or about to be').waitFor();
  t.is(await page.getByRole('button', { name: 'Refund', exact: true }).count(), 0);
});

journey('a callback with another amount says both', async (t, page) => {
  const payment = await pending();
  await notify(payment, { amount: '1070.50' });
  const both = 'expected ¥69.00, reported ¥1,070.50';
  const reason = 'The channel reports a different amount';
  t.deepEqual(await story(page, payment), [created, `red: ${callback} ${reason} · ${both}`]);
  await page.getByRole('region', { name: 'Why is it not paid?' }).getByText(`${reason} · ${both}`).waitFor();
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page
    .getByRole('dialog')
    .getByText(/expected ¥69\.00, reported ¥1070\.50/)
    .waitFor();
  await page.keyboard.press('Escape');
});

journey('refused callbacks, and one that waits', async (t, page) => {
  const payment = await pending();
  for (const _ of [1, 2]) await notify(payment, { sign: 'f'.repeat(64) });
  const refused = 'red: Channel callback, 2 times · Refused: wrong signature';
  t.deepEqual(await story(page, payment), [created, refused]);
  await page
    .locator('.timeline')
    .first()
    .getByText(/^last /)
    .waitFor();
  await verifyIn(1, payment);
  t.deepEqual(await storyNow(page), [created, 'gold: Channel callback, 2 times · Verified, being settled']);
});

freshJourney(
  'a page that has been open for hours says how long ago something was as of now',
  async (t, page) => {
    const [quiet, unsettled] = [await pending(), await pending()];
    await notify(unsettled, { sign: 'f'.repeat(64) });
    await verifyIn(4, unsettled);
    await page.clock.install();
    await enter(page, { at: `/console/trade/payments/${quiet.payment_no}` });
    const made = page.locator('.facts time').first();
    const said = page.getByRole('tooltip');
    await page.getByText(/^Created a (few seconds|minute) ago;/).waitFor();
    await made.hover();
    await said.getByText(/^a (few seconds|minute) ago/).waitFor();
    await page.mouse.move(0, 0);
    await said.waitFor({ state: 'hidden' });
    await page.clock.fastForward('03:00:00');
    await page.getByText(/^Created 3 hours ago;/).waitFor();
    await made.hover();
    await said.getByText(/^3 hours ago/).waitFor();
    await page.mouse.move(0, 0);
    await follow(page, `/console/trade/payments/${unsettled.payment_no}`);
    await page.getByText('A verified callback is being settled').waitFor();
    await page.clock.fastForward('03:00:00');
    await page.getByText('A callback was verified 2 hours ago, but is not settled yet').waitFor();
    t.pass();
  },
);

journey('a payment that its company is asked about, and its answer', async (t, page) => {
  const payment = await pending();
  const at = new Date(Date.now() - 60_000);
  await change(
    `INSERT INTO payment_follow_ups (payment_no, period, type, expire_at, until_at, due_at, asked, last_asked_at,
       last_answer, created_at) VALUES (?, 202611, 'wechat', ?, ?, ?, 3, ?, 'NOTPAY', ?)`,
    [payment.payment_no, at, at, new Date(Date.now() + 3_600_000), new Date(), at],
  );
  t.deepEqual(await story(page, payment), [created, 'blue: Asked the channel 3 times · last answer: NOTPAY']);
  await page
    .locator('.timeline')
    .first()
    .getByText(/^next /)
    .waitFor();
  await notify(payment);
  await change(`UPDATE payment_callbacks SET source = 'query' WHERE payment_no = ?`, [payment.payment_no]);
  await change('DELETE FROM payment_follow_ups');
  t.deepEqual(await storyNow(page), [created, 'green: Channel’s answer · Settled', settled]);
});

journey('a failed payment, and one closed before its instant was stored', async (t, page) => {
  const [failed, old] = [await pending(), await pending()];
  await cancel(failed);
  await cancel(old);
  await change(`UPDATE payments SET status = 'failed' WHERE payment_no = ?`, [failed.payment_no]);
  await change('UPDATE payments SET closed_at = NULL WHERE payment_no = ?', [old.payment_no]);
  await notify(old, { sign: 'f'.repeat(64) });
  t.deepEqual(await story(page, failed), [created, 'red: Payment failed']);
  t.deepEqual(await story(page, old), [
    created,
    `red: ${callback} Refused: wrong signature`,
    'grey: Payment cancelled',
  ]);
  t.is((await points(page)).at(-1)?.at, null);
  await page.getByText('Time not recorded').waitFor();
});

// The last one leaves a page that moves.
for (const reducedMotion of ['reduce', 'no-preference'] as const)
  journey(
    `a popup in a drawer stays at its control when the page moves (motion: ${reducedMotion})`,
    async (t, page) => {
      await makeMethod(own.service.admin, 'a shared secret', { name: `Stays ${reducedMotion}` });
      const order = await makeOrder(own.service.admin);
      await page.setViewportSize({ width: 1280, height: 500 });
      await page.emulateMedia({ reducedMotion });
      // What moves is decided when the page is loaded.
      await page.goto(`/console/trade/orders/${order.order_no}`);
      await page.getByRole('button', { name: 'Start payment' }).click();
      await page.getByLabel('Payment method').fill(`Stays ${reducedMotion}`);
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
  );
