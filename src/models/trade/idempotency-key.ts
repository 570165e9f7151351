// idempotency_keys: a create repeated with the same Idempotency-Key answers the record of the first one.
import type { Transaction } from 'sequelize';
import { change } from '../../lib/database/db.js';
import { daysAgo, now } from '../../lib/values/clock.js';
import { fail } from '../../lib/errors/app-error.js';
import { derivedKeys, hmacHex } from '../../lib/secrets/secret-box.js';
import { deleteAll } from '../tables/retention.js';
import { columnsOf, selection } from '../tables/selection.js';
import { IdempotencyKey } from './tables.js';

export interface Repeatable {
  /** What the key is used for: the slug of a permission. */
  scope: string;
  adminId: number;
  key: string;
  /** The request; the same key with another one is refused. */
  request: unknown;
}

/**
 * The record that was created under the key.
 *
 * @throws idempotency_key_reused when the key was used for another request
 */
export async function findEarlier({ scope, adminId, key, request }: Repeatable): Promise<number | undefined> {
  const earlier = await earlierOnes.first(
    'WHERE k.scope = :scope AND k.admin_id = :adminId AND k.idempotency_key = :key',
    { scope, adminId, key },
  );
  if (!earlier) return undefined;
  if (!hashesOf(request).includes(earlier.request_hash))
    fail('idempotency_key_reused', { field: 'Idempotency-Key' });
  return Number(earlier.result_no);
}

/**
 * Claims the key for a record, in the transaction that creates it. Concurrent requests with one key serialise on the
 * unique index: one commits, the others fail here and are rolled back.
 */
export async function claimKey(
  { scope, adminId, key, request }: Repeatable,
  id: number,
  t: Transaction,
): Promise<void> {
  await change(
    `INSERT INTO idempotency_keys (scope, admin_id, idempotency_key, request_hash, result_no, created_at)
      VALUES (:scope, :adminId, :key, :hash, :made, :at)`,
    { scope, adminId, key, hash: hashesOf(request)[0], made: String(id), at: now() },
    t,
  );
}

const earlierOnes = selection(
  columnsOf(IdempotencyKey, 'k', 'request_hash', 'result_no'),
  'idempotency_keys k',
);
const keys = derivedKeys('idempotency');

/** Under the present APP_KEY, then under those it replaces; keyed, because a request may hold a password. */
function hashesOf(request: unknown): [string, ...string[]] {
  const text = JSON.stringify(request, sortedKeys);
  const [today, ...before] = keys;
  return [hmacHex(today, text), ...before.map((key) => hmacHex(key, text))];
}

// Requests that differ only in the order of their fields are equal.
function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

export async function pruneIdempotencyKeys(): Promise<number> {
  return deleteAll('DELETE FROM idempotency_keys WHERE created_at < ?', [daysAgo(7)]);
}
