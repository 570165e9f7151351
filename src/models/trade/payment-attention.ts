// Payments that a person must look at: flagged on their row, and every administrator is notified once per reason.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { inBoth, type Text } from '../../lib/values/language.js';
import { announce } from '../../lib/redis/changes.js';
import type { Money } from '../../lib/values/money.js';
import { paymentKey } from '../../lib/values/numbers.js';
import { freeEventKeys, notifyWithin } from '../office/notification.js';
import { columnsOf, selection } from '../tables/selection.js';
import { Notification } from '../office/tables.js';

export const attentionTexts = {
  order_not_payable: {
    zh: '款项已到账，但订单已无法支付',
    en: 'the money arrived, but its order could no longer be paid',
  },
  payment_amount_mismatch: { zh: '通知金额与支付金额不一致', en: 'a callback carried another amount' },
  payment_merchant_mismatch: {
    zh: '通知属于其他商户、应用、卖家或币种',
    en: 'a callback was for another merchant, application, seller or currency',
  },
  third_party_no_used: { zh: '第三方交易号已被使用', en: 'a third-party number was used before' },
  paid_twice: { zh: '该支付被重复付款', en: 'the payment was paid a second time' },
  refunded_elsewhere: {
    zh: '渠道报告了本服务没有发起的退款，请先核实再退款',
    en: 'the channel reports a refund that was not made here; check it before refunding',
  },
  notice_unverified: {
    zh: '收到无法验证的支付通知，请到渠道核实',
    en: 'a callback arrived that cannot be verified here; check with the channel',
  },
  channel_unanswered: {
    zh: '渠道始终没有给出最终结果，请到渠道核实',
    en: 'the channel never gave a final answer; check with the channel',
  },
} satisfies Record<string, Text>;

export type AttentionReason = keyof typeof attentionTexts;

export interface Mismatch {
  expected: Money;
  reported: Money;
}

interface FlagDetails {
  /** Ordinal of the duplicate payment, up to `maxNotified`: each one is notified and cleared separately. */
  nth?: number;
  mismatch?: Mismatch | undefined;
}

/** Flags a payment for review; its state stays. Every administrator is notified once per payment and reason. */
export async function flagForAttention(
  paymentNo: string,
  reason: AttentionReason,
  mismatch?: Mismatch,
): Promise<void> {
  await transact((t) => flagWithin(paymentNo, reason, t, { mismatch }));
  announce(['payments']);
}

/** Reasons to doubt whether a payment is paid; one that is paid is not flagged for them. */
const doubts: readonly AttentionReason[] = ['notice_unverified', 'channel_unanswered'];

/** The same within the caller's transaction. */
export async function flagWithin(
  paymentNo: string,
  reason: AttentionReason,
  t: Transaction,
  details: FlagDetails = {},
): Promise<void> {
  const flagged = await change(
    `UPDATE payments p SET p.needs_attention = 1, p.fail_reason = :reason, p.updated_at = :at
     WHERE p.payment_no = :payment_no AND p.period = :period AND NOT (:isDoubt AND p.status = 'paid')`,
    { ...paymentKey(paymentNo), reason, isDoubt: doubts.includes(reason), at: now() },
    t,
  );
  if (flagged > 0) await notifyAttention(paymentNo, reason, t, details);
}

/** Stores the notification of a flag in the transaction that sets it. */
export function notifyAttention(
  paymentNo: string,
  reason: AttentionReason,
  t: Transaction,
  { nth = 1, mismatch }: FlagDetails = {},
): Promise<void> {
  return notifyWithin(t, {
    type: 'system',
    title: { zh: '支付需要人工处理', en: 'A payment needs attention' },
    content: `${paymentNo}: ${inBoth(mismatch ? withAmounts(attentionTexts[reason], mismatch) : attentionTexts[reason])}`,
    eventKey: eventKey(paymentNo, reason, nth),
  });
}

const withAmounts = ({ zh, en }: Text, { expected, reported }: Mismatch): Text => ({
  zh: `${zh}（应为 ¥${expected.toString()}，通知为 ¥${reported.toString()}）`,
  en: `${en} (expected ¥${expected.toString()}, reported ¥${reported.toString()})`,
});

/** Caps the notifications of duplicate payments: a captured mock signature can be replayed. */
export const maxNotified = 10;

const everyReason = Object.keys(attentionTexts) as AttentionReason[];

/** Something that a person must look at; notified once per key. */
interface AttentionEvent {
  reason: AttentionReason;
  key: string;
}

function eventsOf(paymentNo: string): AttentionEvent[] {
  return everyReason.flatMap((reason) => {
    const times = reason === 'paid_twice' ? maxNotified : 1;
    return Array.from({ length: times }, (_, index) => ({
      reason,
      key: eventKey(paymentNo, reason, index + 1),
    }));
  });
}

const eventKey = (paymentNo: string, reason: AttentionReason, nth: number): string =>
  `attention-${paymentNo}-${reason}${nth === 1 ? '' : `-${nth}`}`;

const notified = selection(columnsOf(Notification, 'n', 'event_key'), 'notifications n');

/**
 * Whether its company reported a refund that was not made here and that nobody has cleared yet; the payment shows this
 * reason only while no other has followed.
 */
export async function isRefundedElsewhere(paymentNo: string, t?: Transaction): Promise<boolean> {
  const key = eventKey(paymentNo, 'refunded_elsewhere', 1);
  return (await notified.first('WHERE n.event_key = :key', { key }, { t })) !== undefined;
}

/** Ends the events that are over once a payment is paid: all but a refund that was made elsewhere. */
export const renewPaid = (paymentNo: string, t: Transaction): Promise<void> =>
  renewEvents(
    eventsOf(paymentNo).filter(({ reason }) => reason !== 'refunded_elsewhere'),
    t,
  );

/** Ends the doubts whether a payment is paid: its money has arrived. */
export const renewDoubts = (paymentNo: string, t: Transaction): Promise<void> =>
  renewEvents(
    eventsOf(paymentNo).filter(({ reason }) => doubts.includes(reason)),
    t,
  );

/** Ends events: the next of their kind are notified again. */
export const renewEvents = (events: readonly AttentionEvent[], t: Transaction): Promise<void> =>
  freeEventKeys(
    events.map(({ key }) => key),
    t,
  );

/** Events that nobody has cleared yet, newest first: a payment shows only the reason of the last one. */
export async function openEvents(paymentNo: string, t: Transaction): Promise<AttentionEvent[]> {
  const events = new Map(eventsOf(paymentNo).map((event) => [event.key, event]));
  const keys = [...events.keys()];
  const rows = await notified.rows('WHERE n.event_key IN (:keys) ORDER BY n.id DESC', { keys }, { t });
  return rows.flatMap(({ event_key }) => events.get(event_key ?? '') ?? []);
}
