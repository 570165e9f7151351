// STORAGE_ROOT/incoming: uploads of this machine during their request.
import { join } from 'node:path';
import { config } from '../../../config/index.js';
import { removeOldFiles } from '../../lib/files/folder.js';
import { logger } from '../../lib/watch/logger.js';

export const uploadFolder = join(config.storage.root, 'incoming');

const hourMs = 3_600_000;

/** Removes the remains of dead processes, now and every hour. @returns a function that stops it */
export function cleanUploadFolder(): () => void {
  const clean = (): void => {
    // Twice the upload timeout, for the work that follows.
    const before = new Date(Date.now() - 2 * config.storage.uploadTimeoutMs - hourMs);
    removeOldFiles(uploadFolder, before).then(
      (removed) => removed > 0 && logger.info({ removed }, 'abandoned uploads were removed'),
      (error: unknown) => logger.warn({ error }, 'removing abandoned uploads failed'),
    );
  };
  clean();
  const timer = setInterval(clean, hourMs);
  return () => clearInterval(timer);
}
