// Authentic callbacks that contradict the payment: amount, third-party number, state of the order.
import '../support/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { paymentPeriod } from '../../src/lib/values/numbers.js';
import { outcome } from '../support/client.js';
import { trace as traceOf, untouched } from '../support/callbacks.js';
import { makeMethod, makeOrder, makePayment, mockCallback, unique } from '../support/factories.js';
import type { MadePayment } from '../support/factories.js';
import { service } from '../support/shared-service.js';

const { id: methodId } = await makeMethod(service.admin);

const pending = () => makePayment(service.admin, methodId);

const notify = (body: unknown) => service.anonymous.post('//api/payment/notify/mock', body);

const trace = (payment: MadePayment) => traceOf(service.admin, payment);

test('a wrong amount is refused under each of its field names', async (t) => {
  for (const name of ['amount', 'total_amount', 'pay_amount']) {
    const payment = await makePayment(service.admin, methodId, '12.30');
    for (const wrong of ['12.31', 12.29, 0, '1230']) {
      const answer = outcome(await notify({ ...mockCallback(payment), [name]: wrong }));
      t.deepEqual(answer, [400, 40001, 'payment_amount_mismatch'], `${name} ${wrong}`);
    }
    const { payment: flagged, order, verdicts } = await trace(payment);
    t.deepEqual(flagged, {
      ...untouched.payment,
      needs_attention: true,
      fail_reason: 'payment_amount_mismatch',
    });
    t.deepEqual(order, untouched.order);
    t.deepEqual(verdicts, Array(4).fill('payment_amount_mismatch'));
    const sly = {
      ...mockCallback(payment),
      amount: '12.30',
      total_amount: '12.30',
      pay_amount: '12.30',
      [name]: '0.01',
    };
    t.is((await notify(sly)).errorCode, 'payment_amount_mismatch');
    t.is((await notify({ ...mockCallback(payment), [name]: 12.3 })).data.status, 'paid');
  }
});

test('the third-party number is read from each of its field names', async (t) => {
  for (const name of ['transaction_id', 'trade_no', 'third_party_no']) {
    const payment = await pending();
    const number = unique('T-');
    await notify({ ...mockCallback(payment), [name]: number });
    t.is((await trace(payment)).payment.third_party_no, number);
  }
});

test('one third-party number never pays two payments', async (t) => {
  for (let round = 0; round < 5; round++) {
    const payments = await Promise.all([pending(), pending()]);
    const transaction_id = unique('T-');
    const answers = await Promise.all(
      payments.map((payment) => notify({ ...mockCallback(payment), transaction_id })),
    );
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
    const loser = payments[answers.findIndex(({ status }) => status === 400)] as MadePayment;
    t.is(answers.find(({ status }) => status === 400)?.errorCode, 'payment_third_party_no_used');
    const { payment, order, verdicts } = await trace(loser);
    t.deepEqual(payment, { ...untouched.payment, needs_attention: true, fail_reason: 'third_party_no_used' });
    t.deepEqual([order, verdicts], [untouched.order, ['payment_third_party_no_used']]);
    t.is((await notify({ ...mockCallback(loser), transaction_id: unique('T-') })).data.status, 'paid');
  }
});

test('money for an order that can no longer be paid is flagged', async (t) => {
  const { admin } = service;
  const order = await makeOrder(admin);
  const body = { order_no: order.order_no, payment_method_id: methodId };
  const [first, second] = [
    (await admin.post('/payments', body)).data,
    (await admin.post('/payments', body)).data,
  ];
  t.is((await notify(mockCallback(first))).data.status, 'paid');
  t.is((await notify(mockCallback(second))).data.status, 'paid');
  t.like((await trace(second)).payment, {
    status: 'paid',
    needs_attention: true,
    fail_reason: 'order_not_payable',
  });
  t.like((await trace(second)).order, { status: 'paid', payment_no: first.payment_no });
  for (const end of ['cancelled', 'deleted'] as const) {
    const payment = await pending();
    if (end === 'cancelled') await admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
    else await admin.delete(`/orders/${payment.order_no}`);
    t.is((await notify(mockCallback(payment))).data.status, 'paid');
    const late = await trace(payment);
    t.like(late.payment, { status: 'paid', needs_attention: true });
    t.deepEqual(
      [late.order, late.verdicts],
      [{ ...untouched.order, status: 'cancelled' }, ['paid_needs_attention']],
    );
    t.is((await notify(mockCallback(payment))).data.status, 'paid');
  }
});

test('attempts are shown with their secrets masked', async (t) => {
  const payment = await pending();
  const note = { card: { cvv_token: 'canary-1' }, note: `Bearer ${'a'.repeat(64)}` };
  await notify({ ...mockCallback(payment), sign: 'canary-2', ...note });
  await notify({ ...mockCallback(payment), transaction_id: 'T-shown', ...note });
  const { data, text } = await service.admin.get(`/payments/${payment.payment_no}`);
  t.notRegex(text, /canary|a{64}/);
  t.notRegex(text, new RegExp(mockCallback(payment).sign as string));
  const [settled, refused] = data.callbacks;
  t.like(refused, {
    type: 'mock',
    state: 'refused',
    verdict: 'payment_sign_invalid',
    ip: '127.0.0.1',
    settled_at: null,
  });
  t.like(settled, { state: 'settled', verdict: 'paid', third_party_no: 'T-shown' });
  t.is(refused.body.out_trade_no, payment.payment_no);
  t.is(refused.body.sign, '***');
  const [row] = await select<{ notify_data: string }>(
    'SELECT notify_data FROM payments WHERE payment_no = ?',
    [payment.payment_no],
  );
  t.deepEqual(JSON.parse(row?.notify_data ?? ''), settled.body);
});

test('a late success pays an order whose payment had failed', async (t) => {
  const payment = await pending();
  await change(
    `UPDATE payments SET status = 'failed', fail_reason = 'closed' WHERE payment_no = ? AND period = ?`,
    [payment.payment_no, paymentPeriod(payment.payment_no) as number],
  );
  t.is((await notify(mockCallback(payment))).data.status, 'paid');
  const late = await trace(payment);
  t.like(late.payment, { status: 'paid', needs_attention: false, fail_reason: null });
  t.is(late.order?.status, 'paid');
});

test('a finished callback does not prevent its order from ending', async (t) => {
  const { admin } = service;
  const refused = await pending();
  t.is((await notify({ ...mockCallback(refused), sign: 'x' })).errorCode, 'payment_sign_invalid');
  t.is((await admin.put(`/orders/${refused.order_no}`, { status: 'cancelled' })).status, 200);
  const late = await pending();
  await admin.put(`/orders/${late.order_no}`, { status: 'cancelled' });
  t.is((await notify(mockCallback(late))).data.status, 'paid');
  t.is((await admin.delete(`/orders/${late.order_no}`)).status, 200);
});
