// Classifies database errors: unavailable, rerunnable, or a reason to leave the server.
import { BaseError } from 'sequelize';

/** A statement that the server refused, or whose connection was lost. */
export class StatementFailed extends Error {
  /** Number of the server's error, if the server answered. */
  readonly errno: number | undefined;
  /** Whether the connection is lost. */
  readonly fatal: boolean;

  constructor(cause: Error & { errno?: number; fatal?: boolean }) {
    super(cause.message, { cause });
    this.errno = cause.errno;
    this.fatal = cause.fatal === true;
  }
}

/** A database deadline has passed; the message names it. */
export class DatabaseTimeout extends Error {}

/** Every rerun of a transaction met a deadlock or a lock timeout. */
export class DatabaseBusy extends Error {}

/** The server's error number of a failed statement, if the error comes from the server. */
export function errno(error: unknown): number | undefined {
  return (driverError(error) as { errno?: number } | undefined)?.errno;
}

const duplicateEntry = 1062;

/** Whether a statement violated this unique key; other rows of the same commit have other keys. @param key its name */
export function isDuplicate(error: unknown, key: string): boolean {
  if (errno(error) !== duplicateEntry) return false;
  // The key is the last quoted name: after the value, which may hold any text, and in MySQL after the table. The words
  // between them depend on lc_messages.
  const [, violated] = /'(?:\w+\.)?(\w+)'[^']*$/.exec((driverError(error) as Error).message) ?? [];
  return violated === key;
}

// Deadlock (also a failed Galera certification at COMMIT) and lock timeout: both roll back and may be rerun. At
// the AUTO_INCREMENT lock of a table, which an INSERT … SELECT keeps until it ends, both are reported as 1467.
const rerunnable = new Set([1213, 1205, 1467]);

/** Whether rerunning the whole transaction may succeed. */
export const isRerunnable = (error: unknown): boolean => rerunnable.has(errno(error) ?? 0);

// The server answers but takes no writes: --read-only, read-only transaction, read-only mode, Galera without its
// cluster (1047), Group Replication without its group. Its successor has the same name.
const demoted = new Set([1290, 1792, 1836, 1047, 3100, 3101]);

/** Whether the server has stopped taking writes, so that its connections must be closed. */
export const isDemoted = (error: unknown): boolean => demoted.has(errno(error) ?? 0);

// The server refuses connections, shuts down, is full, has killed the statement or connection, or a proxy found no
// server. A sort has its own numbers: 1028 when killed, 3 and 1026 when its folder is full.
const unavailable = new Set([
  3, 1021, 1026, 1028, 1030, 1037, 1038, 1040, 1041, 1053, 1077, 1114, 1135, 1152, 1158, 1159, 1160, 1161,
  1180, 1203, 1317, 1927, 1969, 2006, 2013, 3024, 4031, 9001,
]);

/** Whether no connection to the database could be made. */
export const isUnreached = (error: unknown): boolean =>
  error instanceof BaseError && /^Sequelize(Connection|Host|AccessDenied)/.test(error.name);

/** Whether the database is unavailable for now, so that a later try may succeed. */
export function isDatabaseDown(error: unknown): boolean {
  if (error instanceof DatabaseTimeout || error instanceof DatabaseBusy) return true;
  if (isRerunnable(error) || isDemoted(error) || unavailable.has(errno(error) ?? 0)) return true;
  if (isUnreached(error)) return true;
  return (driverError(error) as { fatal?: boolean } | undefined)?.fatal === true;
}

const driverError = (error: unknown): unknown =>
  error instanceof BaseError ? (error as { original?: unknown }).original : error;
