// payment_callbacks: the inbox of the payment callback. Every attempt is stored; a verified one waits for settlement.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { select } from '../../lib/database/db.js';
import type { RawCallback } from '../../lib/channels/channel.js';
import { fail } from '../../lib/errors/app-error.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { fieldsOf } from '../../lib/input/body-fields.js';
import { orderKey, paymentKey } from '../../lib/values/numbers.js';
import { unseal } from '../../lib/secrets/secret-box.js';
import { columnsOf, computed, selection, type RowOf } from '../tables/selection.js';
import { updateRows } from '../tables/rows.js';
import type { Listed } from '../tables/table.js';
import { removeOld, removeOldRows } from '../tables/retention.js';
import { PaymentCallback } from './tables.js';

export interface CallbackKey {
  id: number;
  period: number;
}

const callbacks = selection(columnsOf(PaymentCallback, 'c'), 'payment_callbacks c');

/** Max attempts shown with a payment. */
const maxShown = 200;

/** The attempts for a payment: verified ones first, and of these and the others the newest first. */
export const callbacksOf = (paymentNo: string): Promise<Listed<PaymentCallback>[]> =>
  callbacks.rows(
    `WHERE c.payment_no = :payment_no AND c.period = :period
       ORDER BY c.state = 'refused', c.id DESC LIMIT ${maxShown}`,
    paymentKey(paymentNo),
  );

/** Whether a verified attempt that pays the order `o` waits to be settled. */
export const beingPaid = computed<boolean>(
  `EXISTS (SELECT 1 FROM payments bp JOIN payment_callbacks bc ON bc.payment_no = bp.payment_no AND bc.period = bp.period
     WHERE bp.order_no = o.order_no AND bp.period >= o.period AND bc.state = 'pending')`,
  (found) => Number(found) === 1,
);

/** The same for the order of that number. */
export async function isBeingPaid(orderNo: string, t: Transaction): Promise<boolean> {
  const [waiting] = await select(
    `SELECT 1 FROM payments p JOIN payment_callbacks c ON c.payment_no = p.payment_no AND c.period = p.period
     WHERE p.order_no = :order_no AND p.period >= :period AND c.state = 'pending' LIMIT 1`,
    orderKey(orderNo),
    t,
  );
  return waiting !== undefined;
}

/** Refusals of a company's callback whose cause may be on our side. */
export const unverified: readonly ErrorSlug[] = [
  'payment_gateway_disabled',
  'payment_gateway_not_implemented',
  'payment_key_unavailable',
  'payment_notify_invalid',
  'payment_secret_unreadable',
  'payment_sign_invalid',
];

/**
 * Whether a callback for that payment has arrived since then that could not be verified and that no person has seen.
 *
 * @param since null for ever
 */
export async function hasUnverified(paymentNo: string, since: Date | null): Promise<boolean> {
  const [found] = await select(
    `SELECT 1 FROM payment_callbacks c
     WHERE c.payment_no = :payment_no AND c.period = :period AND c.state = 'refused' AND c.verdict IN (:unverified)
       AND COALESCE(c.last_at, c.created_at) >= :since
       AND NOT EXISTS (SELECT 1 FROM payment_handlings h WHERE h.payment_no = c.payment_no
         AND h.reason = 'notice_unverified' AND h.created_at > COALESCE(c.last_at, c.created_at)) LIMIT 1`,
    { ...paymentKey(paymentNo), unverified: [...unverified], since: since ?? new Date(0) },
  );
  return found !== undefined;
}

/** An attempt as it arrived. */
export interface StoredCallback extends Omit<RowOf<typeof stored>, 'sealed'> {
  payment_no: string;
  /** Of a refused one; undefined when it was not stored in full, or sealed under a key that is no longer configured. */
  arrived: RawCallback | undefined;
}

const stored = { ...columnsOf(PaymentCallback, 'c'), ...columnsOf(PaymentCallback, 'c', 'period', 'sealed') };
const storedCallbacks = selection(stored, 'payment_callbacks c');

/** An attempt for that payment. @throws payment_callback_not_found */
export async function storedCallback(paymentNo: string, id: number): Promise<StoredCallback> {
  const found = await storedCallbacks.first(
    'WHERE c.id = :id AND c.period = :period AND c.payment_no = :payment_no',
    { id, ...paymentKey(paymentNo) },
  );
  const { sealed, ...callback } = found ?? fail('payment_callback_not_found');
  const arrived = sealed === null ? undefined : openedCallback(sealed, callback.created_at);
  return { ...callback, payment_no: paymentNo, arrived };
}

function openedCallback(sealed: string, receivedAt: Date): RawCallback | undefined {
  try {
    const whole = JSON.parse(unseal(sealed)) as Record<string, unknown>;
    const { raw, headers } = whole as Partial<RawCallback>;
    // Earlier releases stored only the fields.
    if (typeof raw !== 'string' || !headers) return { raw: '', headers: {}, fields: whole, receivedAt };
    const fields = fieldsOf(raw, headers['content-type']) as Record<string, unknown>;
    return { raw, headers, fields, receivedAt };
  } catch {
    return undefined;
  }
}

/** State and verdict of an attempt. */
export const verdictOf = ({ id, period }: CallbackKey): Promise<RowOf<typeof outcome> | undefined> =>
  outcomes.first('WHERE c.id = :id AND c.period = :period', { id, period });

const outcome = columnsOf(PaymentCallback, 'c', 'state', 'verdict');
const outcomes = selection(outcome, 'payment_callbacks c');

/** Unsettled verified attempts from one instant until another, oldest first; read 500 at a time. */
export async function* unsettledCallbacks(before: Date, from = new Date(0)): AsyncGenerator<CallbackKey> {
  let last: { id: number; created_at: Date } | undefined = { id: 0, created_at: from };
  while (last) {
    const rows: RowOf<typeof keyColumns>[] = await keys.rows(
      `WHERE c.state = 'pending' AND c.created_at >= :since AND c.created_at < :before
           AND (c.created_at > :since OR c.id > :id) ORDER BY c.created_at, c.id LIMIT ${atOnce}`,
      { id: last.id, since: last.created_at, before },
    );
    for (const { id, period } of rows) yield { id, period };
    last = rows.length < atOnce ? undefined : rows.at(-1);
  }
}

const atOnce = 500;
const keyColumns = columnsOf(PaymentCallback, 'c', 'id', 'period', 'created_at');
const keys = selection(keyColumns, 'payment_callbacks c');

/** Records that a settlement failed after its last run; the sweeper will retry. */
export async function recordFailure({ id, period }: CallbackKey): Promise<void> {
  await updateRows(PaymentCallback, { verdict: 'retrying' }, { id, period, state: 'pending' });
}

/**
 * Applies CALLBACK_RETENTION_DAYS; callbacks that prove nothing stay for 30 days, unsettled ones until settled. A
 * callback arrives 13 months late at most.
 */
export async function pruneCallbacks(): Promise<void> {
  const { callbackDays, refusedCallbackDays } = config.retention;
  await removeOld('payment_callbacks', callbackDays, `state IN ('settled', 'refused')`);
  await removeOldRows('payment_callbacks', refusedCallbackDays, `state = 'refused' AND same_key IS NOT NULL`);
}
