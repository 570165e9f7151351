// order_changes, payment_changes: rows of orders and payments that changed, as they were and as they are now. Totals of lists
// are carried on with them (totals.ts).
import type { Transaction } from 'sequelize';
import { change, type SqlValue, type Statement } from '../../lib/db.js';
import { epochSql } from './tally.js';

/** The columns that filters look at. */
const columns = {
  orders: ['order_no', 'user_id', 'amount', 'status', 'remark', 'created_at', 'deleted_at'],
  payments: [
    ...['payment_no', 'order_no', 'user_id', 'payment_method_id', 'status', 'third_party_no', 'pay_time'],
    ...['needs_attention', 'created_at'],
  ],
} as const;

type JournalTable = keyof typeof columns;

export const journals = { orders: 'order_changes', payments: 'payment_changes' } as const;

/** Columns that a change has given new values: what they held, or an expression over the row `r` that says so. */
export type Before<T extends JournalTable> = Partial<
  Record<(typeof columns)[T][number], SqlValue | Statement>
>;

/**
 * Notes what has just been changed, in the transaction that changed it.
 *
 * @param rows condition on the changed rows `r`
 * @param before what columns held until now, the same in each of the rows
 */
export async function noteChanges<T extends JournalTable>(
  table: T,
  rows: Statement,
  before: Before<T>,
  t: Transaction,
): Promise<void> {
  const { sql, values } = journalStatement(table, rows, before);
  await change(sql, [...values], t);
}

/** The statement of `noteChanges`. */
export function journalStatement<T extends JournalTable>(
  table: T,
  rows: Statement,
  before: Before<T>,
): Statement {
  const names: readonly string[] = columns[table];
  const old = before as Record<string, SqlValue | Statement | undefined>;
  const shown = names.map((name) => {
    const held = old[name];
    if (held === undefined) return { sql: `r.${name}`, values: [] };
    const { sql, values } = isStatement(held) ? held : { sql: '?', values: [held] };
    return { sql: `IF(s.sign < 0, ${sql}, r.${name})`, values };
  });
  return {
    sql: `INSERT INTO ${journals[table]} (epoch, sign, id, period, ${names.join(', ')})
      SELECT ${epochSql}, s.sign, r.id, r.period, ${shown.map(({ sql }) => sql).join(', ')}
      FROM ${table} r JOIN (SELECT -1 AS sign UNION ALL SELECT 1) s WHERE ${rows.sql}`,
    values: [...shown.flatMap(({ values }) => values), ...rows.values],
  };
}

const isStatement = (held: SqlValue | Statement): held is Statement =>
  typeof held === 'object' && held !== null && 'sql' in held;

/** Half an hour in steps of ten seconds: longer than any total is carried on without being asked for. */
const keptEpochs = 180;
const batchSize = 5000;

/** Removes what no total needs any more. */
export async function pruneJournals(): Promise<void> {
  for (const journal of Object.values(journals)) {
    const sql = `DELETE FROM ${journal} WHERE epoch < ${epochSql} - ${keptEpochs} LIMIT ${batchSize}`;
    while ((await change(sql)) === batchSize);
  }
}
