// Warnings of a starting process about its environment.
import { config } from '../../../config/index.js';
import { logger } from '../logger.js';
import { StartRefused } from './start-refused.js';

/** The oldest Node.js line that still gets security fixes. */
const oldestFixed = 22;

/** Logs a line per warning. @throws StartRefused for settings under STRICT_STARTUP */
export function warnAtStart(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < oldestFixed)
    logger.warn(`Node.js ${node} gets no security fixes any more; use Node.js 24`);
  for (const { given, meant } of config.misspellings)
    warnOfSetting(`${given} is no setting and has no effect; is ${meant} meant?`);
  const { server, sentinels, cluster, password } = config.redis;
  const hosts = (sentinels ?? cluster ?? [server]).map(({ host }) => host);
  if (config.app.production && !password && !hosts.every(isLoopback))
    warnOfSetting(
      'REDIS_URL has no password: every client that reaches that Redis can give the worker any job',
    );
}

/** Warns of questionable settings. @throws StartRefused under STRICT_STARTUP */
export function warnOfSetting(message: string): void {
  if (config.app.strict) throw new StartRefused(message);
  logger.warn(message);
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');
