// order_changes, payment_changes: changed orders and payments, before and after the change. Totals of lists are updated
// from them (totals.ts).
import type { Attributes, Transaction } from 'sequelize';
import { change, type Statement } from '../../lib/database/db.js';
import { OrderChange, PaymentChange } from './bookkeeping.js';
import { execute } from './sql.js';
import { declarationOf } from './table.js';
import { epochSql } from './tally.js';

const classes = { orders: OrderChange, payments: PaymentChange } as const;

type JournalTable = keyof typeof classes;

export const journals = { orders: 'order_changes', payments: 'payment_changes' } as const;

type Kept<T extends JournalTable> = Omit<
  Attributes<InstanceType<(typeof classes)[T]>>,
  'seq' | 'epoch' | 'sign' | 'id' | 'period'
>;

/** Columns that a change has given new values: their earlier value, or an expression over the row `r` that says so. */
export type Before<T extends JournalTable> = { [C in keyof Kept<T>]?: Kept<T>[C] | Statement };

/**
 * Records rows that were just changed, in the transaction that changed them.
 *
 * @param rows condition on the changed rows `r`
 * @param before the values before the change, the same for every row
 */
export async function journalChanges<T extends JournalTable>(
  table: T,
  rows: Statement,
  before: Before<T>,
  t: Transaction,
): Promise<void> {
  await execute(journalStatement(table, rows, before), { t });
}

/** The statement of `journalChanges`. */
export function journalStatement<T extends JournalTable>(
  table: T,
  rows: Statement,
  before: Before<T>,
): Statement {
  const { columns } = declarationOf(classes[table]);
  const names = [...columns.keys()].filter((name) => !own.has(name));
  const old = before as Record<string, unknown>;
  const shown = names.map((name): Statement => {
    const value = old[name];
    if (value === undefined) return { sql: `r.${name}`, values: [] };
    const { sql, values } = isStatement(value)
      ? value
      : { sql: '?', values: [columns.get(name)?.write(value) ?? null] };
    return { sql: `IF(s.sign < 0, ${sql}, r.${name})`, values };
  });
  return {
    sql: `INSERT INTO ${journals[table]} (epoch, sign, id, period, ${names.join(', ')})
      SELECT ${epochSql}, s.sign, r.id, r.period, ${shown.map(({ sql }) => sql).join(', ')}
      FROM ${table} r JOIN (SELECT -1 AS sign UNION ALL SELECT 1) s WHERE ${rows.sql}`,
    values: [...shown.flatMap(({ values }) => values), ...rows.values],
  };
}

/** Columns of the journal itself, and the key. */
const own = new Set(['seq', 'epoch', 'sign', 'id', 'period']);

const isStatement = (value: unknown): value is Statement =>
  typeof value === 'object' && value !== null && 'sql' in value;

/** Half an hour in steps of ten seconds: longer than any total is carried on without being asked for. */
const keptEpochs = 180;
const batchSize = 5000;

/** Removes entries that no total needs any more. */
export async function pruneJournals(): Promise<void> {
  for (const journal of Object.values(journals)) {
    const sql = `DELETE FROM ${journal} WHERE epoch < ${epochSql} - ${keptEpochs} LIMIT ${batchSize}`;
    while ((await change(sql)) === batchSize);
  }
}
