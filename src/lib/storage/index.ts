// The configured storage driver, loaded with the first use of a file.
import { config } from '../../../config/index.js';
import { makePrivate } from '../files/folder.js';
import { logger } from '../watch/logger.js';
import type { Storage } from './storage.js';

let chosen: Promise<Storage> | undefined;

/** The driver named by STORAGE_DRIVER. */
export function storage(): Promise<Storage> {
  chosen ??= load();
  return chosen;
}

/** Makes STORAGE_ROOT private to this account, or logs a warning. */
export async function guardStorage(): Promise<void> {
  const { root } = config.storage;
  await makePrivate(root).catch((error: unknown) =>
    logger.warn({ error, root }, 'other accounts of this machine may read the stored files'),
  );
}

// Loaded on demand: the SDK takes some 20 MB.
async function load(): Promise<Storage> {
  if (config.storage.driver === 's3') {
    const { S3Storage } = await import('./s3.js');
    return new S3Storage(config.storage.s3);
  }
  const { LocalStorage } = await import('./local.js');
  return new LocalStorage(config.storage.root);
}
