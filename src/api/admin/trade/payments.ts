// /payments: payments of orders. {id} is the payment number; the numeric id works too.
import Joi from 'joi';
import {
  id,
  idOrNone,
  money,
  noneToNull,
  optionalMultiline,
  referenceParam,
} from '../../../lib/input/schema.js';
import { channelTypes } from '../../../lib/channels/index.js';
import {
  createPayment,
  getPayment,
  getPaymentOfUser,
  listPayments,
  sumPayments,
  orderOf,
  paymentQuery,
  type NewPayment,
} from '../../../models/trade/payment.js';
import { handlingsOf, updatePayment, type PaymentUpdate } from '../../../models/trade/payment-handling.js';
import { PaymentFollowUp } from '../../../models/trade/channel-tables.js';
import { followUpOf } from '../../../models/trade/payment-follow-up.js';
import { callbacksOf } from '../../../models/trade/payment-callback.js';
import { refundsOf } from '../../../models/trade/refund.js';
import { Order, PaymentCallback, PaymentHandling } from '../../../models/trade/tables.js';
import { gatewayAnswer } from '../../declare/channel-schemas.js';
import { exportRoutes } from '../../declare/export-routes.js';
import { clearingKeys, namedUser, paymentKeys, refund } from '../../declare/records.js';
import { placePayment, placingChannel, placingRefusals } from '../../flows/payment-placing.js';
import {
  amount,
  described,
  keysOf,
  listOf,
  oneOf,
  summedPage,
  summedPageOf,
  withSum,
  recordOrNull,
  resource,
  text,
  textOrNull,
} from '../../declare/response.js';
import { can, companyDeadlineMs, route } from '../../declare/route.js';

const user = namedUser.description('The user whose order it pays');

const listedPayment = resource('ListedPayment', { ...paymentKeys, user });

const callback = resource('PaymentCallback', {
  ...described(keysOf(PaymentCallback), {
    source: ['callback: the company called; query: it was asked'],
    verdict: ['Outcome of settling it, or the `error_code` of its refusal', 'paid'],
  }),
  type: oneOf(...channelTypes).description('Type of the payment channel'),
});

const handling = resource('PaymentHandling', {
  ...keysOf(PaymentHandling),
  reason: text().description('The reason that was cleared').example('paid_twice'),
  remark: textOrNull().description('Remark of the administrator; null for none'),
  username: text().description('Username of the administrator at the time'),
});

const paymentDetail = resource('PaymentDetail', {
  ...paymentKeys,
  user,
  order: recordOrNull(
    keysOf(Order, 'status', 'payment_no', 'expire_at', 'paid_at', 'cancelled_at'),
  ).description('Its order: it was paid by `payment_no`, which may be another payment'),
  callbacks: listOf(callback),
  follow_up: recordOrNull(keysOf(PaymentFollowUp)).description(
    'The pending queries to its payment company; null when it has given its final answer, or is not asked',
  ),
  handlings: listOf(handling),
  refunds: listOf(refund),
  refundable: amount(),
});

export const routes = [
  route('GET', '/payments', {
    name: 'listPayments',
    summary: 'List payments',
    description:
      '`start_time` and `end_time` apply to `time_field`. `needs_attention=1` lists payments that a person must look at, with ' +
      'the reason in `fail_reason`; `pending_longer_than` lists those that have been pending for more than so many minutes.',
    access: can('payment.index', '查看支付列表', 'List payments'),
    query: withSum(paymentQuery),
    response: summedPageOf(listedPayment),
    handle: ({ query }) => summedPage(query, listPayments, sumPayments),
  }),
  route('POST', '/payments', {
    name: 'createPayment',
    deadlineMs: companyDeadlineMs,
    summary: 'Create a pending payment for an order',
    description:
      'With `initiate` it is also placed with its channel, and `gateway` has what the customer needs in order to pay: mock `{payment_no, gateway, amount, ' +
      'notify_url, trade_status, sign?}`; wechat `{payment_no, code_url}`, or with an `openid` in its configuration ' +
      '`{payment_no, prepay_id, jsapi}`, where `jsapi` is what the page passes to WeChat; alipay `{payment_no, pay_url}`. ' +
      'When the channel fails (502, `third_party_error`) the payment stays pending with the reason in `fail_reason`. ' +
      'To try again, repeat the request: under the same Idempotency-Key the same payment is placed again, without one ' +
      'a new payment is made for the order.',
    access: can('payment.store', '创建支付', 'Create payments', { slugOnly: true }),
    body: Joi.object<NewPayment & { initiate: boolean }, true>({
      order_no: Joi.string().min(1).max(64).required(),
      payment_method_id: id().required(),
      initiate: Joi.boolean().default(false),
      amount: money(0n),
      remark: optionalMultiline(500),
    }),
    fails: ['order_unknown', 'payment_amount_not_equal', ...placingRefusals],
    response: resource('PlacedPayment', { ...paymentKeys, gateway: gatewayAnswer() }),
    async handle({ body: { initiate, ...payment } }) {
      const channel = initiate ? await placingChannel(payment.payment_method_id) : undefined;
      const made = await createPayment(payment, channel);
      return channel ? placePayment(channel, made) : { ...made, gateway: undefined };
    },
    async repeat(id, { body: { initiate } }) {
      const made = await getPayment(String(id));
      // It may have been paid or cancelled since.
      if (!initiate || made.status !== 'pending') return { ...made, gateway: undefined };
      return placePayment(await placingChannel(made.payment_method_id), made);
    },
  }),
  ...exportRoutes('payments', { zh: '支付', en: 'payments' }),
  route('GET', '/payments/{id}', {
    name: 'showPayment',
    summary: 'Show a payment with its order, callbacks, refunds and cleared reasons of attention',
    access: can('payment.show', '查看支付', 'Show payments'),
    params: referenceParam,
    fails: ['payment_record_not_found'],
    response: paymentDetail,
    handle: ({ params }) => showPayment(params.id),
  }),
  route('PUT', '/payments/{id}', {
    name: 'updatePayment',
    summary: 'Change the remark or the assignee of a payment, or clear its attention flag',
    description:
      '`needs_attention` can only be set to false, once the matter is handled, together with the `fail_reason` that was ' +
      'seen: if the reason has changed since, the request is refused. While an earlier reason has not been cleared, the ' +
      'payment stays flagged for that one. The last reason stays readable. Fields may be sent back as they were returned. ' +
      'State and third-party number follow from callbacks, queries and the order; nobody sets them here.',
    access: can('payment.update', '修改支付', 'Change payments'),
    params: referenceParam,
    body: Joi.object<PaymentUpdate, true>({
      remark: optionalMultiline(500),
      ...clearingKeys,
      assignee_id: idOrNone(),
    }),
    fails: ['admin_unknown', 'payment_attention_changed', 'payment_record_not_found'],
    response: paymentDetail,
    subject: ({ params }, t) => getPayment(params.id, t),
    async handle({ admin, params, body }) {
      await updatePayment(params.id, noneToNull(body, 'assignee_id'), admin);
      return showPayment(params.id);
    },
  }),
];

async function showPayment(reference: string) {
  const payment = await getPaymentOfUser(reference);
  const [order, callbacks, follow_up, handlings, refunded] = await Promise.all([
    orderOf(payment),
    callbacksOf(payment.payment_no),
    followUpOf(payment.payment_no),
    handlingsOf(payment.payment_no),
    refundsOf(payment.payment_no),
  ]);
  return {
    ...payment,
    order: order ?? null,
    callbacks,
    follow_up: follow_up ?? null,
    handlings,
    ...refunded,
  };
}
