// claims: work that one process at a time may do. A claim is a committed row, renewed during the work.
//
// Not GET_LOCK or a row lock: both are local to a node of Galera, and a row lock needs a transaction as long
// as the work.
import { setTimeout as sleep } from 'node:timers/promises';
import { Model } from 'sequelize-typescript';
import { change, db } from '../../lib/database/db.js';
import { logger } from '../../lib/watch/logger.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import { ascii, instant } from './column.js';
import { updateRows } from './rows.js';
import { Column, Table, type NewRow, type Row } from './table.js';

@Table('claims')
class Claim extends Model<Row<Claim>, NewRow<Claim>> {
  @Column(ascii(50).primary()) declare name: string;
  /** Empty while it is free. */
  @Column(ascii(20)) declare owner: string;
  @Column(instant()) declare expires_at: Date;
}

db.addModels([Claim]);

/** A claim not renewed for this long is free: its process has died. */
const claimSeconds = 15;
const renewEveryMs = 4000;
const askEveryMs = 250;

/**
 * Runs the work under the claim of that name; waits until the claim is free.
 *
 * @param work gets a signal that aborts when the claim is lost, because this process was suspended for too long
 */
export async function underClaim<T>(name: string, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
  const owner = randomToken(12);
  const lost = new AbortController();
  await createClaim(name);
  while (!(await take(name, owner))) await sleep(askEveryMs);
  const renewal = setInterval(() => {
    take(name, owner).then(
      (isMine) => isMine || lost.abort(new Error(`the claim ${name} was lost`)),
      (error: unknown) => logger.warn({ error, name }, 'renewing a claim failed'),
    );
  }, renewEveryMs);
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(renewal);
    await updateRows(Claim, { owner: '' }, { name, owner });
  }
}

// Uses the database's clock; those of the processes may differ.
async function take(name: string, owner: string): Promise<boolean> {
  const taken = await change(
    `UPDATE claims SET owner = :owner, expires_at = NOW(3) + INTERVAL :claimSeconds SECOND
       WHERE name = :name AND (owner IN ('', :owner) OR expires_at < NOW(3))`,
    { owner, name, claimSeconds },
  );
  return taken === 1;
}

async function createClaim(name: string): Promise<void> {
  await change(
    `CREATE TABLE IF NOT EXISTS claims (name VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
       owner VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, expires_at DATETIME(3) NOT NULL) ENGINE=InnoDB`,
  );
  await change(`INSERT IGNORE INTO claims (name, owner, expires_at) VALUES (:name, '', NOW(3))`, { name });
}
