// The queues: their names, and where they are in Redis.
import { config } from '../../../config/index.js';

/** The queues by latency class: a long export never delays money. */
export const queueNames = [
  'payments',
  'channels',
  'logs',
  'notifications',
  'exports',
  'imports',
  'files',
  'maintenance',
] as const;

export type QueueName = (typeof queueNames)[number];

export const queuePrefix = (queue: QueueName): string => `{${config.redis.prefix}-${queue}}`;
