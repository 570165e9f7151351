// STORAGE_ROOT/incoming: uploads of this machine while they arrive and until their request is done.
import { join } from 'node:path';
import { config } from '../../../config/index.js';
import { removeOldFiles } from '../../lib/files/folder.js';
import { logger } from '../../lib/logger.js';

export const uploadFolder = join(config.storage.root, 'incoming');

const hourMs = 3_600_000;

/** Removes now and every hour what a process that died left behind. @returns how to stop */
export function cleanUploadFolder(): () => void {
  const clean = (): void => {
    // Twice what an upload may take, for the work that follows on it.
    const before = new Date(Date.now() - 2 * config.storage.uploadTimeoutMs - hourMs);
    removeOldFiles(uploadFolder, before).then(
      (removed) => removed > 0 && logger.info({ removed }, 'forgotten uploads were removed'),
      (error: unknown) => logger.warn({ error }, 'forgotten uploads could not be removed'),
    );
  };
  clean();
  const timer = setInterval(clean, hourMs);
  return () => clearInterval(timer);
}
