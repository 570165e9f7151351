// /monitor: live figures of machine, process, queues, database and Redis.
import Joi from 'joi';
import { clamped } from '../../../lib/input/schema.js';
import { sendEvents } from '../../http/event-stream.js';
import { monitorHistory, monitorSnapshot } from '../../flows/monitor-snapshot.js';
import { queueKeys } from '../../declare/records.js';
import { described, integer, listOf, record, resource, text, timestamp } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const number = () => Joi.number().required();
const usage = described(
  { usage: number(), percent: number() },
  { usage: ['Percentage in use', 42], percent: ['The same as `usage`', 42] },
);
const capacity = (of: string) =>
  record(
    described(
      { total: number(), used: number(), ...usage },
      { total: ['Size in bytes', 8_589_934_592], used: ['Bytes in use', 4_294_967_296] },
    ),
  ).description(of);
const health = (of: string) =>
  record(
    described(
      { status: Joi.string().valid('up', 'down').required(), latency_ms: number() },
      { status: ['Whether it answers'], latency_ms: ['Time to answer, in milliseconds', 0.8] },
    ),
  ).description(of);

const goRuntime = described(
  { version: text(), goroutines: integer(), gc_pause: text() },
  {
    version: ['Version of Node.js', 'v20.20.0'],
    goroutines: ['Active handles and requests', 31],
    gc_pause: ['Duration of the latest garbage collection', '1.2ms'],
  },
);

const runtime = described(
  {
    name: text(),
    version: text(),
    uptime: integer(),
    heap_used: integer(),
    heap_total: integer(),
    rss: integer(),
    event_loop_lag_ms: number(),
  },
  {
    name: ['Name of the runtime', 'Node.js'],
    version: ['Version of the runtime', 'v20.20.0'],
    uptime: ['Seconds since the process was started', 86_400],
    heap_used: ['Heap in use, in bytes', 73_400_320],
    heap_total: ['Size of the heap, in bytes', 104_857_600],
    rss: ['Memory of the process, in bytes', 146_800_640],
    event_loop_lag_ms: ['Delay of the event loop, in milliseconds', 1.1],
  },
);

const machine = described(
  { hostname: text(), os: text(), arch: text() },
  {
    hostname: ['Name of the machine', 'shop-1'],
    os: ['Operating system', 'Linux'],
    arch: ['Processor architecture', 'x64'],
  },
);

const sockets = { connections: integer().description('Number of open WebSockets').example(5) };

const systemInfo = resource('SystemInfo', {
  cpu: record({ cores: integer().description('Number of processor cores').example(2), ...usage }).description(
    'Processor',
  ),
  memory: capacity('Memory of the machine'),
  disk: capacity('Disk of the file storage'),
  go: record(goRuntime).description('The runtime, in the fields of earlier clients'),
  runtime: record(runtime).description('The process that answers'),
  load: listOf(Joi.number()).description('Load average of 1, 5 and 15 minutes').example([0.5, 0.4, 0.3]),
  system: record(machine).description('The machine'),
  websocket: record(sockets).description('WebSockets of this process'),
  queues: listOf(record(queueKeys)).description('The queues of the service'),
  database: health('The database'),
  redis: health('Redis'),
});

const pastSample = resource(
  'SystemSample',
  described(
    {
      at: timestamp(),
      cpu: number(),
      memory: number(),
      event_loop_lag_ms: number(),
      waiting: integer(),
      active: integer(),
      failed: integer(),
      oldest_seconds: number(),
      database_ms: number(),
      redis_ms: number(),
    },
    {
      at: ['When it was taken'],
      cpu: ['Processor in use, in percent', 42],
      memory: ['Memory in use, in percent', 50],
      event_loop_lag_ms: ['Delay of the event loop, in milliseconds', 1.1],
      waiting: ['Jobs waiting in all queues', 3],
      active: ['Jobs running', 1],
      failed: ['Jobs failed for good', 0],
      oldest_seconds: ['How long the oldest job has been waiting, in seconds', 0],
      database_ms: ['Time of the database to answer, in milliseconds', 0.8],
      redis_ms: ['Time of Redis to answer, in milliseconds', 0.3],
    },
  ),
);

export const routes = [
  route({
    method: 'GET',
    path: '/monitor/system-info',
    name: 'showSystemInfo',
    summary: 'Get live figures of machine, process, queues, database and Redis',
    access: can('monitor.show', '查看实时指标', 'Watch live metrics'),
    response: systemInfo,
    handle: () => monitorSnapshot(),
  }),
  route({
    method: 'GET',
    path: '/monitor/system-info/history',
    name: 'listSystemSamples',
    summary: 'List the figures of the last half hour',
    description: 'One sample every ten seconds, oldest first, of the process that answers.',
    access: can('monitor.show', '查看实时指标', 'Watch live metrics'),
    response: listOf(pastSample),
    handle: () => Promise.resolve(monitorHistory()),
  }),
  route({
    method: 'GET',
    path: '/monitor/system-info/stream',
    name: 'streamSystemInfo',
    limit: 'stream',
    summary: 'Stream the live figures as server-sent events',
    description: 'Events `connected`, then `system_info` every `interval` seconds.',
    access: can('monitor.show', '查看实时指标', 'Watch live metrics'),
    ticket: true,
    reply: 'event-stream',
    query: Joi.object<{ interval: number }, true>({
      interval: clamped({ fallback: 2, min: 1, max: 10 })
        .description('Seconds between two events, 1 to 10')
        .example(2),
    }),
    response: null,
    handle({ admin, query }, ctx) {
      const intervalMs = query.interval * 1000;
      sendEvents(ctx, admin, { type: 'system_info', intervalMs, read: monitorSnapshot });
      return Promise.resolve();
    },
  }),
];
