// The worker process: node build/src/worker/main.js [--queues payments,logs]
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { config } from '../../config/index.js';
import { closeDatabase } from '../lib/database/db.js';
import { endGracefully, start, withinStart } from '../lib/process/lifecycle.js';
import { logger } from '../lib/watch/logger.js';
import { queueNames, type QueueName } from '../lib/queue/names.js';
import { connectRedis, disconnectRedis } from '../lib/redis/redis.js';
import { guardStorage } from '../lib/storage/index.js';
import { startTracing } from '../lib/watch/tracing.js';
import { openWatchPort } from '../lib/watch/port.js';
import { closeLogs, keepSystemLog } from '../jobs/write-logs.js';
import { checkDurability, prepareDatabase } from '../models/migrations/schema.js';
import { seed } from '../models/access/seed.js';
import { checkStorage } from '../models/files/storage-mark.js';
import { exposeServiceMetrics } from '../models/office/service-metrics.js';
import { resealSecrets } from '../models/trade/payment-method.js';
import { needsStorage, startWorker } from './worker.js';

await start(async () => {
  keepSystemLog('worker');
  const closeTracing = await startTracing('worker');
  const queues = chosenQueues();
  if (!queues.includes('payments')) setPriority(config.worker.bulkNice);
  await connectRedis();
  await withinStart('guard of the storage', guardStorage());
  // Everything here that uses the database is tried again when the connection is lost.
  await prepareDatabase(async () => {
    await seed();
    await checkDurability();
    await resealSecrets();
    if (needsStorage(queues)) await withinStart('check of the storage', checkStorage());
  });
  const { stop, readiness } = await startWorker(queues, (what) => {
    logger.fatal({ what }, 'the worker hangs: nothing has come through for 60 s');
    endAsFailed('the worker hangs');
  });
  exposeServiceMetrics();
  const closeWatchPort = openWatchPort('worker', readiness);
  const endAsFailed = endGracefully([
    stop,
    closeLogs,
    closeDatabase,
    disconnectRedis,
    closeTracing,
    closeWatchPort,
  ]);
  logger.info({ queues, version: config.version, commit: config.commit }, 'worker is running');
  process.send?.('ready');
});

function chosenQueues(): readonly QueueName[] {
  const { values } = parseArgs({ options: { queues: { type: 'string' } } });
  if (!values.queues) return queueNames;
  const chosen = values.queues.split(',').map((name) => name.trim());
  const unknown = chosen.filter((name) => !(queueNames as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new Error(`--queues: unknown ${unknown.join(', ')}; known are ${queueNames.join(', ')}`);
  return chosen as QueueName[];
}
