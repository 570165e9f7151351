// The contract of a migration: up and down, in plain SQL that MySQL 8 and MariaDB 10.11 both take.
import { errno } from '../../lib/database/errors.js';

type RunSql = (sql: string) => Promise<void>;

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

/** Indexes of a table by name, with their columns in parentheses: those that go, and those that take their place. */
interface KeyChange {
  table: string;
  before: Record<string, string>;
  after: Record<string, string>;
}

/**
 * A migration that replaces indexes, in one ALTER per table: a run that was interrupted between tables finds
 * the first one done.
 */
export function keyMigration(name: string, changes: readonly KeyChange[]): Migration {
  const replace = async (run: RunSql, table: string, old: object, fresh: object): Promise<void> => {
    const clauses = [
      ...Object.keys(old).map((key) => `DROP KEY ${key}`),
      ...Object.entries(fresh).map(([key, columns]) => `ADD KEY ${key} ${columns}`),
    ];
    await run(`ALTER TABLE ${table} ${clauses.join(', ')}`).catch(passDone);
  };
  return {
    name,
    async up(run) {
      for (const { table, before, after } of changes) await replace(run, table, before, after);
    },
    async down(run) {
      for (const { table, before, after } of changes) await replace(run, table, after, before);
    },
  };
}
