// The contract of a migration: forward and back, in plain SQL that MySQL 8 and MariaDB 10.11 both take.

export type RunSql = (sql: string) => Promise<void>;

export interface Migration {
  /** Four digits and a noun; never changed once released. */
  name: string;
  up: (run: RunSql) => Promise<void>;
  down: (run: RunSql) => Promise<void>;
}
