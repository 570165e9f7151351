// /monitor: live figures of machine, process, queues, database and Redis.
import Joi from 'joi';
import { clamped } from '../../../lib/input/schema.js';
import { sendEvents } from '../../http/event-stream.js';
import { monitorHistory, monitorSnapshot } from '../../flows/monitor-snapshot.js';
import { queueKeys } from '../../declare/records.js';
import { integer, listOf, record, resource, text, timestamp } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const number = () => Joi.number().required();
const usage = {
  usage: number().description('Percentage in use').example(42),
  percent: number().description('The same as `usage`').example(42),
};
const capacity = (of: string) =>
  record({
    total: number().description('Size in bytes').example(8_589_934_592),
    used: number().description('Bytes in use').example(4_294_967_296),
    ...usage,
  }).description(of);
const health = (of: string) =>
  record({
    status: Joi.string().valid('up', 'down').required().description('Whether it answers'),
    latency_ms: number().description('Time to answer, in milliseconds').example(0.8),
  }).description(of);

const goRuntime = {
  version: text().description('Version of Node.js').example('v20.20.0'),
  goroutines: integer().description('Active handles and requests').example(31),
  gc_pause: text().description('Duration of the latest garbage collection').example('1.2ms'),
};

const runtime = {
  name: text().description('Name of the runtime').example('Node.js'),
  version: text().description('Version of the runtime').example('v20.20.0'),
  uptime: integer().description('Seconds since the process was started').example(86_400),
  heap_used: integer().description('Heap in use, in bytes').example(73_400_320),
  heap_total: integer().description('Size of the heap, in bytes').example(104_857_600),
  rss: integer().description('Memory of the process, in bytes').example(146_800_640),
  event_loop_lag_ms: number().description('Delay of the event loop, in milliseconds').example(1.1),
};

const machine = {
  hostname: text().description('Name of the machine').example('shop-1'),
  os: text().description('Operating system').example('Linux'),
  arch: text().description('Processor architecture').example('x64'),
};

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

const pastSample = resource('SystemSample', {
  at: timestamp().description('When it was taken'),
  cpu: number().description('Processor in use, in percent').example(42),
  memory: number().description('Memory in use, in percent').example(50),
  event_loop_lag_ms: number().description('Delay of the event loop, in milliseconds').example(1.1),
  waiting: integer().description('Jobs waiting in all queues').example(3),
  active: integer().description('Jobs running').example(1),
  failed: integer().description('Jobs failed for good').example(0),
  oldest_seconds: number().description('How long the oldest job has been waiting, in seconds').example(0),
  database_ms: number().description('Time of the database to answer, in milliseconds').example(0.8),
  redis_ms: number().description('Time of Redis to answer, in milliseconds').example(0.3),
});
const access = can('monitor.show', '查看实时指标', 'Watch live metrics');

export const routes = [
  route('GET', '/monitor/system-info', {
    name: 'showSystemInfo',
    summary: 'Get live figures of machine, process, queues, database and Redis',
    access,
    response: systemInfo,
    handle: () => monitorSnapshot(),
  }),
  route('GET', '/monitor/system-info/history', {
    name: 'listSystemSamples',
    summary: 'List the figures of the last half hour',
    description: 'One sample every ten seconds, oldest first, of the process that answers.',
    access,
    response: listOf(pastSample),
    handle: () => Promise.resolve(monitorHistory()),
  }),
  route('GET', '/monitor/system-info/stream', {
    name: 'streamSystemInfo',
    summary: 'Stream the live figures as server-sent events',
    description: 'Events `connected`, then `system_info` every `interval` seconds.',
    access,
    reply: 'event-stream',
    query: Joi.object<{ interval: number }, true>({
      interval: clamped({ fallback: 2, min: 1, max: 10 })
        .description('Seconds between two events, 1 to 10')
        .example(2),
    }),
    handle({ admin, query }, ctx) {
      const intervalMs = query.interval * 1000;
      sendEvents(ctx, admin, { type: 'system_info', intervalMs, read: monitorSnapshot });
      return Promise.resolve();
    },
  }),
];
