// payment_callbacks: the inbox of the payment callback. Every attempt is kept; a verified one waits here to be settled.
import { createHash } from 'node:crypto';
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import type { MethodConfig } from '../../lib/channels/channel.js';
import type { Transaction } from 'sequelize';
import { change, payments, select, type SqlValue, type Statement } from '../../lib/db.js';
import { Money } from '../../lib/money.js';
import { mask } from '../../lib/mask.js';
import { orderPeriod, paymentPeriod, periodOf } from '../../lib/numbers.js';
import { withPartition } from '../tables/partitions.js';
import { wholeConfig } from './method-settings.js';
import { removeOld, removeOldRows } from '../tables/retention.js';
import { claimStatement } from './third-party-number.js';

/** pending: verified, to be settled; settled: its result stands; refused: changed nothing. */
export type CallbackState = 'pending' | 'settled' | 'refused';

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
}

export interface CallbackKey {
  id: number;
  period: number;
}

export interface CallbackRecord {
  id: number;
  type: string;
  third_party_no: string | null;
  body: unknown;
  ip: string;
  state: CallbackState;
  verdict: string;
  /** How often it came, equal to the letter, within a day; more than once only of what proves nothing. */
  times: number;
  created_at: Date;
  /** When it came last, if more than once. */
  last_at: Date | null;
  settled_at: Date | null;
}

/** A payment as far as verifying a callback needs it. */
export interface CalledPayment {
  period: number;
  orderNo: string;
  amount: Money;
  status: string;
  thirdPartyNo: string | null;
  methodType: string;
  config: MethodConfig;
}

const maxBody = 8000;
/** Of what nobody is known to have sent. */
const maxUnproven = 1024;

/** The payment a callback names, with its method's configuration; one statement, one partition. */
export async function findCalledPayment(paymentNo: string): Promise<CalledPayment | undefined> {
  const period = paymentPeriod(paymentNo) ?? 0;
  const [row] = await payments.select<{
    order_no: string;
    amount: string;
    status: string;
    third_party_no: string | null;
    type: string;
    config: string;
    secrets: string;
  }>(
    `SELECT p.order_no, p.amount, p.status, p.third_party_no, m.type, m.config, m.secrets
     FROM payments p JOIN payment_methods m ON m.id = p.payment_method_id WHERE p.payment_no = ? AND p.period = ?`,
    [paymentNo, period],
  );
  if (!row) return undefined;
  return {
    period,
    orderNo: row.order_no,
    amount: Money.from(row.amount),
    status: row.status,
    thirdPartyNo: row.third_party_no,
    methodType: row.type,
    config: wholeConfig(row),
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

/**
 * Keeps a verified attempt that waits to be settled, and takes its third-party number for its payment, in one
 * transaction; so of two payments called back under one number the second one is refused before anybody is told yes.
 *
 * @returns undefined when the number belongs to another payment: the attempt is then kept as refused
 */
export async function recordVerified(
  attempt: Attempt & { paymentNo: string; thirdPartyNo: string },
): Promise<CallbackKey | undefined> {
  const { type, paymentNo, thirdPartyNo } = attempt;
  const claim = { type, third_party_no: thirdPartyNo, payment_no: paymentNo };
  const { period, values } = rowOf(attempt);
  const store: Statement = {
    sql: `${insertSql} SELECT ${values.map(() => '?').join(', ')} FROM third_party_numbers
      WHERE type = ? AND third_party_no = ? AND payment_no = ?`,
    values: [...values, type, thirdPartyNo, paymentNo],
  };
  const [, stored] = await withPartition(['payment_callbacks'], period, () =>
    payments.packet([claimStatement(claim), store]),
  );
  if (stored?.affectedRows === 1) return { id: stored.insertId, period };
  await recordAttempt({ ...attempt, state: 'refused', verdict: 'payment_third_party_no_used' });
  return undefined;
}

const columns =
  'period, type, payment_no, third_party_no, body, ip, state, verdict, trace_id, created_at, settled_at';
const insertSql = `INSERT INTO payment_callbacks (${columns})`;

function rowOf(attempt: Attempt, longest = maxBody): { period: number; values: SqlValue[] } {
  const at = now();
  const period = attempt.period ?? periodOf(at);
  const body = JSON.stringify(mask(attempt.fields)).slice(0, longest);
  const values = [
    ...[period, attempt.type, attempt.paymentNo ?? null, attempt.thirdPartyNo ?? null, body, attempt.ip],
    ...[attempt.state, attempt.verdict, attempt.traceId, at, attempt.state === 'settled' ? at : null],
  ];
  return { period, values };
}

/** As many attempts as are shown with a payment. */
const maxShown = 200;

/** The attempts for a payment: verified ones first, and of these and the others the newest first. */
export async function callbacksOf(paymentNo: string): Promise<CallbackRecord[]> {
  const rows = await select<CallbackRecord & { body: string }>(
    `SELECT id, type, third_party_no, body, ip, state, verdict, times, created_at, last_at, settled_at FROM payment_callbacks
     WHERE payment_no = ? AND period = ? ORDER BY state = 'refused', id DESC LIMIT ${maxShown}`,
    [paymentNo, paymentPeriod(paymentNo) ?? 0],
  );
  return rows.map((row) => ({ ...row, body: parsed(row.body) }));
}

/** Whether a verified attempt to pay the order waits to be settled. */
export async function isBeingPaid(orderNo: string, t: Transaction): Promise<boolean> {
  const [waiting] = await select(
    `SELECT c.id FROM payments p JOIN payment_callbacks c ON c.payment_no = p.payment_no AND c.period = p.period
     WHERE p.order_no = ? AND p.period >= ? AND c.state = 'pending' LIMIT 1`,
    [orderNo, orderPeriod(orderNo) ?? 0],
    t,
  );
  return waiting !== undefined;
}

/** What an attempt has come to by now. */
export async function verdictOf({
  id,
  period,
}: CallbackKey): Promise<{ state: CallbackState; verdict: string } | undefined> {
  const [row] = await payments.select<{ state: CallbackState; verdict: string }>(
    'SELECT state, verdict FROM payment_callbacks WHERE id = ? AND period = ?',
    [id, period],
  );
  return row;
}

/** Verified attempts made before that instant that nobody has settled, oldest first; read 500 at a time. */
export async function* unsettledCallbacks(before: Date): AsyncGenerator<CallbackKey> {
  let last = { id: 0, period: 0, created_at: new Date(0) };
  for (;;) {
    const rows = await select<typeof last>(
      `SELECT id, period, created_at FROM payment_callbacks
       WHERE state = 'pending' AND created_at >= ? AND created_at < ? AND (created_at > ? OR id > ?)
       ORDER BY created_at, id LIMIT 500`,
      [last.created_at, before, last.created_at, last.id],
    );
    for (const { id, period } of rows) yield { id, period };
    if (rows.length < 500) return;
    last = rows.at(-1) as typeof last;
  }
}

/** Notes that settling an attempt was given up for now; the sweeper will try again. */
export async function noteFailure({ id, period }: CallbackKey, reason: string): Promise<void> {
  await change(`UPDATE payment_callbacks SET verdict = ? WHERE id = ? AND period = ? AND state = 'pending'`, [
    reason.slice(0, 50),
    id,
    period,
  ]);
}

/**
 * Applies CALLBACK_RETENTION_DAYS, and CALLBACK_REFUSED_RETENTION_DAYS to what proves nothing. What still waits to be settled stays however old it is; and nothing is expected any
 * more for the payments of a month so long past, since callbacks come 13 months late at most.
 */
export async function pruneCallbacks(): Promise<void> {
  await removeOld(
    'payment_callbacks',
    config.payments.callbackRetentionDays,
    `state IN ('settled', 'refused')`,
  );
  await removeOldRows(
    'payment_callbacks',
    config.payments.callbackRefusedRetentionDays,
    `state = 'refused' AND same_key IS NOT NULL`,
  );
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
