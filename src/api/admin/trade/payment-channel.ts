// /payments/{payment_no}/place, /query and /callbacks: placing a payment with its channel, asking about it, and replaying
// what the channel sent.
import Joi from 'joi';
import { id, recordNumber } from '../../../lib/input/schema.js';
import { channelOf, isEnabled, openResults } from '../../../lib/channels/index.js';
import { fail } from '../../../lib/errors/app-error.js';
import { getPayment } from '../../../models/trade/payment.js';
import type { PaymentStatus } from '../../../models/trade/tables.js';
import { gatewayAnswer } from '../../declare/channel-schemas.js';
import { paymentKeys } from '../../declare/records.js';
import {
  amount,
  oneOf,
  record,
  resource,
  text,
  textOrNull,
  timestampOrNull,
} from '../../declare/response.js';
import { can, companyDeadlineMs, route } from '../../declare/route.js';
import { callbackRefusals } from '../../flows/callback.js';
import { replayCallback, replayOutcomes } from '../../flows/callback-replay.js';
import { placePayment, placingChannel, placingRefusals, queryPayment } from '../../flows/payment-placing.js';

const tradeStates = {
  pending: 'NOTPAY',
  paid: 'SUCCESS',
  cancelled: 'CLOSED',
  failed: 'REVOKED',
} as const satisfies Record<PaymentStatus, string>;

const numberParam = Joi.object<{ payment_no: string }, true>({ payment_no: recordNumber() });

export const routes = [
  route('POST', '/payments/{payment_no}/place', {
    name: 'placePayment',
    deadlineMs: companyDeadlineMs,
    summary: 'Place (or place again) a pending payment',
    title: { zh: '发起支付', en: 'Place payments' },
    action: 'place',
    description:
      '`gateway` has what the customer needs in order to pay, as in `POST /payments`. Placing a payment again returns it for ' +
      'the same trade.',
    access: can('payment.store', '创建支付', 'Create payments', { slugOnly: true }),
    params: numberParam,
    fails: placingRefusals,
    response: record({ ...paymentKeys, gateway: gatewayAnswer().required() }),
    async handle({ params }) {
      const made = await getPayment(params.payment_no);
      return placePayment(await placingChannel(made.payment_method_id), made);
    },
  }),
  route('POST', '/payments/{payment_no}/query', {
    name: 'queryPayment',
    summary: 'Query the state of a payment',
    description:
      'Asks the payment company and settles what it answers, where the results of the channel are open ' +
      '(PAYMENT_CHANNEL_RESULTS); otherwise wechat and alipay answer 501. The mock channel reads the local state.',
    deadlineMs: companyDeadlineMs,
    access: can('payment.query', '查询支付结果', 'Query payments'),
    isLogged: false,
    params: numberParam,
    fails: [
      'payment_gateway_disabled',
      'payment_gateway_not_implemented',
      'payment_record_not_found',
      'third_party_error',
    ],
    response: record({
      payment_no: text(),
      status: paymentKeys.status,
      trade_state: Joi.string()
        .valid(...Object.values(tradeStates))
        .required(),
      third_party_no: textOrNull(),
      amount: amount(),
      pay_time: timestampOrNull(),
    }),
    async handle({ params }) {
      const known = await getPayment(params.payment_no);
      const type = known.payment_method?.type ?? '';
      if (!isEnabled(type)) fail('payment_gateway_disabled');
      const channel = channelOf(type);
      if (!channel?.answersLocally && !openResults(channel)) fail('payment_gateway_not_implemented');
      const payment = channel?.answersLocally || known.status === 'paid' ? known : await queryPayment(known);
      const { payment_no, third_party_no, amount, pay_time } = payment;
      const status: PaymentStatus = payment.status;
      return { payment_no, status, trade_state: tradeStates[status], third_party_no, amount, pay_time };
    },
  }),
  route('POST', '/payments/{payment_no}/callbacks/{id}/replay', {
    name: 'replayPaymentCallback',
    summary: 'Replay a stored callback of a payment',
    description:
      'A refused callback is verified again under the current configuration and then settled like a new one, dated by its ' +
      'first arrival. However often it is replayed, it pays once. If something is still wrong, the answer says what.',
    access: can('payment.replay', '重放支付回调', 'Replay payment callbacks'),
    params: Joi.object<{ payment_no: string; id: number }, true>({
      payment_no: recordNumber(),
      id: id().required(),
    }),
    fails: [
      ...callbackRefusals,
      'payment_callback_not_found',
      'payment_callback_not_whole',
      'payment_record_not_found',
    ],
    response: resource('CallbackReplay', {
      payment_no: text(),
      outcome: oneOf(...replayOutcomes).description(
        '`paid` now; `already_paid` before; `paid_needs_attention`: the money is recorded, but its order could not be paid; ' +
          '`paid_twice`: it was paid under another number before; `processing`: it is stored and will be settled; `noted`: it is genuine and reports no money',
      ),
    }),
    async handle({ params, deadline }) {
      const { payment_no } = await getPayment(params.payment_no);
      return { payment_no, outcome: await replayCallback(payment_no, params.id, deadline) };
    },
  }),
];
