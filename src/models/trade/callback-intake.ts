// What the public callback looks up and stores; callbacks that come at the same time share statements and transactions.
import { createHash } from 'node:crypto';
import { now } from '../../lib/clock.js';
import type { MethodConfig } from '../../lib/channels/channel.js';
import { payments, type SqlValue, type Statement } from '../../lib/db.js';
import { isDatabaseDown, isRerunnable } from '../../lib/db-errors.js';
import { gathered } from '../../lib/gather.js';
import { mask } from '../../lib/mask.js';
import { Money } from '../../lib/money.js';
import { paymentPeriod, periodOf } from '../../lib/numbers.js';
import { seal } from '../../lib/secret-box.js';
import { withPartition } from '../tables/partitions.js';
import { openedConfig } from './method-settings.js';
import type { CallbackKey } from './payment-callback.js';
import type { CallbackState } from './tables.js';
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
  /** Undefined when its secrets do not open: they were sealed under an APP_KEY that is not given. */
  config: MethodConfig | undefined;
}

const maxBody = 8000;
/** Of what nobody is known to have sent. */
const maxUnproven = 1024;

/** Callbacks that come at the same time are looked up, and stored, together. */
const together = { max: 32, atOnce: 2 };

/** The payment a callback names, with its method's configuration. */
export const findCalledPayment = gathered<string, CalledPayment | undefined>(findCalledPayments, together);

interface CalledRow {
  payment_no: string;
  period: number;
  order_no: string;
  amount: string;
  status: string;
  third_party_no: string | null;
  type: string;
  config: string;
  secrets: string;
}

async function findCalledPayments(numbers: readonly string[]): Promise<(CalledPayment | undefined)[]> {
  const known = distinct(numbers.filter((number) => paymentPeriod(number) !== undefined));
  if (known.length === 0) return numbers.map(() => undefined);
  const rows = await payments.select<CalledRow>(
    `SELECT p.payment_no, p.period, p.order_no, p.amount, p.status, p.third_party_no, m.type, m.config, m.secrets
     FROM payments p JOIN payment_methods m ON m.id = p.payment_method_id WHERE p.payment_no IN (?) AND p.period IN (?)`,
    [known, distinct(known.map((number) => paymentPeriod(number) as number))],
  );
  const found = new Map(rows.map((row) => [row.payment_no, row]));
  return numbers.map((number) => {
    const row = found.get(number);
    return row && toCalled(row);
  });
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

function toCalled(row: CalledRow): CalledPayment {
  return {
    period: row.period,
    orderNo: row.order_no,
    amount: Money.from(row.amount),
    status: row.status,
    thirdPartyNo: row.third_party_no,
    methodType: row.type,
    config: openedConfig(row),
  };
}

/**
 * Keeps an attempt; once this returns, it is committed. It lies in the month of its payment, else in the present one:
 * a number that anybody made up must not decide which partitions there are.
 */
export async function recordAttempt(attempt: Attempt): Promise<CallbackKey> {
  const row = rowOf(attempt);
  const id = await withPartition(['payment_callbacks'], row.period, () =>
    payments.insert(`${insertSql} VALUES (${row.values.map(() => '?').join(', ')})`, row.values),
  );
  return { id, period: row.period };
}

/**
 * Keeps an attempt that proves nothing: short, and equal ones of a day as one, which counts them.
 */
export async function recordUnproven(attempt: Attempt): Promise<void> {
  const { period, values } = rowOf(attempt, maxUnproven);
  const { type, paymentNo, thirdPartyNo, verdict, fields } = attempt;
  const at = now();
  const same = [at.toISOString().slice(0, 10), type, paymentNo, thirdPartyNo, verdict, fields];
  const sameKey = createHash('sha256').update(JSON.stringify(same)).digest('base64url');
  await withPartition(['payment_callbacks'], period, () =>
    payments.change(
      `INSERT INTO payment_callbacks (${columns}, same_key) VALUES (${values.map(() => '?').join(', ')}, ?)
       ON DUPLICATE KEY UPDATE times = times + 1, last_at = ?`,
      [...values, sameKey, at],
    ),
  );
}

/** A verified attempt that waits to be settled. */
export type Verified = Attempt & { paymentNo: string; thirdPartyNo: string };

/**
 * Keeps a verified attempt that waits to be settled, and takes its third-party number for its payment, in one
 * transaction; so of two payments called back under one number the second one is refused before anybody is told yes.
 * Attempts that come at the same time share the transaction.
 *
 * @returns undefined when the number belongs to another payment: the attempt is then kept as refused
 */
export async function recordVerified(attempt: Verified): Promise<CallbackKey | undefined> {
  const key = await storeGathered(attempt);
  if (!key) await recordAttempt({ ...attempt, state: 'refused', verdict: 'payment_third_party_no_used' });
  return key;
}

const storeGathered = gathered<Verified, CallbackKey | undefined>(storeTogether, together);

// What keeps all of them from being stored may be any one's: then each is stored by itself.
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
  const claims = attempts.map(({ type, thirdPartyNo, paymentNo }) => ({
    ...{ type, third_party_no: thirdPartyNo, payment_no: paymentNo },
  }));
  const stores = rows.map(({ values }, index): Statement => {
    const { type, third_party_no, payment_no } = claims[index] as NumberClaim;
    return {
      sql: `${insertSql} SELECT ${values.map(() => '?').join(', ')} FROM third_party_numbers
        WHERE type = ? AND third_party_no = ? AND payment_no = ?`,
      values: [...values, type, third_party_no, payment_no],
    };
  });
  const [, ...stored] = await payments.packet([claimStatement(claims), ...stores], meetingLocks);
  return rows.map(({ period }, index) => {
    const made = stored[index];
    return made?.affectedRows === 1 ? { id: made.insertId, period } : undefined;
  });
}

const columns =
  'period, type, payment_no, third_party_no, body, ip, state, verdict, trace_id, created_at, settled_at, sealed';
const insertSql = `INSERT INTO payment_callbacks (${columns})`;

function rowOf(attempt: Attempt, longest = maxBody): { period: number; values: SqlValue[] } {
  const at = attempt.receivedAt ?? now();
  const period = attempt.period ?? periodOf(at);
  const body = JSON.stringify(mask(attempt.fields)).slice(0, longest);
  const values = [
    ...[period, attempt.type, attempt.paymentNo ?? null, attempt.thirdPartyNo ?? null, body, attempt.ip],
    ...[attempt.state, attempt.verdict, attempt.traceId, at, attempt.state === 'settled' ? now() : null],
    attempt.state === 'refused' ? sealedFields(attempt) : null,
  ];
  return { period, values };
}

// What was refused may be right once the configuration is; without its signature nobody could tell.
function sealedFields({ period, fields }: Attempt): string | null {
  if (period === undefined) return null;
  const whole = JSON.stringify(fields);
  return whole.length > maxBody ? null : seal(whole);
}
