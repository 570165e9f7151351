// Whether the storage belongs to this database. The storage holds a random mark, `key_checks` its digest: a
// process on another machine whose local storage is not shared finds no mark, and would lose every upload it
// receives.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { config } from '../../../config/index.js';
import { logger } from '../../lib/watch/logger.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import { StartRefused } from '../../lib/process/lifecycle.js';
import { storage } from '../../lib/storage/index.js';
import { FileMissing, StorageFull, StorageUnavailable } from '../../lib/storage/storage.js';
import { storeDigest, storedDigest } from '../access/key-check.js';
import { underClaim } from '../tables/claim.js';

const name = 'STORAGE';
const fileKey = 'storage-mark';
const maxBytes = 200;

/**
 * right: the storage of this database; other: that of another one; missing: it holds no mark; new: the
 * database knows none yet.
 */
type StorageState = 'right' | 'other' | 'missing' | 'new';

/** What the storage is to this database. @throws StorageUnavailable */
export async function storageState(): Promise<StorageState> {
  const kept = await storedDigest(name);
  if (kept === undefined) return 'new';
  const mark = await readMark();
  if (mark === undefined) return 'missing';
  return digestOf(mark) === kept ? 'right' : 'other';
}

/**
 * Marks the storage at the first start; any number of processes may do so at once. A storage that does not
 * answer is believed.
 *
 * @throws StartRefused in production when the storage is not that of this database; elsewhere a warning says so
 */
export async function checkStorage(): Promise<void> {
  try {
    let state = await storageState();
    if (state === 'new')
      state = await underClaim('storage', async () => {
        if ((await storageState()) === 'new') await acceptStorage();
        return storageState();
      });
    if (state !== 'right') refuse(state);
  } catch (error) {
    if (!(error instanceof StorageUnavailable || error instanceof StorageFull)) throw error;
    logger.warn({ error }, 'whether the storage belongs to this database is unknown');
  }
}

/** Takes the storage for the one of this database from now on. @throws StorageUnavailable, StorageFull */
export async function acceptStorage(): Promise<void> {
  let mark = await readMark();
  if (mark === undefined) {
    mark = randomToken(24);
    const driver = await storage();
    await driver.put(fileKey, Readable.from([Buffer.from(mark)])).catch((error: unknown) => {
      throw unusable(error);
    });
  }
  await storeDigest(name, digestOf(mark));
}

function refuse(state: 'other' | 'missing' | 'new'): void {
  const { driver, root } = config.storage;
  const place = driver === 's3' ? 'S3_BUCKET' : `STORAGE_ROOT (${root})`;
  const what =
    state === 'other' ? 'is the storage of another database' : 'does not hold the files of this database';
  const message =
    `${place} ${what}: uploads would be lost. Processes on several machines share a folder or use STORAGE_DRIVER=s3; ` +
    'after a move of the files "back-office storage accept" takes this one';
  if (config.app.production) throw new StartRefused(message);
  logger.warn(message);
}

async function readMark(): Promise<string | undefined> {
  try {
    const mark = await (await storage()).get(fileKey, { start: 0, end: maxBytes - 1 });
    return (await buffer(mark)).toString('latin1');
  } catch (error) {
    if (error instanceof FileMissing) return undefined;
    throw unusable(error);
  }
}

/** An unusable folder does not stop a process from serving requests without files. */
function unusable(error: unknown): Error {
  if (error instanceof StorageUnavailable || error instanceof StorageFull) return error;
  return new StorageUnavailable('the storage cannot be used', { cause: error });
}

const digestOf = (mark: string): string => createHash('sha256').update(mark).digest('hex');
