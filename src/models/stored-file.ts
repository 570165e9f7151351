// stored_files: every file of the storage, as a row before it is written and until it is removed.
import type { Transaction } from 'sequelize';
import { now } from '../lib/clock.js';
import { change, select } from '../lib/db.js';
import { logger } from '../lib/logger.js';
import { newUlid } from '../lib/random-id.js';
import { storage } from '../lib/storage/index.js';

export type FilePurpose = 'attachments' | 'chunks' | 'exports' | 'imports';

/** Longer than any file takes to be written. */
const longestWriteMs = 24 * 3_600_000;

/** A new key of its own to write under. What is not kept within a day is removed by the sweeper. */
export async function reserveFile(purpose: FilePurpose): Promise<string> {
  const at = now();
  const month = at.toISOString().slice(0, 7);
  const key = `${purpose}/${month}/${newUlid()}`;
  await change(
    "INSERT INTO stored_files (storage_key, state, created_at, updated_at) VALUES (?, 'reserved', ?, ?)",
    [key, at, at],
  );
  return key;
}

/** A written file gets an owner; in the transaction that writes the owner's row. */
export async function keepFile(key: string, t: Transaction): Promise<void> {
  await mark([key], 'kept', t);
}

/** Files lose their owner; in the transaction that changes the owner's row. `removeFiles` then frees their room. */
export async function releaseFiles(keys: readonly string[], t?: Transaction): Promise<void> {
  await mark(keys, 'released', t);
}

/** Removes released files; one that cannot be removed now is left to the sweeper. */
export async function removeFiles(keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await removeFile(key).catch((error: unknown) =>
      logger.warn({ error, key }, 'a file could not be removed; the sweeper will try again'),
    );
  }
}

/** Removes files that nobody owns: released before that instant, or reserved a day ago and never kept. */
export async function sweepFiles(before: Date): Promise<void> {
  const abandoned = new Date(now().getTime() - longestWriteMs);
  const rows = await select<{ storage_key: string }>(
    `(SELECT storage_key FROM stored_files WHERE state = 'released' AND updated_at < ? LIMIT 500)
     UNION ALL (SELECT storage_key FROM stored_files WHERE state = 'reserved' AND updated_at < ? LIMIT 500)`,
    [before, abandoned],
  );
  await removeFiles(rows.map(({ storage_key }) => storage_key));
}

async function mark(keys: readonly string[], state: string, t?: Transaction): Promise<void> {
  if (keys.length === 0) return;
  await change(
    'UPDATE stored_files SET state = ?, updated_at = ? WHERE storage_key IN (?)',
    [state, now(), keys],
    t,
  );
}

async function removeFile(key: string): Promise<void> {
  await (await storage()).remove(key);
  await change("DELETE FROM stored_files WHERE storage_key = ? AND state <> 'kept'", [key]);
}
