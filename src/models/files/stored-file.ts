// stored_files: every file of the storage, as a row before it is written and until it is removed.
import pLimit from 'p-limit';
import { Op, type Transaction } from 'sequelize';
import { ago, now } from '../../lib/values/clock.js';
import { AppError } from '../../lib/errors/app-error.js';
import { logger } from '../../lib/watch/logger.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { storage } from '../../lib/storage/index.js';
import { StorageFull, StorageUnavailable } from '../../lib/storage/storage.js';
import { StoredFile } from './tables.js';

export const purposes = ['attachments', 'chunks', 'exports', 'imports'] as const;

type FilePurpose = (typeof purposes)[number];

/** Longer than any file takes to be written. */
const maxWriteMs = 24 * 3_600_000;

const removalsAtOnce = 4;
const keysAtOnce = 2000;

/** Keys of files, as their owners have them: null is no file. */
type FileKeys = readonly (string | null)[];

/** A new key to write under. The sweeper removes a file that is not kept within a day. */
export async function reserveFile(purpose: FilePurpose): Promise<string> {
  const month = now().toISOString().slice(0, 7);
  const key = `${purpose}/${month}/${newUlid()}`;
  await StoredFile.create({ storage_key: key, state: 'reserved' });
  return key;
}

/**
 * Hands a received file of the local disk to the storage.
 *
 * @returns its key; to be stored by its owner
 * @throws storage_full, upload_failed
 */
export async function storeFile(purpose: FilePurpose, path: string): Promise<string> {
  const driver = await storage();
  const key = await reserveFile(purpose);
  await keepOrRemove(key, () => stored(driver.putFile(key, path)));
  return key;
}

/** Gives a written file its owner, in the transaction that writes the owner's row. */
export async function keepFile(key: string, t: Transaction): Promise<void> {
  const where = { storage_key: key, state: 'reserved' };
  const [kept] = await StoredFile.update({ state: 'kept' }, { where, transaction: t });
  if (kept === 0) throw new Error(`the file ${key} is no longer reserved`);
}

/**
 * Runs the write that gives a reserved file its owner. When it fails the file is removed, unless it has an
 * owner after all: the answer to a successful COMMIT may have been lost.
 */
export async function keepOrRemove<T>(key: string, keep: () => Promise<T>): Promise<T> {
  try {
    return await keep();
  } catch (error) {
    // A storage that did not answer would be waited for as long again; the sweeper removes the file.
    const end = error instanceof StorageUnavailable ? disownFile : abandonFile;
    await end(key).catch((failure: unknown) =>
      logger.warn(
        { error: failure, storage_key: key },
        'removing a file without an owner failed; the sweeper will retry',
      ),
    );
    throw error;
  }
}

/** Removes a reserved file. One that got its owner stays: the answer to that COMMIT may have been lost. */
export async function abandonFile(key: string): Promise<void> {
  if (await disownFile(key)) await removeFiles([key]);
}

/** Releases a file that is still reserved. @returns whether it was */
async function disownFile(key: string): Promise<boolean> {
  const where = { storage_key: key, state: 'reserved' };
  const [disowned] = await StoredFile.update({ state: 'released' }, { where });
  return disowned > 0;
}

/** Releases files in the transaction that changes their owner's row. `removeFiles` then deletes them. */
export async function releaseFiles(keys: FileKeys, t?: Transaction): Promise<void> {
  const released = keys.filter((key) => key !== null);
  if (released.length === 0) return;
  const where = { storage_key: released };
  await StoredFile.update({ state: 'released' }, { where, transaction: t });
}

/** The keys of all files that have an owner, some thousand at a time, in their order. */
export async function* keptKeys(): AsyncGenerator<string[]> {
  for (let after = ''; ;) {
    const rows = await StoredFile.findAll({
      attributes: ['storage_key'],
      where: { state: 'kept', storage_key: { [Op.gt]: after } },
      order: ['storage_key'],
      limit: keysAtOnce,
    });
    if (rows.length > 0) yield rows.map(({ storage_key }) => storage_key);
    if (rows.length < keysAtOnce) return;
    after = rows.at(-1)?.storage_key ?? '';
  }
}

/** Those of the keys that have no row in any state. */
export async function unknownKeys(keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const rows = await StoredFile.findAll({ attributes: ['storage_key'], where: { storage_key: keys } });
  const known = new Set(rows.map(({ storage_key }) => storage_key));
  return keys.filter((key) => !known.has(key));
}

/**
 * Removes released files; the sweeper retries those that fail. The first one for which the storage does not
 * answer ends the round: each of the others would wait as long.
 */
export async function removeFiles(keys: FileKeys): Promise<void> {
  const released = keys.filter((key) => key !== null);
  if (released.length === 0) return;
  const driver = await storage();
  const atOnce = pLimit(removalsAtOnce);
  const removed: string[] = [];
  let isAway = false;
  const remove = async (key: string): Promise<void> => {
    if (isAway) return;
    try {
      await driver.remove(key);
      removed.push(key);
    } catch (error) {
      isAway ||= error instanceof StorageUnavailable;
      logger.warn({ error, storage_key: key }, 'removing a file failed; the sweeper will retry');
    }
  };
  await Promise.all(released.map((key) => atOnce(remove, key)));
  if (removed.length > 0)
    await StoredFile.destroy({ where: { storage_key: removed, state: { [Op.ne]: 'kept' } } });
}

/** Removes files that nobody owns: released before that instant, or reserved a day ago and never kept. */
export async function removeUnowned(before: Date): Promise<void> {
  const unowned = (state: StoredFile['state'], since: Date): Promise<StoredFile[]> =>
    StoredFile.findAll({ where: { state, updated_at: { [Op.lt]: since } }, limit: 500 });
  const rows = await Promise.all([unowned('released', before), unowned('reserved', ago(maxWriteMs))]);
  await removeFiles(rows.flat().map(({ storage_key }) => storage_key));
}

/** Removes the remains of unfinished writes from the storage. */
export async function sweepStorage(): Promise<void> {
  await (await storage()).sweep(ago(maxWriteMs), purposes);
}

async function stored(written: Promise<void>): Promise<void> {
  try {
    await written;
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error;
    throw new AppError(error instanceof StorageFull ? 'storage_full' : 'upload_failed', { cause: error });
  }
}
