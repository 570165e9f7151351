// imports, as the runs of their job move them: position and counters, the end, and what follows from it.
import { Op, type Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import type { CsvFormat } from '../../lib/sheets/csv-source.js';
import { transact } from '../../lib/db.js';
import { AppError } from '../../lib/errors.js';
import type { ErrorSlug } from '../../lib/error-catalogue.js';
import type { Language } from '../../lib/language.js';
import { Admin } from '../access/tables.js';
import { releaseFiles, removeFiles } from '../files/stored-file.js';
import { columnsOf, joined, selectionOf, type RowOf } from '../tables/selection.js';
import { raisedBy, updateRows } from '../tables/rows.js';
import { execute, over } from '../tables/sql.js';
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

const sql = over({ imports: Import });

const work = selectionOf(
  ({ encoding, delimiter, ...row }): ImportWork => ({ ...row, format: { encoding, delimiter } }),
  workColumns,
  'imports i',
);

/** An import as it stands now. */
export const findWork = (id: number): Promise<ImportWork | undefined> => work.first('WHERE i.id = ?', [id]);

/** Notes how many rows there are. */
export async function noteTotal(id: number, total: number): Promise<void> {
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

export type ImportEnd = { status: 1 } | { status: 2; error: ErrorSlug; row?: number };

/**
 * Ends an import and gives its file up, unless rows were refused: the error file is read from it.
 *
 * @returns false when it had ended before, or rows are missing for success
 */
export function endImport(id: number, end: ImportEnd): Promise<boolean> {
  const at = now();
  const expiry = new Date(at.getTime() + config.storage.importRetentionMs);
  const [error, row] = end.status === 1 ? [null, null] : [end.error, end.row ?? null];
  return transact(async (t) => {
    const ended = await execute(
      sql(
        `UPDATE imports SET status = :status, progress = IF(:status = 1, 100, progress), error = :error, error_row = :row,
           finished_at = :at, expires_at = :expiry, updated_at = :at
         WHERE id = :id AND status = 0 AND (:status = 2 OR position = total_rows)`,
        { status: end.status, error, row, at, expiry, id },
      ),
      { t },
    );
    if (ended === 0) return false;
    const file = await Import.findOne({
      attributes: ['storage_key'],
      where: { id, failed_count: 0 },
      transaction: t,
    });
    if (file) await releaseFiles([file.storage_key], t);
    return true;
  });
}

/** An ended import. */
export interface EndedImport extends RowOf<typeof endedColumns> {
  status: 1 | 2;
  finished_at: Date;
}

const endedColumns = {
  ...columnsOf(Import, 'i'),
  ...columnsOf(Import, 'i', 'language', 'error', 'error_row', 'storage_key'),
  /** Null when the administrator is gone. */
  admin: joined(columnsOf(Admin, 'a', 'id', 'username')),
};

const endedImports = selectionOf(
  (row) => row as EndedImport,
  endedColumns,
  'imports i',
  'LEFT JOIN admins a ON a.id = i.admin_id',
);

/**
 * Removes the file of an ended import that has no use for it, and does what follows from its end. This happens again until it
 * has succeeded once, so `follow` must be repeatable.
 */
export async function concludeImport(
  id: number,
  follow: (ended: EndedImport) => Promise<void>,
): Promise<void> {
  const tail = 'WHERE i.id = ? AND i.status <> 0 AND i.concluded = 0';
  const ended = await endedImports.first(tail, [id]);
  if (!ended) return;
  if (ended.failed_count === 0) await removeFiles([ended.storage_key]);
  await follow(ended);
  await updateRows(Import, { concluded: true }, { id });
}

/** Imports that are not concluded although nobody has worked on them since that instant. */
export async function forgottenImports(before: Date): Promise<number[]> {
  const rows = await Import.findAll({
    attributes: ['id'],
    where: { concluded: false, updated_at: { [Op.lt]: before } },
    order: ['id'],
    limit: 100,
  });
  return rows.map(({ id }) => id);
}

/** Why an import failed. */
export function importErrorText(error: ErrorSlug, row: number | null, language: Language): string {
  return new AppError(error, { params: { row: row ?? 1, limit: maxRows } }).text(language);
}
