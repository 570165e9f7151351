// Versions of what decides access: a number per scope, raised by the transaction of every change. A mark in
// Redis, which every request compares, makes the other processes read it, so that a change counts on the next
// request; while Redis is unavailable each request reads it.
import type { Transaction } from 'sequelize';
import { Model } from 'sequelize-typescript';
import { change, db, select, transact } from '../../lib/database/db.js';
import { announce } from '../../lib/redis/changes.js';
import { key, redis } from '../../lib/redis/redis.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import { ascii, big } from './column.js';
import { Column, Table, type NewRow, type Row } from './table.js';

/** A number per scope that is raised by every change of it. */
@Table('versions')
class Version extends Model<Row<Version>, NewRow<Version>> {
  @Column(ascii(40).primary()) declare scope: string;
  @Column(big()) declare version: number;
}

db.addModels([Version]);

/** identity: sessions, administrators, roles, menus, permissions. */
export const scopes = ['identity', 'blacklist'] as const;

type Scope = (typeof scopes)[number];

export type Versions = Readonly<Record<Scope, number>>;

/**
 * Runs a write in one transaction that also raises the versions of the scopes. The change is announced before
 * this returns, even if the outcome is unknown because the reply to COMMIT was lost.
 */
export async function changing<T>(
  touched: readonly Scope[],
  write: (t: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await transact(async (t) => {
      const result = await write(t);
      await raise(touched, t);
      return result;
    });
  } finally {
    known = undefined;
    // A full Redis still deletes.
    await redis
      .set(markKey, randomToken(9))
      .catch(() => redis.del(markKey))
      .catch(() => undefined);
    announce(touched);
  }
}

/** Raises the versions, within a transaction; in a fixed order, against deadlocks. */
export async function raise(touched: readonly Scope[], t: Transaction): Promise<void> {
  const sorted = [...touched].sort();
  await change(
    `INSERT INTO versions (scope, version) VALUES ${sorted.map(() => '(?, 1)').join(', ')}
     ON DUPLICATE KEY UPDATE version = version + 1`,
    sorted,
    t,
  );
}

const markKey = key('access');

/** A process that dies between its commit and its announcement delays its change by this. */
const trustMs = 2000;

let known: { mark: string | null; versions: Versions; readAt: number } | undefined;

/** The current versions. */
export async function currentVersions(): Promise<Versions> {
  // null before the first change, undefined while Redis is unavailable
  const mark = await redis.get(markKey).catch(() => undefined);
  if (known && mark === known.mark && performance.now() - known.readAt < trustMs) return known.versions;
  const readAt = performance.now();
  const rows = await select<{ scope: Scope; version: number }>('SELECT scope, version FROM versions');
  const versionOf = (wanted: Scope): number => rows.find(({ scope }) => scope === wanted)?.version ?? 0;
  const versions = { identity: versionOf('identity'), blacklist: versionOf('blacklist') };
  known = mark === undefined ? undefined : { mark, versions, readAt };
  return versions;
}
