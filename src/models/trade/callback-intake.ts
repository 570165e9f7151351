// Reads and writes of the public callback.
import { createHash } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import type { MethodConfig, RawCallback } from '../../lib/channels/channel.js';
import { change, transact } from '../../lib/database/db.js';
import { announce } from '../../lib/redis/changes.js';
import { mask } from '../../lib/secrets/mask.js';
import { paymentPeriod, periodOf } from '../../lib/values/numbers.js';
import { seal } from '../../lib/secrets/secret-box.js';
import { withPartition } from '../tables/partitions.js';
import { insertRow, insertSql } from '../tables/rows.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import type { Fields } from '../tables/table.js';
import { openedConfig } from './method-settings.js';
import { flagWithin } from './payment-attention.js';
import type { CallbackKey } from './payment-callback.js';
import { Payment, PaymentCallback, PaymentMethod } from './tables.js';
import { claimNumber } from './third-party-number.js';

/** Columns that follow from the others, or count repeats. */
type Derived = 'period' | 'body' | 'same_key' | 'times' | 'last_at' | 'settled_at' | 'sealed';

/** An attempt before it is stored. */
export interface Attempt extends Fields<PaymentCallback, Derived> {
  /** Month of the payment it names; undefined when there is no such payment. */
  period: number | undefined;
  /** When it was received, if not just now. */
  created_at?: Date;
  /** Its fields as people see them, unsealed if the channel could. */
  fields: Record<string, unknown>;
  /** The message as it arrived, needed to verify a refused one again. */
  arrived?: Pick<RawCallback, 'raw' | 'headers'>;
}

const maxBody = 8000;
/** For a callback that proves nothing. */
const maxUnproven = 1024;

const called = {
  ...columnsOf(Payment, 'p', 'payment_no', 'period', 'order_no', 'amount', 'status', 'third_party_no'),
  ...columnsOf(Payment, 'p', 'needs_attention', 'fail_reason'),
  ...columnsOf(PaymentMethod, 'm', 'type', 'config', 'secrets'),
};

/** What verifying a callback needs to know of its payment. */
export interface CalledPayment extends Omit<RowOf<typeof called>, 'config' | 'secrets'> {
  /** Undefined when its secrets were sealed under an APP_KEY that is not configured. */
  config: MethodConfig | undefined;
}

const calledPayments = selection(
  called,
  'payments p',
  'JOIN payment_methods m ON m.id = p.payment_method_id',
);

/** The payment a callback names, with its method's configuration. */
export async function findCalledPayment(paymentNo: string): Promise<CalledPayment | undefined> {
  const period = paymentPeriod(paymentNo);
  if (period === undefined) return undefined;
  const row = await calledPayments.first('WHERE p.payment_no = :paymentNo AND p.period = :period', {
    paymentNo,
    period,
  });
  if (!row) return undefined;
  const { config, secrets, ...payment } = row;
  return { ...payment, config: openedConfig({ config, secrets }) };
}

/**
 * Stores an attempt and commits it. Its partition is the month of its payment, otherwise the current month: an invented
 * number must not create partitions.
 */
export async function recordAttempt(attempt: Attempt): Promise<CallbackKey> {
  const row = rowOf(attempt);
  const id = await withPartition(['payment_callbacks'], row.period, () => insertRow(PaymentCallback, row));
  announce(['payments']);
  return { id, period: row.period };
}

/** Stores an attempt that proves nothing: shortened, and equal ones of a day as one row with a count. */
export const recordUnproven = (attempt: Attempt): Promise<void> =>
  recordOnce(attempt, attempt.fields, maxUnproven);

/**
 * Stores a verified attempt that changes nothing, and equal ones of a day as one: who has seen it can repeat it.
 *
 * @param said what equal ones have in common; by default all fields
 */
export const recordHarmless = (attempt: Omit<Attempt, 'state'>, said: string | undefined): Promise<void> =>
  recordOnce({ ...attempt, state: 'settled' }, said ?? attempt.fields, maxBody);

/** @param said what equal ones have in common */
async function recordOnce(
  attempt: Attempt,
  said: Attempt['fields'] | string,
  longest: number,
): Promise<void> {
  const { type, payment_no, third_party_no, verdict } = attempt;
  const at = now();
  const same = [at.toISOString().slice(0, 10), type, payment_no, third_party_no, verdict, said];
  const same_key = createHash('sha256').update(JSON.stringify(same)).digest('base64url');
  const row = { ...rowOf(attempt, longest), same_key };
  const { sql, values } = insertSql(PaymentCallback, [row]);
  const counted = `${sql} ON DUPLICATE KEY UPDATE times = times + 1, last_at = ?`;
  // A transaction, because equal ones that come together may deadlock.
  const store = () => transact((t) => change(counted, [...values, at], t));
  await withPartition(['payment_callbacks'], row.period, store);
  announce(['payments']);
}

/**
 * Stores a verified attempt to be settled and claims its third-party number for its payment, in one transaction: of two
 * payments called back under one number the second is refused and flagged before it is acknowledged.
 *
 * @returns undefined when the number belongs to another payment
 */
export async function recordVerified(
  attempt: Omit<Attempt, 'state' | 'verdict'> & { payment_no: string; third_party_no: string },
): Promise<CallbackKey | undefined> {
  const { payment_no } = attempt;
  const row = rowOf({ ...attempt, state: 'pending', verdict: 'verified' });
  const store = async (t: Transaction): Promise<number | undefined> => {
    const owner = await claimNumber(attempt, t);
    if (owner === payment_no) return insertRow(PaymentCallback, row, t);
    await insertRow(PaymentCallback, rowOf({ ...attempt, state: 'refused', verdict: numberUsed }), t);
    await flagWithin(payment_no, 'third_party_no_used', t);
    return undefined;
  };
  const id = await withPartition(['payment_callbacks'], row.period, () => transact(store));
  if (id !== undefined) return { id, period: row.period };
  // Settling announces the others.
  announce(['payments']);
  return undefined;
}

const numberUsed = 'payment_third_party_no_used';

function rowOf({ fields, arrived, ...columns }: Attempt, longest = maxBody) {
  const { period, state, created_at: at = now() } = columns;
  return {
    ...columns,
    period: period ?? periodOf(at),
    body: JSON.stringify(mask(fields)).slice(0, longest),
    created_at: at,
    settled_at: state === 'settled' ? now() : null,
    sealed: state === 'refused' && period !== undefined && arrived ? sealedWhole(arrived) : null,
  };
}

// A refused callback may be verified again once the configuration is right, which needs the bytes that were signed.
function sealedWhole({ raw, headers }: NonNullable<Attempt['arrived']>): string | null {
  const whole = JSON.stringify({ raw, headers });
  return whole.length > maxBody ? null : seal(whole);
}
