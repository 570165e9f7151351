// The connection pools and their uses.
import 'reflect-metadata';
import { config } from '../../../config/index.js';
import { Database } from './database.js';
import { openPool } from './connection.js';
import { isDuplicate } from './errors.js';
import { closeReplicas, ReplicatedReads } from './replicas.js';
import { fail } from '../errors.js';
import type { ErrorSlug } from '../error-catalogue/index.js';

export { literal, requireChanged, type Database, type SqlValue, type Statement } from './database.js';

const { poolSize, statementSeconds, reportSeconds, bulkSeconds } = config.database;

/** Quick statements of requests and payment jobs. Models use it. */
export const db = openPool({ name: 'requests', max: poolSize, statementSeconds });

const quick = new Database(db);

export const select = quick.select.bind(quick);
export const change = quick.change.bind(quick);
export const insert = quick.insert.bind(quick);
export const transact = quick.transact.bind(quick);

/**
 * Reads of requests that may take long, such as counting a filter over all months: a few connections of their
 * own, so that payments never wait for them; on a replica if configured.
 */
export const reports = new ReplicatedReads(
  openPool({ name: 'reports', max: Math.max(1, Math.floor(poolSize / 3)), statementSeconds: reportSeconds }),
);

/** Statements of jobs over very many rows: import batches, retention. */
export const bulk = new Database(openPool({ name: 'bulk', max: 4, statementSeconds: bulkSeconds }));

/**
 * One-packet transactions, mainly the payment callback; lists and callbacks do not wait for each other's
 * connections.
 */
export const payments = new Database(
  openPool({ name: 'payments', max: Math.max(2, Math.ceil(poolSize / 2)), statementSeconds, packets: true }),
);

/** Closes every connection. */
export async function closeDatabase(): Promise<void> {
  await Promise.all([closeReplicas(), ...[quick, reports, bulk, payments].map(({ pool }) => pool.close())]);
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
