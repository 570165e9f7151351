// The contract of a migration: forward and back, in plain SQL that MySQL 8 and MariaDB 10.11 both take.
import { errno } from '../../lib/database/errors.js';

export type RunSql = (sql: string) => Promise<void>;

export interface Migration {
  /** Four digits and a noun; never changed once released. */
  name: string;
  up: (run: RunSql) => Promise<void>;
  down: (run: RunSql) => Promise<void>;
}

/** Column or key is there already, or is gone already. */
const isDone = new Set([1060, 1061, 1091]);

/** Passes over an ALTER that a run which was interrupted behind it has done already. @throws what else went wrong */
export function passDone(error: unknown): void {
  if (!isDone.has(errno(error) ?? 0)) throw error;
}
