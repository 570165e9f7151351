// The queues: their names, their lanes, where they are in Redis.
import { crc32 } from 'node:zlib';
import { config } from '../../../config/index.js';

/** The queues by latency class: a long export never delays money. */
export const queueNames = [
  'payments',
  'logs',
  'notifications',
  'exports',
  'imports',
  'files',
  'maintenance',
] as const;

export type QueueName = (typeof queueNames)[number];

/** One of the queues in Redis that make up a queue: 0, 1, … */
export type Lane = number;

/** The lanes of a queue. */
export const lanesOf = (queue: QueueName): Lane[] => [
  ...Array(queue === 'payments' ? config.worker.paymentLanes : 1).keys(),
];

/** The lane of a job. The same work always has the same one, which deduplicates it. */
export const laneOf = ({ queue, id }: { queue: QueueName; id: string }): Lane =>
  crc32(id) % lanesOf(queue).length;

/** Keys of different queues and lanes live in different hash slots of a cluster. */
export const queuePrefix = (queue: QueueName, lane: Lane = 0): string =>
  `{${config.redis.prefix}-${queue}${lane === 0 ? '' : `-${lane}`}}`;
