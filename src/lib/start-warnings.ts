// What a starting process says about where it runs.
import { config } from '../../config/index.js';
import { logger } from './logger.js';

/** The oldest line of Node.js that still gets security fixes. */
const oldestFixed = 22;

/** Says in one line each what deserves a warning. @throws what concerns settings, under STRICT_STARTUP */
export function warnAtStart(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < oldestFixed)
    logger.warn(`Node.js ${node} gets no security fixes any more; use Node.js 24`);
  const { hostname, password } = new URL(config.redis.url);
  if (!config.app.production || password || isLoopback(hostname)) return;
  const message = 'REDIS_URL has no password: whoever reaches that Redis can give the worker any job';
  if (config.app.strict) throw new Error(message);
  logger.warn(message);
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host.startsWith('127.');
