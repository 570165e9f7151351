// The timeline of a payment: what happened to it, in every state it can be in, and when.
import '../support/environment.js';
import test from 'ava';
import type { Page } from 'playwright-core';
import { change } from '../../src/lib/database/db.js';
import { consoleTest } from '../support/console-test.js';
import { makeMethod, makePayment, mockCallback, type MadePayment } from '../support/factories.js';
import { follow, leaveScreen } from '../support/pages.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
const { journey } = own;
let methodId: number;

test.serial.before(async () => {
  methodId = (await makeMethod(own.service.admin)).id;
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
async function told(page: Page): Promise<string[]> {
  await page.locator('.timeline').first().waitFor();
  return (await points(page)).map(({ tone, title }) => `${tone}: ${title.replace(/ from [\d.:a-f]+/, '')}`);
}

/** Opens the page of a payment. @returns its points without their times */
async function story(page: Page, { payment_no }: MadePayment): Promise<string[]> {
  await leaveScreen(page);
  await follow(page, `/console/trade/payments/${payment_no}`);
  return told(page);
}

/** Loads the page of a payment once more. @returns its points without their times */
async function storyNow(page: Page): Promise<string[]> {
  await page.reload();
  return told(page);
}

const pending = (price = '69.00') => makePayment(own.service.admin, methodId, price);

const notify = (payment: MadePayment, more: object = {}) =>
  own.service.anonymous.post('//api/payment/notify/mock', { ...mockCallback(payment), ...more });

const cancel = ({ order_no }: MadePayment) =>
  own.service.admin.put(`/orders/${order_no}`, { status: 'cancelled' });

const orderState = (page: Page) =>
  page.locator('.facts').filter({ hasText: 'Order' }).first().locator('.tag');

const created = 'blue: Payment created';
const settled = 'green: Settled: the order is paid';
const callback = 'Callback from the channel ·';

journey('a pending payment', async (t, page) => {
  const payment = await pending();
  t.deepEqual(await story(page, payment), [created]);
  await page.getByText('No callback from the channel yet').waitFor();
  t.is(await orderState(page).innerText(), 'Pending');
});

journey('a paid payment', async (t, page) => {
  const payment = await pending();
  await notify(payment);
  t.deepEqual(await story(page, payment), [created, `green: ${callback} Settled`, settled]);
  t.is(await orderState(page).innerText(), 'Paid');
  const [, came, paid] = await points(page);
  const stored = await selectRow<{ created_at: Date; settled_at: Date }>(
    'SELECT created_at, settled_at FROM payment_callbacks WHERE payment_no = ?',
    [payment.payment_no],
  );
  t.is(came?.at, stored.created_at.toISOString());
  t.is(paid?.at, stored.settled_at.toISOString());
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
    await page.getByRole('button', { name: 'Mark as handled' }).click();
    await page.getByRole('dialog').getByLabel('Note').fill('Refunded as R-2026-1');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
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
});

journey('a payment that was paid twice', async (t, page) => {
  const payment = await pending();
  await notify(payment);
  await notify(payment, { transaction_id: `second-${payment.payment_no.slice(-12)}` });
  t.deepEqual(await story(page, payment), [
    created,
    `green: ${callback} Settled`,
    settled,
    `gold: ${callback} The payment was paid twice`,
  ]);
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
  const refused = 'red: Callback from the channel, 2 times · A callback with a wrong signature was refused';
  t.deepEqual(await story(page, payment), [created, refused]);
  await page
    .locator('.timeline')
    .first()
    .getByText(/^last /)
    .waitFor();
  // An hour ahead: the sweeper settles those that have waited for a second, often before the page is drawn.
  await change(
    `UPDATE payment_callbacks SET state = 'pending', verdict = 'verified', created_at = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR
     WHERE payment_no = ?`,
    [payment.payment_no],
  );
  t.deepEqual(await storyNow(page), [
    created,
    'gold: Callback from the channel, 2 times · Verified, being settled',
  ]);
});

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
  t.deepEqual(await storyNow(page), [created, 'green: Answer of the channel · Settled', settled]);
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
    `red: ${callback} A callback with a wrong signature was refused`,
    'grey: Payment cancelled',
  ]);
  t.is((await points(page)).at(-1)?.at, null);
  await page.getByText('Time not recorded').waitFor();
});
