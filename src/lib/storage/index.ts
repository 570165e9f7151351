// The storage of this deployment, by setting; a driver is loaded when the first file is touched.
import { config } from '../../../config/index.js';
import { makePrivate } from '../files/folder.js';
import { logger } from '../logger.js';
import type { Storage } from './storage.js';

let chosen: Promise<Storage> | undefined;

/** The driver that STORAGE_DRIVER names. */
export function storage(): Promise<Storage> {
  chosen ??= load();
  return chosen;
}

/** Closes STORAGE_ROOT to other accounts of this machine; a folder that stays open is warned about. */
export async function guardStorage(): Promise<void> {
  const { root } = config.storage;
  await makePrivate(root).catch((error: unknown) =>
    logger.warn({ error, root }, 'other accounts of this machine may read the stored files'),
  );
}

// The SDK takes some 20 MB, which a deployment without S3 need not pay.
async function load(): Promise<Storage> {
  if (config.storage.driver === 's3') {
    const { S3Storage } = await import('./s3.js');
    return new S3Storage(config.storage.s3);
  }
  const { LocalStorage } = await import('./local.js');
  return new LocalStorage(config.storage.root);
}
