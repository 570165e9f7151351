// How a process ends: in order, within its deadline, after writing its last log lines.
import { config } from '../../../config/index.js';
import { flushLogs, logger } from '../watch/logger.js';
import { StartRefused } from './start-refused.js';
import { warnAtStart } from './start-warnings.js';

export type Closer = () => void | Promise<void>;

/**
 * Ends the process on SIGTERM or SIGINT: runs the closers in order within the common deadline, then exits. An
 * uncaught exception ends it with code 1, so that its supervisor restarts it.
 *
 * @returns a function that ends it for another reason, with code 1
 */
export function endGracefully(closers: Closer[]): (reason: string) => void {
  let ending = false;
  const end = async (reason: string, code: number): Promise<void> => {
    if (ending) return;
    ending = true;
    logger.info({ reason }, 'shutting down');
    const deadline = setTimeout(() => void exit(code), config.app.shutdownMs);
    for (const close of closers) {
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => logger.warn({ error }, 'a part did not close cleanly'));
    }
    clearTimeout(deadline);
    await exit(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal, 0));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      logger.fatal({ error }, event);
      void end(event, 1);
    });
  }
  return (reason) => void end(reason, 1);
}

/** Starts a process after logging warnings; a failure is logged in one line and exits with code 1. */
export async function start(main: () => Promise<void>): Promise<void> {
  try {
    warnAtStart();
    await main();
  } catch (error) {
    if (error instanceof StartRefused) logger.fatal(error.message);
    else logger.fatal({ error }, 'the process could not start');
    await exit(1);
  }
}

async function exit(code: number): Promise<never> {
  await flushLogs();
  return process.exit(code);
}
