// The statements that the driver sends, with their values in place.
import { channel } from 'node:diagnostics_channel';
import { format } from 'mysql2';
import { db, select } from '../../src/lib/db.js';

const started = channel('tracing:mysql2:query:start');

/** Statements that this thread sends meanwhile. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const note = (message: unknown): void => {
    const { query, values } = message as { query: string; values?: string[] };
    const sql = format(query, values ?? []);
    statements.push(...(sql.startsWith('START TRANSACTION; ') ? sql.split(/; (?=[A-Z]{3})/) : [sql]));
  };
  started.subscribe(note);
  try {
    await work();
  } finally {
    started.unsubscribe(note);
  }
  return statements;
}

/** What each table of a statement reads: its partitions, comma-separated. */
export async function partitionsOf(sql: string): Promise<string[]> {
  const [version] = await select<{ version: string }>('SELECT VERSION() AS version');
  const explain = version?.version.includes('MariaDB') ? 'EXPLAIN PARTITIONS' : 'EXPLAIN';
  const [rows] = await db.query(`${explain} ${sql}`);
  return (rows as { partitions: string | null }[]).flatMap(({ partitions }) =>
    partitions ? [partitions] : [],
  );
}
