// The disk of the stored files, which may be a shared folder that does not answer.
import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { config } from '../../../config/index.js';
import { withTimeout } from './timers.js';

const timeoutMs = 2000;

let asking: Promise<StatsFs> | undefined;

/** The disk below STORAGE_ROOT. @throws Error when there is none, or it does not answer within 2 s */
export function diskUsage(): Promise<StatsFs> {
  // Each call on a storage that hangs occupies one of the few threads that look-ups of names and hashes need too.
  asking ??= statfs(config.storage.root).finally(() => (asking = undefined));
  return withTimeout(asking, timeoutMs, (_, reject) => reject(new Error('the storage does not answer')));
}
