// /refunds: refunds of payments.
import Joi from 'joi';
import { currentLanguage } from '../../../lib/process/context.js';
import { fail } from '../../../lib/errors/app-error.js';
import {
  money,
  nonEmptyText,
  optionalText,
  recordNumber,
  referenceParam,
} from '../../../lib/input/schema.js';
import { say } from '../../../lib/values/language.js';
import { sendRefund } from '../../../jobs/send-refund.js';
import { getRefund, listRefunds, refundQuery, sumRefunds } from '../../../models/trade/refund.js';
import { updateRefund, type RefundUpdate } from '../../../models/trade/refund-attention.js';
import { approveRefund, rejectRefund } from '../../../models/trade/refund-decision.js';
import { requestRefund, type NewRefund } from '../../../models/trade/refund-request.js';
import { askRefundNow } from '../../../models/trade/refund-schedule.js';
import { refundDestinations } from '../../../models/trade/channel-tables.js';
import { exportRoutes } from '../../declare/export-routes.js';
import { clearingKeys, refund } from '../../declare/records.js';
import { summedPage, summedPageOf, withSum } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const numberParam = Joi.object<{ refund_no: string }, true>({ refund_no: recordNumber() });

/** How long a query waits for its turn in the queue and for the channel, which may take 10 s. */
const answerMs = 12_000;

export const routes = [
  route('GET', '/refunds', {
    name: 'listRefunds',
    summary: 'List refunds',
    description:
      '`start_time` and `end_time` apply to `time_field`. `needs_attention=1` lists refunds that a person must look at, with ' +
      'the reason in `fail_reason`; `status=waiting` those that wait for approval.',
    access: can('refund.index', '查看退款列表', 'List refunds'),
    query: withSum(refundQuery),
    response: summedPageOf(refund),
    handle: ({ query }) => summedPage(query, listRefunds, sumRefunds),
  }),
  route('POST', '/refunds', {
    name: 'createRefund',
    summary: 'Refund a paid payment, in whole or in part',
    description:
      'Takes `amount` from what is left of the payment, all of it by default. `channel` sends it back through the payment ' +
      'company, `balance` adds it to the balance of the user at once. Once the refunds of a payment exceed `REFUND_APPROVAL_ABOVE`, it waits for another ' +
      'administrator. Order and payment stay paid. A channel that cannot refund answers 501; refund to the balance then.',
    access: can('refund.store', '发起退款', 'Request refunds', { slugOnly: true }),
    body: Joi.object<NewRefund, true>({
      payment_no: Joi.string().min(1).max(64).required(),
      amount: money(1n),
      destination: Joi.string()
        .valid(...refundDestinations)
        .required(),
      reason: nonEmptyText(80)
        .required()
        .description('Why; the customer may see it, at WeChat its first 80 bytes')
        .example('The tea was sold out'),
    }),
    fails: [
      'balance_limit_exceeded',
      'payment_gateway_disabled',
      'payment_gateway_not_implemented',
      'payment_not_refundable',
      'payment_refunded_elsewhere',
      'payment_unknown',
      'refund_exceeds_payment',
      'refund_not_found',
      'refund_too_late',
      'refund_too_many',
      'user_unknown',
    ],
    response: refund,
    async handle({ admin, body }) {
      const { id, refund_no, isDue } = await requestRefund(body, admin);
      if (isDue) await sendRefund.enqueueOrLeave({ refund_no });
      return getRefund(String(id));
    },
    repeat: (id) => getRefund(String(id)),
  }),
  ...exportRoutes('refunds', { zh: '退款', en: 'refunds' }),
  route('GET', '/refunds/{id}', {
    name: 'showRefund',
    summary: 'Show a refund',
    description: 'The refund number or the numeric id.',
    access: can('refund.show', '查看退款', 'Show refunds'),
    params: referenceParam,
    fails: ['refund_not_found'],
    response: refund,
    handle: ({ params }) => getRefund(params.id),
  }),
  route('PUT', '/refunds/{id}', {
    name: 'updateRefund',
    summary: 'Clear the attention flag of a refund',
    description:
      '`needs_attention` can only be set to false, together with the `fail_reason` that was seen: if the reason has changed ' +
      'since, the request is refused. Fields may be sent back as they were returned.',
    access: can('refund.update', '处理退款异常', 'Clear refunds'),
    params: referenceParam,
    body: Joi.object<RefundUpdate, true>({
      ...clearingKeys,
    }),
    fails: ['refund_attention_changed', 'refund_not_found'],
    response: refund,
    subject: ({ params }, t) => getRefund(params.id, t),
    async handle({ params, body }) {
      const { refund_no } = await getRefund(params.id);
      await updateRefund(refund_no, body);
      return getRefund(refund_no);
    },
  }),
  route('POST', '/refunds/{refund_no}/approve', {
    name: 'approveRefund',
    summary: 'Approve a waiting refund that somebody else requested',
    access: can('refund.approve', '审批退款', 'Approve refunds', { slugOnly: true }),
    params: numberParam,
    fails: [
      'balance_limit_exceeded',
      'payment_refunded_elsewhere',
      'refund_not_found',
      'refund_not_waiting',
      'refund_own_request',
      'user_unknown',
    ],
    response: refund,
    async handle({ admin, params: { refund_no } }) {
      const isDue = await approveRefund(refund_no, admin);
      if (isDue) await sendRefund.enqueueOrLeave({ refund_no });
      return getRefund(refund_no);
    },
  }),
  route('POST', '/refunds/{refund_no}/reject', {
    name: 'rejectRefund',
    summary: 'Reject a waiting refund; its amount can be refunded again',
    title: { zh: '驳回退款', en: 'Reject refunds' },
    action: 'reject',
    description: 'Callers may reject their own requests, too.',
    access: can('refund.approve', '审批退款', 'Approve refunds', { slugOnly: true }),
    params: numberParam,
    body: Joi.object<{ reason?: string | null }, true>({
      reason: optionalText(200).description('Why; becomes `fail_reason`').example('Already replaced'),
    }),
    fails: ['refund_not_found', 'refund_not_waiting'],
    response: refund,
    async handle({ admin, params: { refund_no }, body }) {
      await rejectRefund(refund_no, body.reason || null, admin);
      return getRefund(refund_no);
    },
  }),
  route('POST', '/refunds/{refund_no}/query', {
    name: 'queryRefund',
    deadlineMs: 15_000,
    summary: 'Ask the channel now what became of a refund',
    description:
      'Sends the refund if it has not been sent yet. One that waits for approval or has ended is returned as it is. If the ' +
      'channel does not say, the answer is 502 with the reason, and the refund is tried again later.',
    access: can('refund.query', '查询退款结果', 'Query refunds'),
    params: numberParam,
    fails: ['refund_not_found', 'third_party_error'],
    response: refund,
    async handle({ params: { refund_no } }) {
      const run =
        (await askRefundNow(refund_no)) && (await sendRefund.enqueueAndWait({ refund_no }, answerMs));
      if (run && run.unknown)
        fail('third_party_error', { params: { reason: say(run.unknown, currentLanguage()) } });
      return getRefund(refund_no);
    },
  }),
];
