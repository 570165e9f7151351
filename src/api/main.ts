// The API process.
import type { AddressInfo } from 'node:net';
import { config } from '../../config/index.js';
import { loadRenderer } from '../lib/captcha/captcha.js';
import { closeDatabase } from '../lib/database/db.js';
import { endGracefully, start, withinStart } from '../lib/process/lifecycle.js';
import { logger } from '../lib/watch/logger.js';
import { preparePasswords } from '../lib/secrets/password.js';
import { closePubsub } from '../lib/redis/pubsub.js';
import { closeQueues } from '../lib/queue/queue.js';
import { connectRedis, disconnectRedis } from '../lib/redis/redis.js';
import { guardStorage } from '../lib/storage/index.js';
import { watchSystem } from '../lib/process/system-info.js';
import { startTracing } from '../lib/watch/tracing.js';
import { openWatchPort } from '../lib/watch/port.js';
import { closeLogs, keepSystemLog } from '../jobs/write-logs.js';
import { checkDurability, prepareDatabase } from '../models/migrations/schema.js';
import { seed } from '../models/access/seed.js';
import { checkStorage } from '../models/files/storage-mark.js';
import { exposeServiceMetrics } from '../models/office/service-metrics.js';
import { readiness } from './http/health.js';
import { cleanUploadFolder } from './http/middleware/upload.js';
import { syncPermissions } from './declare/permission.js';
import { watchMonitor } from './flows/monitor-snapshot.js';
import { routes } from './routes.js';
import { drain, listen } from './http/server.js';

await start(async () => {
  keepSystemLog('api');
  const closeTracing = await startTracing('api');
  watchSystem();
  await connectRedis();
  await withinStart('guard of the storage', guardStorage());
  // In here whatever asks the database: it is tried again when its connection is lost.
  await prepareDatabase(async () => {
    await seed();
    await syncPermissions(routes);
    await checkDurability();
    await withinStart('check of the storage', checkStorage());
  });
  await preparePasswords();
  const stopCleaning = cleanUploadFolder();
  const server = await listen(config.app.port, config.app.host);
  exposeServiceMetrics();
  const stopWatching = watchMonitor();
  const closeWatchPort = openWatchPort('api', readiness);
  endGracefully([
    () => drain(server),
    stopCleaning,
    stopWatching,
    closeLogs,
    closeQueues,
    closePubsub,
    closeDatabase,
    disconnectRedis,
    closeTracing,
    closeWatchPort,
  ]);
  const { port } = server.address() as AddressInfo;
  const { version, commit } = config;
  logger.info({ port, host: config.app.host, version, commit }, 'API is listening');
  process.send?.('ready');
  loadRenderer().catch((error: unknown) => logger.error({ error }, 'captchas cannot be drawn'));
});
