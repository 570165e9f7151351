// The main job of the service from sign-in to a paid order, with the real worker.
import '../support/shared-environment.js';
import test from 'ava';
import { makeMethod, makeOrder, mockCallback } from '../support/factories.js';
import { service } from '../support/shared-service.js';

test('the signed callback of its payment pays an order', async (t) => {
  const { admin } = service;
  const order = await makeOrder(admin, '24.90');
  const method = await makeMethod(admin);
  const placed = await admin.post('/payments', {
    order_no: order.order_no,
    payment_method_id: method.id,
    initiate: true,
  });
  t.is(placed.status, 200);
  const payment = placed.data;
  t.is(payment.gateway.sign, mockCallback(payment).sign);
  t.is(payment.gateway.notify_url, 'https://back-office.test/api/payment/notify/mock');

  const notified = await service.anonymous.post('//api/payment/notify/mock', mockCallback(payment));
  t.deepEqual(notified.data, { payment_no: payment.payment_no, order_no: order.order_no, status: 'paid' });

  const paidOrder = (await admin.get(`/orders/${order.order_no}`)).data;
  const paidPayment = (await admin.get(`/payments/${payment.payment_no}`)).data;
  t.is(paidOrder.status, 'paid');
  t.is(paidOrder.payment_no, payment.payment_no);
  t.is(paidPayment.status, 'paid');
  t.is(paidPayment.pay_time, paidOrder.paid_at);
  t.deepEqual(
    paidPayment.callbacks.map((callback: { state: string; verdict: string }) => [
      callback.state,
      callback.verdict,
    ]),
    [['settled', 'paid']],
  );
});
