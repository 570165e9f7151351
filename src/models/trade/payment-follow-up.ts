// payment_follow_ups: placed payments whose company is asked until it gives a final answer. A row says when; the
// sweeper finds it.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { change } from '../../lib/database/db.js';
import { orderKey, paymentKey, periodOf, shiftPeriod } from '../../lib/values/numbers.js';
import { insertSql, updateRows } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import { PaymentFollowUp } from './channel-tables.js';

const minuteMs = 60_000;

/** A run that has not ended by then is repeated. */
const leaseMs = 2 * minuteMs;

/** A payment is asked about a minute after it was placed, then after 5, 15 and 60 minutes, and every hour. */
function waitAfter(ageMs: number): number {
  if (ageMs < 4 * minuteMs) return 5 * minuteMs;
  return ageMs < 15 * minuteMs ? 15 * minuteMs : 60 * minuteMs;
}

/** How long an expired order waits at most for its payments to be closed. */
const closingMs = 10 * minuteMs;

/** A payment that the company does not know this long after its expiry was never opened. */
export const absentMs = 60 * minuteMs;

export type FollowUp = Listed<PaymentFollowUp>;

const followUps = selection(columnsOf(PaymentFollowUp, 'f'), 'payment_follow_ups f');
const keys = selection(columnsOf(PaymentFollowUp, 'f', 'payment_no'), 'payment_follow_ups f');

export const followUpOf = (payment_no: string): Promise<FollowUp | undefined> =>
  followUps.first('WHERE f.payment_no = :payment_no', { payment_no });

interface Followed {
  /** The expiry to send. */
  expireAt: Date;
  /** When it was made due; undefined if it had been followed before. */
  dueAt: Date | undefined;
}

/**
 * Follows a payment that is about to be placed. Placing it again sends the first expiry again.
 *
 * @param expireAt when the order expires, if the company accepts that; otherwise null
 */
export async function follow(payment_no: string, type: string, expireAt: Date | null): Promise<Followed> {
  const at = now();
  const expire_at = expireAt ?? new Date(at.getTime() + config.payments.followMs);
  const until_at = new Date(expire_at.getTime() + config.payments.followMs);
  const due_at = new Date(at.getTime() + minuteMs);
  const row = { ...paymentKey(payment_no), type, expire_at, until_at, due_at, created_at: at };
  const { sql, values } = insertSql(PaymentFollowUp, [row]);
  // Always changed, so that `unfollow` sees that it is placed again.
  const again = 'due_at = LEAST(due_at, VALUES(due_at)) - INTERVAL 1000 MICROSECOND';
  const rows = await change(`${sql} ON DUPLICATE KEY UPDATE ${again}`, values);
  const followed = await followUpOf(payment_no);
  return { expireAt: followed?.expire_at ?? expire_at, dueAt: rows === 1 ? due_at : undefined };
}

/** Ends the follow-up of a placing that the company has not taken, unless the payment is being placed again. */
export async function unfollow(payment_no: string, { dueAt }: Followed): Promise<void> {
  const own = 'DELETE FROM payment_follow_ups WHERE payment_no = ? AND due_at = ?';
  if (dueAt) await change(own, [payment_no, dueAt]);
}

/** Follows a payment again and asks about it at once. */
export async function followAnew(payment_no: string, type: string): Promise<void> {
  await follow(payment_no, type, null);
  await askPaymentSoon(payment_no);
}

/**
 * Follows the payments of those types that were created since that instant, may be paid at their companies and are not
 * followed yet. What was cancelled here may have been paid there before.
 *
 * @returns how many
 */
export function followSince(since: Date, types: readonly string[]): Promise<number> {
  const at = now();
  const seconds = config.payments.followMs / 1000;
  // Without an expiry of its order it was placed without one and can still be paid.
  const day = new Date(at.getTime() + config.payments.followMs);
  return change(
    `INSERT IGNORE INTO payment_follow_ups (payment_no, period, type, expire_at, until_at, due_at, created_at)
     SELECT p.payment_no, p.period, m.type, COALESCE(o.expire_at, :day),
       GREATEST(COALESCE(o.expire_at, :day), :at) + INTERVAL :seconds SECOND, :at, :at
     FROM payments p JOIN payment_methods m ON m.id = p.payment_method_id AND m.type IN (:types)
       JOIN orders o ON o.order_no = p.order_no AND o.period BETWEEN :first AND p.period
     WHERE p.status IN ('pending', 'cancelled') AND p.created_at >= :since AND p.period >= :month`,
    { types, since, seconds, at, day, month: periodOf(since), first: shiftPeriod(periodOf(since), -24) },
  );
}

/** When the most overdue query was due; null when none is. */
export async function oldestDue(): Promise<Date | null> {
  const first = await followUps.first('WHERE f.due_at <= :at ORDER BY f.due_at LIMIT 1', { at: now() });
  return first?.due_at ?? null;
}

const dueAtOnce = 1000;

/** Payments that are due to be asked about, the most overdue first. */
export async function dueFollowUps(): Promise<string[]> {
  const rows = await keys.rows(`WHERE f.due_at <= :at ORDER BY f.due_at LIMIT ${dueAtOnce}`, { at: now() });
  return rows.map(({ payment_no }) => payment_no);
}

/**
 * Claims a due payment for one run; of two concurrent runs one gets it.
 *
 * @returns the follow-up as it was before this run, but with the end of the claim as `due_at`
 */
export async function claimFollowUp(payment_no: string): Promise<FollowUp | undefined> {
  const at = now();
  const followUp = await followUpOf(payment_no);
  if (!followUp || followUp.due_at > at) return undefined;
  const lease = new Date(at.getTime() + leaseMs);
  const taken = await change(
    `UPDATE payment_follow_ups f SET f.due_at = :lease, f.asked = f.asked + 1, f.last_asked_at = :at
     WHERE f.payment_no = :payment_no AND f.due_at = :due`,
    { payment_no, at, lease, due: followUp.due_at },
  );
  return taken > 0 ? { ...followUp, last_asked_at: lastEnded(followUp), due_at: lease } : undefined;
}

/** When it was last asked; null when that question has not ended: its run is under way, or has died. */
export const lastEnded = ({ last_asked_at, due_at }: FollowUp): Date | null =>
  last_asked_at && due_at.getTime() === last_asked_at.getTime() + leaseMs ? null : last_asked_at;

/** Records a query made before it was due. @param answer the company's answer; null for none */
export const recordQuestion = (payment_no: string, answer: string | null): Promise<number> =>
  change(
    `UPDATE payment_follow_ups f SET f.asked = f.asked + 1, f.last_asked_at = :at, f.last_answer = :answer
     WHERE f.payment_no = :payment_no`,
    { payment_no, answer, at: now() },
  );

/**
 * Records what the company said and when it is asked next. A payment that was made due meanwhile stays due.
 *
 * @param answer null for none
 */
export async function postponeFollowUp(
  { created_at, closing_at, due_at }: FollowUp,
  payment_no: string,
  answer: string | null,
): Promise<void> {
  const at = now();
  // Every minute while an order waits to expire.
  const wait = isAwaited(closing_at, at) ? minuteMs : waitAfter(at.getTime() - created_at.getTime());
  const next = new Date(at.getTime() + wait * (0.8 + 0.4 * Math.random()));
  await change(
    `UPDATE payment_follow_ups f SET f.due_at = IF(f.due_at = :due_at, :next, f.due_at), f.last_answer = :answer
     WHERE f.payment_no = :payment_no`,
    { payment_no, due_at, next, answer },
  );
}

const isAwaited = (closingAt: Date | null, at: Date): boolean =>
  closingAt !== null && closingAt.getTime() > at.getTime() - closingMs;

/** Lets the order of a payment expire without a final answer of the company. */
export const releaseOrder = (payment_no: string): Promise<number> =>
  updateRows(PaymentFollowUp, { holds_order: false }, { payment_no });

/** The company has given its final answer. */
export const endFollowUp = (payment_no: string): Promise<number> =>
  change('DELETE FROM payment_follow_ups WHERE payment_no = ?', [payment_no]);

/** Makes a payment due to be asked about now, or a minute after the last question. @returns whether it is followed */
export async function askPaymentSoon(payment_no: string): Promise<boolean> {
  await change(
    `UPDATE payment_follow_ups f
     SET f.due_at = LEAST(f.due_at, GREATEST(:at, COALESCE(f.last_asked_at + INTERVAL 1 MINUTE, :at)))
     WHERE f.payment_no = :payment_no`,
    { payment_no, at: now() },
  );
  return (await followUpOf(payment_no)) !== undefined;
}

/** Requests that payments cancelled here are closed at their company. */
export async function closeCancelled(): Promise<void> {
  // Read first: an UPDATE with a join would lock payments that are being settled.
  const cancelled = await openOnes.rows(`WHERE f.closing_at IS NULL AND p.status = 'cancelled' LIMIT 1000`);
  await closeSoon(cancelled.map(({ payment_no }) => payment_no));
}

/** Ends due follow-ups of payments that are paid: each would take the turn of one that is not. */
export async function endPaid(): Promise<void> {
  // Read first: as above.
  const paid = await openOnes.rows(
    `WHERE f.due_at <= :at AND p.status = 'paid' ORDER BY f.due_at LIMIT ${dueAtOnce}`,
    { at: now() },
  );
  const numbers = paid.map(({ payment_no }) => payment_no);
  if (numbers.length > 0) await change('DELETE FROM payment_follow_ups WHERE payment_no IN (?)', [numbers]);
}

async function closeSoon(numbers: readonly string[], t?: Transaction): Promise<void> {
  if (numbers.length === 0) return;
  await change(
    `UPDATE payment_follow_ups SET closing_at = :at, due_at = :at
     WHERE payment_no IN (:numbers) AND closing_at IS NULL`,
    { at: now(), numbers: [...numbers] },
    t,
  );
}

/**
 * Requests that the pending payments of an order are closed before it expires.
 *
 * @returns whether it must wait for that
 */
export async function closeBeforeExpiry(order_no: string, t: Transaction): Promise<boolean> {
  const at = now();
  const open = await openOnes.rows(
    `WHERE p.order_no = :order_no AND p.period >= :period AND p.status = 'pending' AND f.holds_order = 1`,
    orderKey(order_no),
    { t },
  );
  await closeSoon(
    open.flatMap(({ payment_no, closing_at }) => (closing_at ? [] : [payment_no])),
    t,
  );
  return open.some(({ closing_at }) => !closing_at || isAwaited(closing_at, at));
}

const openOnes = selection(
  columnsOf(PaymentFollowUp, 'f', 'payment_no', 'closing_at'),
  'payment_follow_ups f',
  'JOIN payments p ON p.payment_no = f.payment_no AND p.period = f.period',
);
