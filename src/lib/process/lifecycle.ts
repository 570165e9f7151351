// How a process starts, and how it ends: in order, within its deadline, after writing its last log lines.
import { format } from 'node:util';
import { config } from '../../../config/index.js';
import { flushLogs, logger } from '../watch/logger.js';
import { withTimeout } from './timers.js';

type Closer = () => void | Promise<void>;

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

/** A refused start: one sentence for the operator instead of a stack. */
export class StartRefused extends Error {}

/** Starts a process after logging warnings; a failure is logged in one line and exits with code 1. */
export async function start(main: () => Promise<void>): Promise<void> {
  // What packages print, as BullMQ does about a Redis that may remove jobs, becomes a line of the log.
  const print = (...parts: unknown[]): void => logger.warn(format(...parts));
  Object.assign(console, { warn: print, error: print });
  try {
    warnAtStart();
    await main();
  } catch (error) {
    if (error instanceof StartRefused) logger.fatal(error.message);
    else logger.fatal({ error }, 'the process could not start');
    await exit(1);
  }
}

function warnAtStart(): void {
  if (isUnfixedNode())
    logger.warn(`Node.js ${process.versions.node} no longer gets security fixes; use Node.js 24`);
  for (const { given, meant } of config.misspellings)
    logger.warn(`${given} is no setting and has no effect; is ${meant} meant?`);
  if (config.retired.length > 0)
    logger.warn(`these settings have no effect any more: ${config.retired.join(', ')}`);
  const { server, sentinels, password } = config.redis;
  const hosts = (sentinels ?? [server]).map(({ host }) => host);
  if (config.app.production && !password && !hosts.every(isLoopback))
    logger.warn(
      'REDIS_URL has no password: every client that reaches that Redis can give the worker any job',
    );
}

/** Whether this line of Node.js gets no security fixes any more. */
export const isUnfixedNode = (): boolean => Number.parseInt(process.versions.node, 10) < 22;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

/** While a shared folder hangs, a process still serves what needs no file. */
const startLimitMs = 5000;

/**
 * Waits 5 s for a part of a start that needs the storage; one that takes longer continues in the background.
 *
 * @throws what the part throws in time; what it throws later is logged
 */
export async function withinStart(part: string, work: Promise<void>): Promise<void> {
  const isDone = await withTimeout(
    work.then(() => true),
    startLimitMs,
    (resolve) => resolve(false),
  );
  if (isDone) return;
  logger.warn({ part }, 'a part of the start has not ended within 5 s; the process continues without it');
  work.catch((error: unknown) => logger.error({ error, part }, 'a part of the start failed late'));
}

async function exit(code: number): Promise<never> {
  await flushLogs();
  return process.exit(code);
}
