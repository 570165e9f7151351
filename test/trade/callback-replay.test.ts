// POST /payments/{no}/callbacks/{id}/replay: a callback refused because of our configuration pays after the correction, exactly once.
import '../support/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { paymentPeriod } from '../../src/lib/values/numbers.js';
import { expireOrder } from '../../src/models/trade/order.js';
import { recordVerified } from '../../src/models/trade/callback-intake.js';
import { outcome } from '../support/client.js';
import { trace as traceOf, untouched } from '../support/callbacks.js';
import {
  callBack,
  makeMethod,
  makePayment,
  mockSign,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { service } from '../support/shared-service.js';

const trace = (payment: MadePayment) => traceOf(service.admin, payment);

const send = (payment: MadePayment, secret: string, more: object = {}) =>
  callBack(service.anonymous, payment, more, secret);

const attempts = async ({ payment_no }: MadePayment): Promise<{ id: number; verdict: string }[]> =>
  (await service.admin.get(`/payments/${payment_no}`)).data.callbacks;

const replay = (payment: { payment_no: string }, id: number, client = service.admin) =>
  client.post(`/payments/${payment.payment_no}/callbacks/${id}/replay`, {});

/** A payment whose callback was refused, because its method had another secret than the company. */
async function refusedPayment(): Promise<{
  payment: MadePayment;
  callback: number;
  repair: () => Promise<unknown>;
}> {
  const method = await makeMethod(service.admin, 'mistyped');
  const payment = await makePayment(service.admin, method.id);
  const { errorCode } = await send(payment, 'the real one', { transaction_id: unique('BANK-') });
  if (errorCode !== 'payment_sign_invalid') throw new Error(errorCode);
  const [callback] = await attempts(payment);
  const repair = () => service.admin.put(`/payment-methods/${method.id}`, { shared_secret: 'the real one' });
  return { payment, callback: callback?.id as number, repair };
}

test('a replay pays once the secret is right', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  t.deepEqual(outcome(await replay(payment, callback)), [400, 40001, 'payment_sign_invalid']);
  t.like(await trace(payment), { ...untouched, verdicts: ['payment_sign_invalid'] });
  await repair();
  const { status, data } = await replay(payment, callback);
  t.is(status, 200);
  t.deepEqual(data, { payment_no: payment.payment_no, outcome: 'paid' });
  const after = await trace(payment);
  t.like(after, { payment: { status: 'paid', needs_attention: false }, order: { status: 'paid' } });
  t.deepEqual(after.verdicts, ['paid', 'payment_sign_invalid'], 'what was refused stays in the inbox');
  t.deepEqual((await replay(payment, callback)).data.outcome, 'already_paid');
  t.deepEqual(await trace(payment), after, 'once more changes nothing');
});

test('concurrent replays pay once', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  await repair();
  const answers = await Promise.all(Array.from({ length: 8 }, () => replay(payment, callback)));
  t.true(
    answers.every(({ data }) => ['paid', 'already_paid'].includes(data?.outcome)),
    JSON.stringify(answers.map(({ text }) => text)),
  );
  const { payment: paid, verdicts } = await trace(payment);
  t.is(paid.status, 'paid');
  t.is(verdicts.filter((verdict: string) => verdict === 'paid').length, 1);
});

test('a replayed callback counts from its arrival', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  const late = await refusedPayment();
  for (const { payment_no, order_no } of [payment, late.payment]) {
    await change('UPDATE orders SET expire_at = NOW(3) - INTERVAL 1 SECOND WHERE order_no = ?', [order_no]);
    await expireOrder(order_no);
    t.is((await service.admin.get(`/payments/${payment_no}`)).data.status, 'cancelled');
  }
  // Of the other one the news came after its order had expired.
  const key = [late.callback, paymentPeriod(late.payment.payment_no) as number];
  await change(
    'UPDATE payment_callbacks SET created_at = NOW(3) + INTERVAL 1 SECOND WHERE id = ? AND period = ?',
    key,
  );
  await Promise.all([repair(), late.repair()]);
  t.is((await replay(payment, callback)).data.outcome, 'paid');
  t.like(await trace(payment), { payment: { status: 'paid' }, order: { status: 'paid' } });
  t.is((await replay(late.payment, late.callback)).data.outcome, 'paid_needs_attention');
  t.like(await trace(late.payment), {
    payment: { status: 'paid', needs_attention: true, fail_reason: 'order_not_payable' },
    order: { status: 'cancelled' },
  });
});

test('a replay settles a pending verified callback', async (t) => {
  const { id } = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, id);
  const period = paymentPeriod(payment.payment_no) as number;
  const waiting = await recordVerified({
    ...{ type: 'mock', period, paymentNo: payment.payment_no, thirdPartyNo: unique('BANK-') },
    ...{ fields: {}, ip: '127.0.0.1', state: 'pending', verdict: 'verified', traceId: 'test' },
  });
  t.true(['paid', 'already_paid'].includes((await replay(payment, waiting?.id as number)).data.outcome));
  t.like(await trace(payment), {
    payment: { status: 'paid' },
    order: { status: 'paid' },
    verdicts: ['paid'],
  });
  t.is((await replay(payment, waiting?.id as number)).data.outcome, 'already_paid');
  t.deepEqual((await trace(payment)).verdicts, ['paid']);
});

test('a replay reports why a callback is refused', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  const other = await refusedPayment();
  t.deepEqual(outcome(await replay(payment, 999_999_999)), [404, 20002, 'payment_callback_not_found']);
  t.deepEqual(outcome(await replay(other.payment, callback)), [404, 20002, 'payment_callback_not_found']);
  t.deepEqual(outcome(await replay({ payment_no: 'PAY1' }, 1)), [404, 20002, 'payment_record_not_found']);
  t.is((await service.admin.post(`/payments/${payment.payment_no}/callbacks/x/replay`, {})).status, 400);

  const method = await makeMethod(service.admin);
  const [first, second] = [
    await makePayment(service.admin, method.id),
    await makePayment(service.admin, method.id),
  ];
  await send(first, 'shared secret', { amount: '1.00' });
  const [wrongAmount] = await attempts(first);
  t.deepEqual(outcome(await replay(first, wrongAmount?.id as number)), [
    400,
    40001,
    'payment_amount_mismatch',
  ]);
  const used = unique('BANK-');
  await send(first, 'shared secret', { transaction_id: used });
  await send(second, 'shared secret', { transaction_id: used });
  const [refused] = await attempts(second);
  t.deepEqual(outcome(await replay(second, refused?.id as number)), [
    400,
    30002,
    'payment_third_party_no_used',
  ]);
  t.is((await trace(second)).payment.status, 'pending');

  await change('UPDATE payment_callbacks SET sealed = NULL WHERE id = ?', [callback]);
  await repair();
  t.deepEqual(outcome(await replay(payment, callback)), [400, 40001, 'payment_callback_not_whole']);
  t.like(await trace(payment), untouched);
});

test('a replay of a callback whose channel is gone is refused', async (t) => {
  const { payment, callback } = await refusedPayment();
  await change("UPDATE payment_callbacks SET type = 'paypal' WHERE id = ?", [callback]);
  t.deepEqual(outcome(await replay(payment, callback)), [400, 400, 'invalid_payment_type']);
  const statuses = 'SELECT status FROM payments WHERE payment_no = ?';
  t.deepEqual(await select(statuses, [payment.payment_no]), [{ status: 'pending' }]);
});

test('a used number is refused also when its callback was not kept whole', async (t) => {
  const { id } = await makeMethod(service.admin);
  const [first, second] = [await makePayment(service.admin, id), await makePayment(service.admin, id)];
  const transaction_id = unique('BANK-');
  for (const payment of [first, second]) await send(payment, 'shared secret', { transaction_id });
  const [refused] = await attempts(second);
  await change('UPDATE payment_callbacks SET sealed = NULL WHERE id = ?', [refused?.id as number]);
  t.deepEqual(outcome(await replay(second, refused?.id as number)), [
    400,
    30002,
    'payment_third_party_no_used',
  ]);
  t.is((await trace(second)).payment.status, 'pending');
});

test('the stored signature of a refused callback is sealed', async (t) => {
  const { payment, callback } = await refusedPayment();
  const sign = mockSign(payment.payment_no, '12.30', 'the real one');
  const [row] = await select('SELECT * FROM payment_callbacks WHERE id = ?', [callback]);
  t.true(String((row as { sealed: string }).sealed).startsWith('v1:'));
  t.false(JSON.stringify(row).includes(sign));
  t.false((await service.admin.get(`/payments/${payment.payment_no}`)).text.includes('sealed'));
});
