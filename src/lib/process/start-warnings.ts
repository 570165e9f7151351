// Warnings of a starting process about its environment.
import { config } from '../../../config/index.js';
import { logger } from '../watch/logger.js';

/** The oldest Node.js line that still gets security fixes. */
const oldestFixed = 22;

/** Logs a line per warning. */
export function warnAtStart(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < oldestFixed)
    logger.warn(`Node.js ${node} no longer gets security fixes; use Node.js 24`);
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

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');
