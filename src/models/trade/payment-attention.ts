// Payments that need review: flagged on their row, every administrator being notified once.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { inBoth, type Text } from '../../lib/language.js';
import { paymentPeriod } from '../../lib/numbers.js';
import { deliverStored, notifyWithin } from '../office/notification.js';
import { journalChanges } from '../tables/list-journal.js';
import { updateRows } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { over } from '../tables/sql.js';
import { findPayment } from './payment.js';
import { Notification } from '../office/tables.js';
import { Payment } from './tables.js';
import { announcing } from '../tables/versions.js';

export type AttentionReason =
  | 'order_not_payable'
  | 'payment_amount_mismatch'
  | 'third_party_no_used'
  | 'paid_twice'
  | 'notice_unverified';

const texts: Record<AttentionReason, Text> = {
  order_not_payable: {
    zh: '款项已到账，但订单已无法支付',
    en: 'the money arrived, but its order could no longer be paid',
  },
  payment_amount_mismatch: { zh: '通知金额与支付金额不一致', en: 'a callback carried another amount' },
  third_party_no_used: { zh: '第三方交易号已被使用', en: 'a third-party number was used before' },
  paid_twice: { zh: '该支付被重复付款', en: 'the payment was paid a second time' },
  notice_unverified: {
    zh: '收到无法验证的支付通知，请到渠道核实',
    en: 'a notice came that cannot be verified here; look at the channel',
  },
};

/** Flags a payment for review; its state stays. Every administrator is notified once per payment and reason. */
export async function flagForAttention(paymentNo: string, reason: AttentionReason): Promise<void> {
  const key = { payment_no: paymentNo, period: paymentPeriod(paymentNo) ?? 0 };
  const flag = async (t: Transaction): Promise<number[]> => {
    const payment = await flagged.one(
      sql('WHERE p.payment_no = :payment_no AND p.period = :period FOR UPDATE', key),
      { t },
    );
    await updateRows(Payment, { needs_attention: true, fail_reason: reason, updated_at: now() }, key, t);
    if (payment?.needs_attention === false) {
      const rows = sql('r.payment_no = :payment_no AND r.period = :period', key);
      await journalChanges('payments', rows, { needs_attention: false }, t);
    }
    return notifyAttention(paymentNo, reason, t);
  };
  await deliverStored(await announcing(['payments'], () => transact(flag)));
}

/**
 * Stores the notification of a flag in the transaction that sets it.
 *
 * @param nth of the further payments it was paid by, up to `maxTold`: each is told, and cleared by itself
 * @returns ids for `deliverStored`
 */
export function notifyAttention(
  paymentNo: string,
  reason: AttentionReason,
  t: Transaction,
  nth = 1,
): Promise<number[]> {
  return notifyWithin(t, {
    type: 'system',
    title: { zh: '支付需要人工处理', en: 'A payment needs attention' },
    content: `${paymentNo}: ${inBoth(texts[reason])}`,
    eventKey: eventKey(paymentNo, reason, nth),
  });
}

/** Of further payments under one signature, which anybody who has seen it can repeat. */
export const maxTold = 10;

const everyReason = Object.keys(texts) as AttentionReason[];

/** An occasion to look at a payment. */
interface AttentionEvent {
  reason: AttentionReason;
  key: string;
}

function eventsOf(paymentNo: string): AttentionEvent[] {
  return everyReason.flatMap((reason) => {
    const times = reason === 'paid_twice' ? maxTold : 1;
    return Array.from({ length: times }, (_, index) => ({
      reason,
      key: eventKey(paymentNo, reason, index + 1),
    }));
  });
}

const eventKey = (paymentNo: string, reason: AttentionReason, nth: number): string =>
  `attention-${paymentNo}-${reason}${nth === 1 ? '' : `-${nth}`}`;

/** Once a payment no longer needs attention for these events, its next flag of the kind is another one. */
export async function renewEvents(
  paymentNo: string,
  t: Transaction,
  events: readonly AttentionEvent[] = eventsOf(paymentNo),
): Promise<void> {
  await updateRows(Notification, { event_key: null }, { event_key: events.map(({ key }) => key) }, t);
}

/** Events that nobody has cleared yet, the newest first: a payment shows the reason of the last one only. */
async function openEvents(paymentNo: string, t: Transaction): Promise<AttentionEvent[]> {
  const events = new Map(eventsOf(paymentNo).map((event) => [event.key, event]));
  const keys = [...events.keys()];
  const rows = await notified.where(sql('WHERE n.event_key IN (:keys) ORDER BY n.id DESC', { keys }), { t });
  return rows.flatMap(({ event_key }) => events.get(event_key ?? '') ?? []);
}

const sql = over({ 'payments p': Payment, 'payments r': Payment, 'notifications n': Notification });
const flagged = selection(columnsOf(Payment, 'p', 'needs_attention', 'fail_reason'), 'payments p');
const notified = selection(columnsOf(Notification, 'n', 'event_key'), 'notifications n');

export interface PaymentUpdate {
  remark?: string | null;
  needs_attention?: false;
  /** The reason that the person clearing the flag has seen; needed with `needs_attention`. */
  fail_reason?: string;
}

/**
 * Updates the remark of a payment, or clears the reason of its flag. The flag stays, with the reason before, while another
 * one has not been cleared. The last reason stays readable; a new flag is notified again.
 *
 * @throws payment_record_not_found; payment_attention_changed when it now needs attention for another reason
 */
export async function updatePayment(
  reference: string,
  { remark, needs_attention, fail_reason }: PaymentUpdate,
): Promise<void> {
  const { payment_no } = await findPayment(reference);
  const key = { payment_no, period: paymentPeriod(payment_no) as number };
  const revise = async (t: Transaction): Promise<void> => {
    const updated_at = now();
    if (remark !== undefined) await updateRows(Payment, { remark: remark || null, updated_at }, key, t);
    if (needs_attention === undefined) return;
    const payment = await flagged.one(
      sql('WHERE p.payment_no = :payment_no AND p.period = :period FOR UPDATE', key),
      { t },
    );
    if (!payment?.needs_attention) return;
    if (payment.fail_reason !== fail_reason) fail('payment_attention_changed', { field: 'fail_reason' });
    const open = await openEvents(payment_no, t);
    // Of several further payments the first: a later one may have come since somebody looked.
    const seen = open.findLast(({ reason }) => reason === fail_reason);
    if (seen) await renewEvents(payment_no, t, [seen]);
    const next = open.find((event) => event !== seen);
    if (next) {
      await updateRows(Payment, { fail_reason: next.reason, updated_at }, key, t);
      return;
    }
    await updateRows(Payment, { needs_attention: false, updated_at }, key, t);
    const rows = sql('r.payment_no = :payment_no AND r.period = :period', key);
    await journalChanges('payments', rows, { needs_attention: true }, t);
  };
  await announcing(['payments'], () => transact(revise));
}
