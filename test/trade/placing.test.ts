// POST /payments/{payment_no}/place: the customer's way to pay, once more, for as long as the payment waits.
import '../support/shared-environment.js';
import test from 'ava';
import {
  makeMethod,
  makePayment,
  mockCallback,
  mockSign,
  signedInWith,
  unique,
} from '../support/factories.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const countPayments = async (orderNo: string): Promise<number> =>
  (await selectRow<{ count: number }>('SELECT COUNT(*) AS count FROM payments WHERE order_no = ?', [orderNo]))
    .count;

test('a pending payment can be placed repeatedly', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const { payment_no, order_no } = await makePayment(admin, method.id, '7.00');
  for (let time = 0; time < 2; time++) {
    const { status, data } = await admin.post(`/payments/${payment_no}/place`);
    t.is(status, 200);
    t.like(data, { payment_no, status: 'pending', gateway: { sign: mockSign(payment_no, '7.00') } });
  }
  t.is(await countPayments(order_no), 1);
  const logged = await until(
    async () => (await admin.get(`/operation-logs?path=/payments/${payment_no}/place`)).data.list[0],
  );
  t.like(logged, { module: 'payment', action: 'place', record_key: payment_no });
});

test('a paid, cancelled or unknown payment cannot be placed', async (t) => {
  const { admin, anonymous } = service;
  const method = await makeMethod(admin);
  const paid = await makePayment(admin, method.id);
  await anonymous.request('POST', '//api/payment/notify/mock', { body: mockCallback(paid) });
  t.like(await admin.post(`/payments/${paid.payment_no}/place`), {
    status: 400,
    errorCode: 'order_not_payable',
  });
  const cancelled = await makePayment(admin, method.id);
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  t.like(await admin.post(`/payments/${cancelled.payment_no}/place`), {
    status: 400,
    errorCode: 'order_not_payable',
  });
  t.is((await admin.post(`/payments/${unique('PAY')}/place`)).status, 404);
});

test('a disabled method places no payments', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const { payment_no } = await makePayment(admin, method.id);
  await admin.put(`/payment-methods/${method.id}`, { is_active: false });
  t.like(await admin.post(`/payments/${payment_no}/place`), {
    status: 400,
    errorCode: 'payment_method_disabled',
  });
  t.like(await selectRow('SELECT status FROM payments WHERE payment_no = ?', [payment_no]), {
    status: 'pending',
  });
});

test('placing requires the permission to create payments', async (t) => {
  const method = await makeMethod(service.admin);
  const { payment_no } = await makePayment(service.admin, method.id);
  const reader = await signedInWith(service.admin, ['payment.index', 'payment.show']);
  t.is((await reader.post(`/payments/${payment_no}/place`)).status, 403);
  const cashier = await signedInWith(service.admin, ['payment.store']);
  t.is((await cashier.post(`/payments/${payment_no}/place`)).status, 200);
});
