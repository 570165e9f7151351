// The contract of a migration: up and down, in plain SQL that MySQL 8 and MariaDB 10.11 both take.
import { errno } from '../../lib/database/errors.js';

export type RunSql = (sql: string) => Promise<void>;

export interface Migration {
  /** Four digits and a noun; never changed once released. */
  name: string;
  up: (run: RunSql) => Promise<void>;
  down: (run: RunSql) => Promise<void>;
}

/** The column or key already exists, or was already dropped. */
const isDone = new Set([1060, 1061, 1091]);

/** Ignores an ALTER that an earlier, interrupted run has applied. @throws any other error */
export function passDone(error: unknown): void {
  if (!isDone.has(errno(error) ?? 0)) throw error;
}
