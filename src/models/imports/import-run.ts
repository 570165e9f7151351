// imports as the runs of their job advance them: position and counters.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import type { CsvFormat } from '../../lib/sheets/csv-source.js';
import { columnsOf, selection, selectionOf, type RowOf } from '../tables/selection.js';
import { raisedBy, updateRows } from '../tables/rows.js';
import { over } from '../tables/sql.js';
import { Import } from './tables.js';

/** A file has at most this many rows below its head. */
export const maxRows = 1_000_000;

/** What a run works on; null as its file is when it has been removed. */
export type ImportWork = Omit<RowOf<typeof workColumns>, keyof CsvFormat> & { format: CsvFormat };

const workColumns = columnsOf(
  Import,
  'i',
  'id',
  'admin_id',
  'storage_key',
  'encoding',
  'delimiter',
  'dry_run',
  'language',
  'status',
  'position',
);

const work = selectionOf(
  ({ encoding, delimiter, ...row }): ImportWork => ({ ...row, format: { encoding, delimiter } }),
  workColumns,
  'imports i',
);

/** An import as it stands now. */
export const findWork = (id: number): Promise<ImportWork | undefined> =>
  work.one(sql('WHERE i.id = :id', { id }));

/** Stores how many rows there are. */
export async function storeTotal(id: number, total: number): Promise<void> {
  await updateRows(Import, { total_rows: total, updated_at: now() }, { id, status: 0 });
}

/** How far a batch brings an import. */
export interface Advance {
  /** The position it starts at. */
  from: number;
  rows: number;
  /** Of these rows. */
  succeeded: number;
  orders: number;
  /** Percent. */
  progress: number;
}

/**
 * Moves the position on, in the transaction that writes the batch; the row is locked until its end.
 *
 * @returns false when another run was there first, or the import has ended
 */
export async function advance(
  id: number,
  { from, rows, succeeded, orders, progress }: Advance,
  t: Transaction,
): Promise<boolean> {
  const counts = {
    success_count: raisedBy(succeeded),
    failed_count: raisedBy(rows - succeeded),
    order_count: raisedBy(orders),
  };
  const moved = await updateRows(
    Import,
    { ...counts, position: from + rows, progress, updated_at: now() },
    { id, position: from, status: 0 },
    t,
  );
  return moved === 1;
}

/** Running imports not updated since that instant; their job was probably lost. */
export async function stalledImports(before: Date): Promise<number[]> {
  // `concluded` is in the key.
  const rows = await ids.where(
    sql('WHERE i.concluded = 0 AND i.status = 0 AND i.updated_at < :before ORDER BY i.id LIMIT 100', {
      before,
    }),
  );
  return rows.map(({ id }) => id);
}

const ids = selection(columnsOf(Import, 'i', 'id'), 'imports i');
const sql = over({ 'imports i': Import });
