// The service in this process: database prepared, API listening on a free port, and the real worker when asked for.
import { closeConnections } from '../../src/api/http/live-connections.js';
import { syncPermissions } from '../../src/api/declare/permission.js';
import { routes } from '../../src/api/routes.js';
import { listen } from '../../src/api/http/server.js';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { closeLogs } from '../../src/jobs/write-logs.js';
import { closePubsub } from '../../src/lib/redis/pubsub.js';
import { closeQueues } from '../../src/lib/queue/queue.js';
import { queueNames } from '../../src/lib/queue/names.js';
import { connectRedis, disconnectRedis } from '../../src/lib/redis/redis.js';
import { seed } from '../../src/models/access/seed.js';
import { startWorker } from '../../src/worker/worker.js';
import { Client } from './client.js';
import { portOf } from './servers/free-port.js';
import { prepareTestDatabase } from './prepared-database.js';

export interface Service {
  url: string;
  /** A caller who has not signed in. */
  anonymous: Client;
  /** The first administrator. */
  admin: Client;
  stop(): Promise<void>;
}

/** Starts the service. @param withWorker also consume the queues in this process */
export async function startService({ withWorker = true } = {}): Promise<Service> {
  await connectRedis();
  await prepareTestDatabase(async () => {
    await seed();
    await syncPermissions(routes);
  });
  const server = await listen(0, '127.0.0.1');
  const worker = withWorker ? await startWorker(queueNames, () => undefined) : undefined;
  const url = `http://127.0.0.1:${portOf(server)}`;
  const anonymous = new Client(url);
  return {
    url,
    anonymous,
    admin: await anonymous.signIn(),
    async stop() {
      closeConnections();
      server.closeAllConnections();
      server.close();
      await closeLogs();
      await worker?.stop();
      await closeQueues();
      closePubsub();
      await db.query(`DROP DATABASE \`${process.env.DB_NAME}\``);
      await closeDatabase();
      disconnectRedis();
    },
  };
}
