// imports, as the runs of their job move them: position and counters, the end, and what follows from it.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import type { CsvFormat } from '../../lib/sheets/csv-source.js';
import { change, select, transact } from '../../lib/db.js';
import { AppError } from '../../lib/errors.js';
import type { ErrorSlug } from '../../lib/error-catalogue.js';
import type { Language } from '../../lib/language.js';
import { releaseFiles, removeFiles } from '../files/stored-file.js';

/** A file has at most this many rows below its head. */
export const maxRows = 1_000_000;

/** What a run works on. */
export interface ImportWork {
  id: number;
  admin_id: number;
  storage_key: string;
  format: CsvFormat;
  isDryRun: boolean;
  language: Language;
  status: ImportStatus;
  /** Rows that are dealt with. */
  position: number;
}

/** 0 waiting or running, 1 ended, whether or not rows were refused, 2 failed or cancelled. */
export const importStatuses = [0, 1, 2] as const;

export type ImportStatus = (typeof importStatuses)[number];

/** An import as it stands now. */
export async function findWork(id: number): Promise<ImportWork | undefined> {
  const [row] = await select<Omit<ImportWork, 'format'> & CsvFormat & { dry_run: number }>(
    `SELECT id, admin_id, storage_key, encoding, delimiter, dry_run, language, status, position FROM imports WHERE id = ?`,
    [id],
  );
  if (!row) return undefined;
  const { encoding, delimiter, dry_run, ...work } = row;
  return { ...work, format: { encoding, delimiter }, isDryRun: dry_run === 1 };
}

/** Notes how many rows there are. */
export async function noteTotal(id: number, total: number): Promise<void> {
  const values = [total, now(), id];
  await change('UPDATE imports SET total_rows = ?, updated_at = ? WHERE id = ? AND status = 0', values);
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
  const moved = await change(
    `UPDATE imports SET position = ?, success_count = success_count + ?, failed_count = failed_count + ?,
       order_count = order_count + ?, progress = ?, updated_at = ?
     WHERE id = ? AND position = ? AND status = 0`,
    [from + rows, succeeded, rows - succeeded, orders, progress, now(), id, from],
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
    const ended = await change(
      `UPDATE imports SET status = ?, progress = IF(? = 1, 100, progress), error = ?, error_row = ?, finished_at = ?,
         expires_at = ?, updated_at = ?
       WHERE id = ? AND status = 0 AND (? = 2 OR position = total_rows)`,
      [end.status, end.status, error, row, at, expiry, at, id, end.status],
      t,
    );
    if (ended === 0) return false;
    const [file] = await select<{ storage_key: string }>(
      'SELECT storage_key FROM imports WHERE id = ? AND failed_count = 0',
      [id],
      t,
    );
    if (file) await releaseFiles([file.storage_key], t);
    return true;
  });
}

/** An ended import. */
export interface EndedImport {
  id: number;
  admin_id: number;
  /** Null when the administrator is gone. */
  username: string | null;
  filename: string;
  dry_run: number;
  language: Language;
  status: 1 | 2;
  progress: number;
  total_rows: number | null;
  success_count: number;
  failed_count: number;
  order_count: number;
  error: ErrorSlug | null;
  error_row: number | null;
  created_at: Date;
  finished_at: Date;
}

/**
 * Removes the file of an ended import that has no use for it, and does what follows from its end. This happens again until it
 * has succeeded once, so `follow` must be repeatable.
 */
export async function concludeImport(
  id: number,
  follow: (ended: EndedImport) => Promise<void>,
): Promise<void> {
  const [ended] = await select<EndedImport & { storage_key: string }>(
    `SELECT i.id, i.admin_id, a.username, i.filename, i.dry_run, i.language, i.status, i.progress, i.total_rows, i.success_count,
       i.failed_count, i.order_count, i.error, i.error_row, i.created_at, i.finished_at, i.storage_key
     FROM imports i LEFT JOIN admins a ON a.id = i.admin_id WHERE i.id = ? AND i.status <> 0 AND i.concluded = 0`,
    [id],
  );
  if (!ended) return;
  if (ended.failed_count === 0) await removeFiles([ended.storage_key]);
  await follow(ended);
  await change('UPDATE imports SET concluded = 1 WHERE id = ?', [id]);
}

/** Imports that are not concluded although nobody has worked on them since that instant. */
export async function forgottenImports(before: Date): Promise<number[]> {
  const rows = await select<{ id: number }>(
    'SELECT id FROM imports WHERE concluded = 0 AND updated_at < ? ORDER BY id LIMIT 100',
    [before],
  );
  return rows.map(({ id }) => id);
}

/** Why an import failed. */
export function importErrorText(error: ErrorSlug, row: number | null, language: Language): string {
  return new AppError(error, { params: { row: row ?? 1, limit: maxRows } }).text(language);
}
