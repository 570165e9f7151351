// /payments: attempts to pay orders. {id} is the payment number; the numeric id works too.
import Joi from 'joi';
import { channelOf, defaultNotifyUrl, isEnabled } from '../../lib/channels/index.js';
import type { Channel } from '../../lib/channels/channel.js';
import { AppError, fail } from '../../lib/errors.js';
import { listKeys } from '../../lib/list-query.js';
import { logger } from '../../lib/logger.js';
import { id, money, optionalText } from '../../lib/schema.js';
import {
  createPayment,
  findPayment,
  listPayments,
  paymentSortable,
  paymentStatuses,
  paymentTotals,
  type NewPayment,
  type PaymentFilter,
  type PaymentRecord,
  type PaymentStatus,
} from '../../models/payment.js';
import { revisePayment } from '../../models/payment-attention.js';
import { callbacksOf } from '../../models/payment-callback.js';
import { PaymentMethod } from '../../models/payment-method.js';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency.js';
import {
  amount,
  flag,
  integer,
  listOf,
  pageOf,
  record,
  recordOrNull,
  text,
  textOrNull,
  timestamp,
  timestampOrNull,
} from '../response.js';
import { can, route } from '../route.js';

const keys = {
  id: integer(),
  payment_no: text(),
  order_no: text(),
  user_id: integer(),
  payment_method_id: integer(),
  payment_method: recordOrNull({ id: integer(), name: text(), code: text(), type: text() }),
  amount: amount(),
  status: Joi.string()
    .valid(...paymentStatuses)
    .required(),
  third_party_no: textOrNull(),
  pay_time: timestampOrNull(),
  needs_attention: flag(),
  fail_reason: textOrNull(),
  remark: textOrNull(),
  created_at: timestamp(),
  updated_at: timestamp(),
};

const callback = record({
  id: integer(),
  type: text(),
  third_party_no: textOrNull(),
  body: Joi.any(),
  ip: text(),
  state: Joi.string().valid('pending', 'settled', 'refused').required(),
  verdict: text(),
  created_at: timestamp(),
  settled_at: timestampOrNull(),
});

const tradeStates = {
  pending: 'NOTPAY',
  paid: 'SUCCESS',
  cancelled: 'CLOSED',
  failed: 'REVOKED',
} as const satisfies Record<PaymentStatus, string>;

const filter = () => Joi.string().allow('').max(64);

const paymentParam = Joi.object<{ id: string }, true>({ id: Joi.string().max(64).required() });

/** Ten years in minutes. */
const longestPending = 5_256_000;

export const routes = [
  route({
    method: 'GET',
    path: '/payments',
    summary: 'List payments',
    description:
      '`start_time` and `end_time` apply to `time_field`. `needs_attention=1` lists what a person must look at, the reason in ' +
      '`fail_reason`; `pending_longer_than` (minutes) lists pending payments made longer ago than that, to the minute.',
    access: can('payment.index', 'List payments'),
    module: 'payments',
    query: Joi.object<PaymentFilter, true>({
      ...listKeys(paymentSortable),
      payment_no: filter(),
      order_no: filter(),
      third_party_no: filter(),
      payment_method_id: id(),
      user_id: id(),
      status: Joi.string().valid(...paymentStatuses),
      needs_attention: Joi.boolean(),
      pending_longer_than: Joi.number().integer().min(1).max(longestPending),
      time_field: Joi.string().valid('created_at', 'pay_time').default('created_at'),
    }),
    response: pageOf(record(keys)),
    versions: [paymentTotals.scope],
    handle: ({ query, marks }) => listPayments(query, marks[0]),
  }),
  route({
    method: 'POST',
    path: '/payments',
    summary: 'Create a pending payment for an order',
    description: 'With `initiate` it is also placed with its channel, whose answer is `gateway`.',
    access: can('payment.store', 'Create payments', { slugOnly: true }),
    module: 'payments',
    headers: idempotencyHeader,
    body: Joi.object<NewPayment & { initiate: boolean }, true>({
      order_no: Joi.string().min(1).max(64).required(),
      payment_method_id: id().required(),
      initiate: Joi.boolean().default(false),
      amount: money(0n),
      remark: optionalText(500),
    }),
    response: record({ ...keys, gateway: Joi.object().unknown(true) }),
    async handle({ admin, body: { initiate, ...payment }, header }) {
      const channel = initiate ? await placingChannel(payment.payment_method_id) : undefined;
      const request = { ...payment, initiate };
      const repeatable = { adminId: admin.adminId, key: idempotencyKeyOf(header), request };
      const created = await findPayment(await createPayment(payment, repeatable));
      return channel ? { ...created, gateway: await place(channel, created) } : created;
    },
  }),
  route({
    method: 'GET',
    path: '/payments/{id}',
    summary: 'Show a payment with the callbacks received for it',
    access: can('payment.show', 'Show payments'),
    module: 'payments',
    params: paymentParam,
    response: record({ ...keys, callbacks: listOf(callback) }),
    async handle({ params }) {
      const payment = await findPayment(params.id);
      return { ...payment, callbacks: await callbacksOf(payment.payment_no) };
    },
  }),
  route({
    method: 'PUT',
    path: '/payments/{id}',
    summary: 'Change the remark of a payment or put its attention aside',
    description:
      '`needs_attention` can only be set to false, once the matter is handled; `fail_reason` stays to be read. State, amount ' +
      'and third-party number are changed by callbacks only.',
    access: can('payment.update', 'Change payments'),
    module: 'payments',
    params: paymentParam,
    body: Joi.object<{ remark?: string | null; needs_attention?: false }, true>({
      remark: optionalText(500),
      needs_attention: Joi.boolean<false>().valid(false),
    }),
    response: record(keys),
    subject: ({ params }) => findPayment(params.id),
    async handle({ params, body }) {
      await revisePayment(params.id, body);
      return findPayment(params.id);
    },
  }),
  route({
    method: 'POST',
    path: '/payments/{payment_no}/query',
    summary: 'Ask for the state of a payment',
    description: 'The mock channel reads the local state; wechat and alipay answer 501.',
    access: can('payment.query', 'Query payments'),
    module: 'payments',
    params: Joi.object<{ payment_no: string }, true>({ payment_no: Joi.string().max(64).required() }),
    response: record({
      payment_no: text(),
      status: keys.status,
      trade_state: Joi.string()
        .valid(...Object.values(tradeStates))
        .required(),
      third_party_no: textOrNull(),
      amount: amount(),
      pay_time: timestampOrNull(),
    }),
    async handle({ params }) {
      const payment = await findPayment(params.payment_no);
      const type = payment.payment_method?.type ?? '';
      if (!isEnabled(type)) fail('payment_gateway_disabled');
      if (!channelOf(type)?.answersLocally) fail('payment_gateway_not_implemented');
      const { payment_no, status, third_party_no, amount, pay_time } = payment;
      return { payment_no, status, trade_state: tradeStates[status], third_party_no, amount, pay_time };
    },
  }),
];

// Found before the payment is made, so that a channel that cannot place leaves nothing behind.
async function placingChannel(methodId: number): Promise<Channel | undefined> {
  const { type, is_active } = await PaymentMethod.record(methodId).catch((error: unknown) => {
    if (error instanceof AppError) fail('payment_method_unknown', { field: 'payment_method_id' });
    throw error;
  });
  if (!is_active) fail('payment_method_disabled');
  if (!isEnabled(type)) fail('payment_gateway_disabled');
  const channel = channelOf(type);
  return channel?.place ? channel : fail('payment_gateway_not_implemented');
}

async function place(channel: Channel, payment: PaymentRecord): Promise<unknown> {
  const config = await PaymentMethod.configOf(payment.payment_method_id);
  const notifyUrl = config.notify_url ?? defaultNotifyUrl(channel.type);
  try {
    return await channel.place?.({
      paymentNo: payment.payment_no,
      amount: payment.amount,
      notifyUrl,
      config,
    });
  } catch (error) {
    logger.warn({ error, payment_no: payment.payment_no }, 'a channel refused to place a payment');
    return fail('third_party_error', { cause: error });
  }
}
