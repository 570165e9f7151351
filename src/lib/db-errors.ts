// What goes wrong with the database, and what it means: wait, try again, or leave this server.
import { BaseError } from 'sequelize';

/** A statement that the server refused, or whose connection was lost. */
export class StatementFailed extends Error {
  /** Number of the server's error, if the server answered. */
  readonly errno: number | undefined;
  /** The connection is gone. */
  readonly fatal: boolean;

  constructor(cause: Error & { errno?: number; fatal?: boolean }) {
    super(cause.message, { cause });
    this.errno = cause.errno;
    this.fatal = cause.fatal === true;
  }
}

/** A wait for the database that has come to its end; the message names it. */
export class DatabaseTimeout extends Error {}

/** Reruns of a transaction met a deadlock or a lock each time. */
export class DatabaseBusy extends Error {}

/** The server's error number of a failed statement, if the error comes from the server. */
export function errno(error: unknown): number | undefined {
  return (driverError(error) as { errno?: number } | undefined)?.errno;
}

const duplicateEntry = 1062;

/** Whether a statement failed because a unique key has that value already. */
export const isDuplicate = (error: unknown): boolean => errno(error) === duplicateEntry;

const moreThanOneRow = 1242;

/** Whether a packet was given up because it did not change all it should have (lib/db.ts, `requireChanged`). */
export const isIncomplete = (error: unknown): boolean => errno(error) === moreThanOneRow;

// Deadlock (also a failed certification of Galera, at COMMIT) and lock timeout: what rolls back and may be rerun.
const rerunnable = new Set([1213, 1205]);

/** Whether rerunning the whole transaction may succeed. */
export const isRerunnable = (error: unknown): boolean => rerunnable.has(errno(error) ?? 0);

// It answers, but takes no writes: --read-only, read-only transaction, read-only mode, Galera without its cluster (1047),
// Group Replication without its group. Its successor is found under the same name.
const demoted = new Set([1290, 1792, 1836, 1047, 3100, 3101]);

/** Whether the server has stopped taking writes, so that a connection to it is of no more use. */
export const isDemoted = (error: unknown): boolean => demoted.has(errno(error) ?? 0);

// Refuses connections, is going down, has no room left, has ended the statement or the connection, or a proxy found none.
const unavailable = new Set([
  ...[1021, 1030, 1037, 1038, 1040, 1041, 1053, 1077, 1114, 1135, 1152, 1158, 1159, 1160, 1161, 1180, 1203],
  ...[1317, 1927, 1969, 2006, 2013, 3024, 4031, 9001],
]);

/** True when the error says that the database cannot be reached or used now, so that a later try may succeed. */
export function isDatabaseDown(error: unknown): boolean {
  if (error instanceof DatabaseTimeout || error instanceof DatabaseBusy) return true;
  if (isRerunnable(error) || isDemoted(error) || unavailable.has(errno(error) ?? 0)) return true;
  if (error instanceof BaseError && /^Sequelize(Connection|Host|AccessDenied)/.test(error.name)) return true;
  return (driverError(error) as { fatal?: boolean } | undefined)?.fatal === true;
}

const driverError = (error: unknown): unknown =>
  error instanceof BaseError ? (error as { original?: unknown }).original : error;
