// payment_callbacks: the inbox of the payment callback. Every attempt is kept; a verified one waits here to be settled.
import { config } from '../../../config/index.js';
import type { Transaction } from 'sequelize';
import { change, payments, select } from '../../lib/db.js';
import { orderPeriod, paymentPeriod } from '../../lib/numbers.js';
import { removeOld, removeOldRows } from '../tables/retention.js';

/** pending: verified, to be settled; settled: its result stands; refused: changed nothing. */
export type CallbackState = 'pending' | 'settled' | 'refused';

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

/** Verified attempts made before that instant, and since another, that nobody has settled, oldest first; read 500 at a time. */
export async function* unsettledCallbacks(before: Date, since = new Date(0)): AsyncGenerator<CallbackKey> {
  let last = { id: 0, period: 0, created_at: since };
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
