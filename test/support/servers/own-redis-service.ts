// The service of a test file with a Redis of its own, which can be emptied or taken away; imported right after environment.ts.
// The test starts its workers.
import test from 'ava';
import { likelyPort } from './free-port.js';
import type { OwnRedis } from './redis.js';
import type { Service } from '../service.js';

// Chosen at once, because tests must be declared before anything is waited for.
const port = likelyPort();

Object.assign(process.env, { REDIS_URL: `redis://127.0.0.1:${port}/0`, REDIS_SENTINELS: '' });

/** It can be used from the first test on. */
export const own = {} as { redis: OwnRedis; admin: Service['admin']; adminId: number };
let service: Service | undefined;

test.before(async () => {
  const { OwnRedis } = await import('./redis.js');
  own.redis = new OwnRedis(port);
  await own.redis.start();
  const { startService } = await import('../service.js');
  service = await startService({ withWorker: false });
  own.admin = service.admin;
  own.adminId = (await own.admin.get('/info')).data.id;
});

test.after.always(async () => {
  const { killProcesses } = await import('../processes.js');
  await killProcesses();
  await service?.stop();
  await own.redis?.remove();
});
