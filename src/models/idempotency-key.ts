// idempotency_keys: a create repeated with the same Idempotency-Key answers the record made the first time.
import { createHash } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { now } from '../lib/clock.js';
import { change, isDuplicate, select } from '../lib/db.js';
import { fail } from '../lib/errors.js';

export interface Repeatable {
  adminId: number;
  key: string | undefined;
  /** What was asked for; the same key with another request is refused. */
  request: unknown;
}

/**
 * Takes the key for the record about to be made, inside its transaction. Of several requests at once one goes on, the
 * others wait for its commit.
 *
 * @returns the number of the record made earlier under that key, if there is one
 * @throws idempotency_key_reused when the key was used for another request
 */
export async function claimKey(
  scope: 'order' | 'payment',
  { adminId, key, request }: Repeatable,
  resultNo: string,
  t: Transaction,
): Promise<string | undefined> {
  if (key === undefined) return undefined;
  const hash = createHash('sha256').update(JSON.stringify(request, sortedKeys)).digest('hex');
  try {
    await change(
      `INSERT INTO idempotency_keys (scope, admin_id, idempotency_key, request_hash, result_no, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      [scope, adminId, key, hash, resultNo, now()],
      t,
    );
    return undefined;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
  const [earlier] = await select<{ request_hash: string; result_no: string }>(
    'SELECT request_hash, result_no FROM idempotency_keys WHERE scope = ? AND admin_id = ? AND idempotency_key = ?',
    [scope, adminId, key],
    t,
  );
  if (earlier?.request_hash !== hash) fail('idempotency_key_reused', { field: 'Idempotency-Key' });
  return earlier.result_no;
}

// The order of its fields does not make a request another one.
function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Deletes keys older than seven days. */
export async function pruneIdempotencyKeys(): Promise<number> {
  return change('DELETE FROM idempotency_keys WHERE created_at < ?', [
    new Date(now().getTime() - 7 * 86_400_000),
  ]);
}
