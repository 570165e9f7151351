// /queues: number and age of waiting jobs.
import { listQueues } from '../../../models/office/queue-list.js';
import { queueKeys } from '../../declare/records.js';
import { listOf, record, resource } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const queue = resource('Queue', queueKeys);

export const routes = [
  route('GET', '/queues', {
    name: 'listQueues',
    summary: 'List the queues with their numbers of waiting, running, delayed and failed jobs',
    description: '`failed` counts the jobs of `GET /failed-jobs` that nobody has retried yet.',
    access: can('queue.index', '查看队列', 'List queues'),
    response: record({ list: listOf(queue) }),
    fails: ['queue_unavailable'],
    handle: async () => ({ list: await listQueues() }),
  }),
];
