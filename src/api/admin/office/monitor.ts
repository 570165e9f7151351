// /monitor: live figures of machine, process, queues, database and Redis.
import Joi from 'joi';
import { queueNames } from '../../../lib/queue/names.js';
import { clamped } from '../../../lib/input/schema.js';
import { sendEvents } from '../../http/event-stream.js';
import { monitorSnapshot } from '../../flows/monitor-snapshot.js';
import { integer, listOf, record, resource, text } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const number = () => Joi.number().required();
const usage = { usage: number(), percent: number() };
const capacity = () => record({ total: number(), used: number(), ...usage });
const health = () => record({ status: Joi.string().valid('up', 'down').required(), latency_ms: number() });

const systemInfo = resource('SystemInfo', {
  cpu: record({ cores: integer(), ...usage }),
  memory: capacity(),
  disk: capacity(),
  go: record({ version: text(), goroutines: integer(), gc_pause: text() }),
  runtime: record({
    name: text(),
    version: text(),
    uptime: integer(),
    heap_used: integer(),
    heap_total: integer(),
    rss: integer(),
    event_loop_lag_ms: number(),
  }),
  load: listOf(Joi.number()),
  system: record({ hostname: text(), os: text(), arch: text() }),
  websocket: record({ connections: integer() }),
  queues: listOf(
    record({
      name: Joi.string()
        .valid(...queueNames)
        .required(),
      waiting: integer(),
      active: integer(),
      delayed: integer(),
      failed: integer(),
      oldest_seconds: integer(),
    }),
  ),
  database: health(),
  redis: health(),
});

const shortestMs = 1000;

export const routes = [
  route({
    method: 'GET',
    path: '/monitor/system-info',
    name: 'showSystemInfo',
    summary: 'Live figures of machine, process, queues, database and Redis',
    access: can('monitor.show', '查看实时指标', 'Watch live metrics'),
    response: systemInfo,
    handle: () => monitorSnapshot(shortestMs),
  }),
  route({
    method: 'GET',
    path: '/monitor/system-info/stream',
    name: 'streamSystemInfo',
    limit: 'stream',
    summary: 'The same as server-sent events',
    description: 'Events `connected`, then `system_info` every `interval` seconds.',
    access: can('monitor.show', '查看实时指标', 'Watch live metrics'),
    ticket: true,
    reply: 'event-stream',
    query: Joi.object<{ interval: number }, true>({
      interval: clamped({ fallback: 2, min: 1, max: 10 }),
    }),
    response: null,
    handle({ admin, query }, ctx) {
      const intervalMs = query.interval * 1000;
      // Slightly less than the interval, so that drifting timers still share a sample.
      const read = () => monitorSnapshot(intervalMs * 0.9);
      sendEvents(ctx, admin, { type: 'system_info', intervalMs, read });
      return Promise.resolve();
    },
  }),
];
