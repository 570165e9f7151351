// The statements that the driver sends, with their values in place.
import { channel } from 'node:diagnostics_channel';
import { format } from 'mysql2';
import { db, select, transact } from '../../src/lib/database/db.js';

const started = channel('tracing:mysql2:query:start');

/** Statements that this process sends to the database during the work. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const note = (message: unknown): void => {
    const { query, values } = message as { query: string; values?: string[] };
    statements.push(format(query, values ?? []));
  };
  started.subscribe(note);
  try {
    await work();
  } finally {
    started.unsubscribe(note);
  }
  return statements;
}

interface Plan {
  type: string;
  Extra: string | null;
  partitions: string | null;
}

/** How the server would run a statement: a row for each table, in the form that MariaDB and MySQL share. */
export async function planOf(sql: string): Promise<Plan[]> {
  const [version] = await select<{ version: string }>('SELECT VERSION() AS version');
  const explain = version?.version.includes('MariaDB') ? 'EXPLAIN PARTITIONS' : 'EXPLAIN FORMAT=TRADITIONAL';
  const [rows] = await db.query(`${explain} ${sql}`);
  return rows as Plan[];
}

/** What each table of a statement reads: its partitions, comma-separated. */
export const partitionsOf = async (sql: string): Promise<string[]> =>
  (await planOf(sql)).flatMap(({ partitions }) => (partitions ? [partitions] : []));

/** Rows and keys that the reads among these statements look at, by the server's own counters. */
export async function rowsReadBy(statements: readonly string[]): Promise<number> {
  // Those with a deadline begin with a comment that sets it.
  const reads = statements.filter((sql) => /^\s*(\/\*.*?\*\/\s*)?\(?SELECT/i.test(sql));
  return transact(async (t) => {
    const counted = async (): Promise<number> => {
      const rows = await select<{ Value: string }>(`SHOW SESSION STATUS LIKE 'Handler_read%'`, [], t);
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
    };
    // Asking reads rows as well.
    const [before, again] = [await counted(), await counted()];
    for (const sql of reads) await select(sql, [], t);
    return (await counted()) - again - (again - before);
  });
}
