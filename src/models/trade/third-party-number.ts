// third_party_numbers: which payment a channel's number belongs to, over all months. A number pays one payment.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { bulk } from '../../lib/database/db.js';
import { isDuplicate } from '../../lib/database/errors.js';
import { daysAgo } from '../../lib/values/clock.js';
import { periodOf } from '../../lib/values/numbers.js';
import { insertRow } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Row } from '../tables/table.js';
import { ThirdPartyNumber } from './tables.js';

const numbers = selection(columnsOf(ThirdPartyNumber, 'n', 'payment_no'), 'third_party_numbers n');

/** Claims the number for its payment unless another has it. @returns the payment it belongs to now */
export async function claimNumber(
  { type, third_party_no, payment_no }: Row<ThirdPartyNumber>,
  t: Transaction,
): Promise<string> {
  try {
    await insertRow(ThirdPartyNumber, { type, third_party_no, payment_no }, t);
    return payment_no;
  } catch (error) {
    if (!isDuplicate(error, 'PRIMARY')) throw error;
    const owner = await numbers.first(
      'WHERE n.type = :type AND n.third_party_no = :third_party_no',
      { type, third_party_no },
      { t },
    );
    return owner?.payment_no ?? payment_no;
  }
}

const batchSize = 1000;

interface Shown {
  id: number;
  type: string;
  third_party_no: string;
}

/**
 * Deletes each number with the last callback of its payment, CALLBACK_RETENTION_DAYS after that arrived; runs
 * before the callbacks themselves are deleted.
 */
export async function pruneNumbers(): Promise<void> {
  const before = daysAgo(config.retention.callbackDays);
  for await (const shown of oldCallbacks(before)) await bulk.transact((t) => remove(shown, before, t));
}

const usedTwice = `(state = 'refused' AND verdict = 'payment_third_party_no_used')`;

/**
 * Callbacks with a number that are about to be deleted, in the order of their ids: sorted by time, all that are left
 * would be read for each batch.
 */
async function* oldCallbacks(before: Date): AsyncGenerator<Shown[]> {
  let lastId = 0;
  for (;;) {
    const rows = await bulk.select<Shown>(
      `SELECT id, type, third_party_no FROM payment_callbacks
       WHERE (state = 'settled' OR ${usedTwice}) AND created_at < ? AND period <= ? AND third_party_no IS NOT NULL
         AND id > ? ORDER BY id LIMIT ${batchSize}`,
      [before, periodOf(before), lastId],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < batchSize) return;
    lastId = (rows.at(-1) as Shown).id;
  }
}

// Locked first: a concurrent callback that claims a number is either seen here or claims it again.
async function remove(shown: readonly Shown[], before: Date, t: Transaction): Promise<void> {
  const pairs = shown.map(() => '(?, ?)').join(', ');
  const numbers = shown.flatMap(({ type, third_party_no }) => [type, third_party_no]);
  const owned = await bulk.select<{ payment_no: string }>(
    `SELECT payment_no FROM third_party_numbers WHERE (type, third_party_no) IN (${pairs}) FOR UPDATE`,
    numbers,
    t,
  );
  if (owned.length === 0) return;
  const kept = await bulk.select<{ type: string; third_party_no: string }>(
    `SELECT type, third_party_no FROM payment_callbacks
       WHERE payment_no IN (?) AND third_party_no IS NOT NULL AND (created_at >= ? OR state NOT IN ('settled', 'refused'))
     UNION SELECT type, third_party_no FROM payment_callbacks
       WHERE ${usedTwice} AND created_at >= ? AND third_party_no IN (?)`,
    [owned.map((one) => one.payment_no), before, before, shown.map((one) => one.third_party_no)],
    t,
  );
  const name = ({ type, third_party_no }: { type: string; third_party_no: string }): string =>
    JSON.stringify([type, third_party_no]);
  const keep = new Set(kept.map(name));
  const free = shown.filter((one) => !keep.has(name(one)));
  if (free.length === 0) return;
  await bulk.change(
    `DELETE FROM third_party_numbers WHERE (type, third_party_no) IN (${free.map(() => '(?, ?)').join(', ')})`,
    free.flatMap(({ type, third_party_no }) => [type, third_party_no]),
    t,
  );
}
