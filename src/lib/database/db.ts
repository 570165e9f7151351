// The connection pools and their uses.
import 'reflect-metadata';
import { config } from '../../../config/index.js';
import { Database } from './database.js';
import { openPool } from './connection.js';
import { isDuplicate } from './errors.js';
import { fail } from '../errors/app-error.js';
import type { ErrorSlug } from '../errors/catalogue.js';

export { literal, type Database, type SqlValue, type SqlValues } from './database.js';

const { poolSize, statementSeconds, reportSeconds, bulkSeconds } = config.database;

/** Quick statements of requests and payment jobs. Models use it. */
export const db = openPool({ name: 'requests', max: poolSize, statementSeconds });

const quick = new Database(db);

export const select = quick.select.bind(quick);
export const change = quick.change.bind(quick);
export const insert = quick.insert.bind(quick);
export const transact = quick.transact.bind(quick);

/** Connections of their own, so that payments never wait for long work. */
const long = openPool({
  name: 'long',
  max: Math.max(4, Math.floor(poolSize / 3)),
  statementSeconds: bulkSeconds,
});

/** Reads of requests that may take long, such as counting a filter over all months. */
export const reports = new Database(long, reportSeconds);

/** Statements of jobs over very many rows: import batches, retention. */
export const bulk = new Database(long);

/** Closes every connection. */
export async function closeDatabase(): Promise<void> {
  await Promise.all([db.close(), long.close()]);
}

/** Converts a violated unique key to its outcome: index name → slug and field. */
export async function refuseDuplicates<T>(
  write: Promise<T>,
  keys: Record<string, { slug: ErrorSlug; field: string }>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const violated = Object.keys(keys).find((key) => isDuplicate(error, key));
    if (!violated) throw error;
    const { slug, field } = keys[violated] as { slug: ErrorSlug; field: string };
    return fail(slug, { field });
  }
}
