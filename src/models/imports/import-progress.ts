// imports as the runs of their job advance them: position and counters.
import { literal, type Transaction } from 'sequelize';
import { stalledTransfers } from '../office/transfer.js';
import { Import } from './tables.js';

/** A file has at most this many rows below its header. */
export const maxRows = 1_000_000;

export async function storeTotal(id: number, total: number): Promise<void> {
  await Import.update({ total_rows: total }, { where: { id, status: 0 } });
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
  const added = {
    success_count: literal(`success_count + ${succeeded}`),
    failed_count: literal(`failed_count + ${rows - succeeded}`),
    order_count: literal(`order_count + ${orders}`),
  };
  const [moved] = await Import.update(
    { ...added, position: from + rows, progress },
    { where: { id, position: from, status: 0 }, transaction: t },
  );
  return moved === 1;
}

/** Running imports not updated since that instant; their job was probably lost. */
export const stalledImports = (before: Date): Promise<number[]> =>
  // `concluded` is in the key.
  stalledTransfers(Import, { concluded: false, status: 0 }, before);
