// Refunds that a person must look at: flagged on their row, and every administrator is notified once per reason.
import type { Transaction } from 'sequelize';
import { ago, now } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { refuseField } from '../../lib/input/validation.js';
import { inBoth, type Text } from '../../lib/values/language.js';
import { announce } from '../../lib/redis/changes.js';
import { freeEventKeys, notifyWithin } from '../office/notification.js';
import { updateRows } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { Notification } from '../office/tables.js';
import { keyOfRefund } from './refund.js';
import { Refund } from './channel-tables.js';

/** The reasons in words. */
export const refundAttentionTexts = {
  refund_failed: {
    zh: '渠道最终拒绝了退款，金额已释放',
    en: 'the channel refused it for good; its amount can be refunded again',
  },
  refund_stuck: {
    zh: '渠道无法完成退款或金额不一致，请到渠道处理',
    en: 'the channel cannot finish it, or refunded another amount; act at the channel',
  },
  refund_slow: {
    zh: '渠道 4 小时仍未受理退款，或 8 天仍未完成',
    en: 'the channel has not accepted it for 4 hours, or not finished it for 8 days',
  },
} satisfies Record<string, Text>;

type RefundAttention = keyof typeof refundAttentionTexts;

/** A refund whose flag was cleared and that is still open is raised again so long after the last notification. */
const againMs = 7 * 86_400_000;

/**
 * Flags a refund that is still being sent, unless it was raised for that reason lately.
 *
 * @param words of the channel
 */
export async function flagRefund(
  { refund_no, period }: { refund_no: string; period: number },
  reason: 'refund_stuck' | 'refund_slow',
  t: Transaction,
  words?: string,
): Promise<void> {
  // A stuck refund is not flagged as slow as well.
  const known = reason === 'refund_slow' ? ['refund_slow', 'refund_stuck'] : ['refund_stuck'];
  const event = { key: eventKey(refund_no, reason), since: ago(againMs) };
  const last = await notified.first('WHERE n.event_key = :key AND n.created_at > :since', event, { t });
  const flagged = await change(
    `UPDATE refunds r SET r.needs_attention = 1, r.fail_reason = :reason, r.updated_at = :at
     WHERE r.refund_no = :refund_no AND r.period = :period AND r.status = 'processing'
       AND (r.fail_reason IS NULL OR r.fail_reason NOT IN (:known) OR (r.needs_attention = 0 AND :isAgain))`,
    { refund_no, period, reason, known, isAgain: last === undefined, at: now() },
    t,
  );
  if (flagged === 0) return;
  if (!last) await freeEventKeys([event.key], t);
  await notifyRefund(refund_no, reason, t, words);
}

const notified = selection(columnsOf(Notification, 'n', 'id'), 'notifications n');

const eventKey = (refundNo: string, reason: RefundAttention): string => `refund-${refundNo}-${reason}`;

/** Stores the notification within the caller's transaction. */
export function notifyRefund(
  refundNo: string,
  reason: RefundAttention,
  t: Transaction,
  words?: string,
): Promise<void> {
  return notifyWithin(t, {
    type: 'system',
    title: { zh: '退款需要人工处理', en: 'A refund needs attention' },
    content: `${refundNo}: ${inBoth(refundAttentionTexts[reason])}${words ? `: ${words}` : ''}`,
    eventKey: eventKey(refundNo, reason),
  });
}

const flags = selection(columnsOf(Refund, 'r', 'needs_attention', 'fail_reason'), 'refunds r');

export interface RefundUpdate {
  /** False clears the flag; true, which a flagged refund is answered with, changes nothing. */
  needs_attention?: boolean;
  /** The reason that the person clearing the flag has seen; needed to clear it. */
  fail_reason?: string | null;
}

/**
 * Clears the flag of a refund; the reason stays readable.
 *
 * @throws refund_not_found; refund_attention_changed when the reason has changed; value_not_acceptable for a flag that
 * only the service sets
 */
export async function updateRefund(
  refundNo: string,
  { needs_attention, fail_reason }: RefundUpdate,
): Promise<void> {
  if (needs_attention === undefined) return;
  const key = keyOfRefund(refundNo);
  const revise = async (t: Transaction): Promise<void> => {
    const refund = await flags.first(
      'WHERE r.refund_no = :refund_no AND r.period = :period FOR UPDATE',
      key,
      { t },
    );
    if (!refund) fail('refund_not_found');
    if (needs_attention && !refund.needs_attention)
      refuseField('value_not_acceptable', 'needs_attention', 'any.only');
    if (needs_attention || !refund.needs_attention) return;
    if (refund.fail_reason !== fail_reason) fail('refund_attention_changed', { field: 'fail_reason' });
    await updateRows(Refund, { needs_attention: false, updated_at: now() }, key, t);
  };
  await transact(revise);
  announce(['refunds']);
}
