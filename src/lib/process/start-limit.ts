// A limit for what a start asks of the storage: while a shared folder hangs, a process still serves what needs no file.
import { logger } from '../watch/logger.js';
import { withTimeout } from './with-timeout.js';

const limitMs = 5000;

/**
 * Waits 5 s for a part of a start; one that takes longer continues in the background.
 *
 * @throws what the part throws in time; what it throws later is logged
 */
export async function withinStart(part: string, work: Promise<void>): Promise<void> {
  const isDone = await withTimeout(
    work.then(() => true),
    limitMs,
    (resolve) => resolve(false),
  );
  if (isDone) return;
  logger.warn({ part }, 'a part of the start has not ended within 5 s; the process continues without it');
  work.catch((error: unknown) => logger.error({ error, part }, 'a part of the start failed late'));
}
