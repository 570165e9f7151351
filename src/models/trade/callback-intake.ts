// Reads and writes of the public callback; concurrent callbacks share statements and transactions.
import { createHash } from 'node:crypto';
import { now } from '../../lib/clock.js';
import type { MethodConfig } from '../../lib/channels/channel.js';
import { payments } from '../../lib/database/db.js';
import { isDatabaseDown, isRerunnable } from '../../lib/database/errors.js';
import { batched } from '../../lib/batching.js';
import { mask } from '../../lib/secrets/mask.js';
import type { Money } from '../../lib/money.js';
import { paymentPeriod, periodOf } from '../../lib/numbers.js';
import { seal } from '../../lib/secrets/secret-box.js';
import { cutOff } from '../tables/column.js';
import { withPartition } from '../tables/partitions.js';
import { insertFrom, insertStatement } from '../tables/rows.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import { over } from '../tables/sql.js';
import { openedConfig } from './method-settings.js';
import type { CallbackKey } from './payment-callback.js';
import { Payment, PaymentCallback, PaymentMethod, ThirdPartyNumber, type CallbackState } from './tables.js';
import { claimStatement, type NumberClaim } from './third-party-number.js';

export interface Attempt {
  type: string;
  /** Month of the payment it names; undefined when there is no such payment. */
  period: number | undefined;
  paymentNo: string | undefined;
  thirdPartyNo: string | undefined;
  fields: Record<string, unknown>;
  ip: string;
  state: CallbackState;
  /** Error slug of a refusal, or what settling it came to. */
  verdict: string;
  traceId: string;
  /** When it was received, if not just now. */
  receivedAt?: Date;
}

/** A payment as far as verifying a callback needs it. */
export interface CalledPayment {
  period: number;
  orderNo: string;
  amount: Money;
  status: string;
  thirdPartyNo: string | null;
  methodType: string;
  /** Why a person should look at it; null when nobody needs to. */
  attention: string | null;
  /** Undefined when its secrets do not open: they were sealed under an APP_KEY that is not given. */
  config: MethodConfig | undefined;
}

const maxBody = 8000;
/** Of a callback that proves nothing. */
const maxUnproven = 1024;

/** Callbacks that come at the same time are looked up, and stored, together. */
const together = { max: 32, atOnce: 2 };

/** The payment a callback names, with its method's configuration. */
export const findCalledPayment = batched<string, CalledPayment | undefined>(findCalledPayments, together);

const called = {
  ...columnsOf(Payment, 'p', 'payment_no', 'period', 'order_no', 'amount', 'status', 'third_party_no'),
  ...columnsOf(Payment, 'p', 'needs_attention', 'fail_reason'),
  ...columnsOf(PaymentMethod, 'm', 'type', 'config', 'secrets'),
};

const calledPayments = selection(
  called,
  'payments p',
  'JOIN payment_methods m ON m.id = p.payment_method_id',
);

const sql = over({
  'payments p': Payment,
  payment_callbacks: PaymentCallback,
  third_party_numbers: ThirdPartyNumber,
});

async function findCalledPayments(numbers: readonly string[]): Promise<(CalledPayment | undefined)[]> {
  const known = distinct(numbers.filter((number) => paymentPeriod(number) !== undefined));
  if (known.length === 0) return numbers.map(() => undefined);
  const periods = distinct(known.map((number) => paymentPeriod(number) as number));
  const rows = await calledPayments.where(
    sql('WHERE p.payment_no IN (:known) AND p.period IN (:periods)', { known, periods }),
    { on: payments },
  );
  const found = new Map(rows.map((row) => [row.payment_no, row]));
  return numbers.map((number) => {
    const row = found.get(number);
    return row && toCalled(row);
  });
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

function toCalled(row: RowOf<typeof called>): CalledPayment {
  return {
    period: row.period,
    orderNo: row.order_no,
    amount: row.amount,
    status: row.status,
    thirdPartyNo: row.third_party_no,
    methodType: row.type,
    attention: row.needs_attention ? row.fail_reason : null,
    config: openedConfig(row),
  };
}

/**
 * Keeps an attempt; once this returns, it is committed. It lies in the month of its payment, else in the present one:
 * a number that anybody made up must not decide which partitions there are.
 */
export async function recordAttempt(attempt: Attempt): Promise<CallbackKey> {
  const row = rowOf(attempt);
  const store = insertStatement(PaymentCallback, [row]);
  const id = await withPartition(['payment_callbacks'], row.period, () =>
    payments.insert(store.sql, [...store.values]),
  );
  return { id, period: row.period };
}

/**
 * Stores an attempt that proves nothing: shortened, and equal ones of a day as one row with a count.
 */
export async function recordUnproven(attempt: Attempt): Promise<void> {
  const { type, paymentNo, thirdPartyNo, verdict, fields } = attempt;
  const at = now();
  const same = [at.toISOString().slice(0, 10), type, paymentNo, thirdPartyNo, verdict, fields];
  const same_key = createHash('sha256').update(JSON.stringify(same)).digest('base64url');
  const row = { ...rowOf(attempt, maxUnproven), same_key };
  const store = insertStatement(PaymentCallback, [row]);
  const again = sql('ON DUPLICATE KEY UPDATE times = times + 1, last_at = :at', { at });
  await withPartition(['payment_callbacks'], row.period, () =>
    payments.change(`${store.sql} ${again.sql}`, [...store.values, ...again.values]),
  );
}

/** A verified attempt that waits to be settled. */
export type Verified = Attempt & { paymentNo: string; thirdPartyNo: string };

/**
 * Stores a verified attempt to be settled and claims its third-party number for its payment, in one transaction: of two
 * payments called back under one number the second is refused before it is acknowledged. Concurrent attempts share the
 * transaction.
 *
 * @returns undefined when the number belongs to another payment: the attempt is then kept as refused
 */
export async function recordVerified(attempt: Verified): Promise<CallbackKey | undefined> {
  const key = await storeGathered(attempt);
  if (!key) await recordAttempt({ ...attempt, state: 'refused', verdict: 'payment_third_party_no_used' });
  return key;
}

const storeGathered = batched<Verified, CallbackKey | undefined>(storeTogether, together);

// Any one of them may make the transaction fail: then each is stored by itself.
async function storeTogether(attempts: readonly Verified[]): Promise<(CallbackKey | undefined | Error)[]> {
  const [first, ...others] = attempts as [Verified];
  if (others.length === 0) return [await storeAlone(first)];
  try {
    return await storeVerified(attempts, 'fails');
  } catch (error) {
    if (isDatabaseDown(error) && !isRerunnable(error)) throw error;
  }
  const alone = await Promise.allSettled(attempts.map((attempt) => storeAlone(attempt)));
  return alone.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error)));
}

async function storeAlone(attempt: Verified): Promise<CallbackKey | undefined> {
  const [key] = await withPartition(['payment_callbacks'], rowOf(attempt).period, () =>
    storeVerified([attempt], 'reruns'),
  );
  return key;
}

async function storeVerified(
  attempts: readonly Verified[],
  meetingLocks: 'reruns' | 'fails',
): Promise<(CallbackKey | undefined)[]> {
  const rows = attempts.map((attempt) => rowOf(attempt));
  const claims = attempts.map((attempt) => ({
    type: attempt.type,
    third_party_no: attempt.thirdPartyNo,
    payment_no: attempt.paymentNo,
  }));
  const stores = rows.map((row, index) =>
    insertFrom(
      PaymentCallback,
      row,
      sql(
        'FROM third_party_numbers WHERE type = :type AND third_party_no = :third_party_no AND payment_no = :payment_no',
        claims[index] as NumberClaim,
      ),
    ),
  );
  const [, ...stored] = await payments.packet([claimStatement(claims), ...stores], meetingLocks);
  return rows.map(({ period }, index) => {
    const made = stored[index];
    return made?.affectedRows === 1 ? { id: made.insertId, period } : undefined;
  });
}

function rowOf(attempt: Attempt, longest = maxBody) {
  const at = attempt.receivedAt ?? now();
  return {
    period: attempt.period ?? periodOf(at),
    type: attempt.type,
    payment_no: attempt.paymentNo ?? null,
    third_party_no: attempt.thirdPartyNo ?? null,
    body: cutOff(mask(attempt.fields), longest),
    ip: attempt.ip,
    state: attempt.state,
    verdict: attempt.verdict,
    trace_id: attempt.traceId,
    created_at: at,
    settled_at: attempt.state === 'settled' ? now() : null,
    sealed: attempt.state === 'refused' ? sealedFields(attempt) : null,
  };
}

// A refused callback may be verified again once the configuration is right, which needs its signature.
function sealedFields({ period, fields }: Attempt): string | null {
  if (period === undefined) return null;
  const whole = JSON.stringify(fields);
  return whole.length > maxBody ? null : seal(whole);
}
