// /queues: number and age of waiting jobs.
import Joi from 'joi';
import { queueNames } from '../../../lib/queue/names.js';
import { queueFigures } from '../../flows/queue-figures.js';
import { integer, listOf, record, resource } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const queue = resource('Queue', {
  name: Joi.string()
    .valid(...queueNames)
    .required(),
  waiting: integer(),
  active: integer(),
  delayed: integer(),
  failed: integer(),
  oldest_seconds: integer(),
});

export const routes = [
  route({
    method: 'GET',
    path: '/queues',
    name: 'listQueues',
    summary: 'List the queues: what waits, runs, waits for its time and has failed',
    description:
      '`failed` is what waits for a person (`GET /failed-jobs`); `oldest_seconds` is how long the oldest waiting job has been there.',
    access: can('queue.index', '查看队列', 'List queues'),
    response: record({ list: listOf(queue) }),
    fails: ['queue_unavailable'],
    handle: async () => ({ list: await queueFigures() }),
  }),
];
