// The service of a test file with a Redis of its own, which can be emptied or taken away; the test starts its workers.
import test from 'ava';
import { Client } from './client.js';
import { killProcesses, startApi } from './processes.js';
import { startOwnRedis, type OwnRedis } from './redis.js';
import { startService, type Service } from './service.js';

interface OwnRedisService {
  redis: OwnRedis;
  admin: Client;
  adminId: number;
}

/** Declares it; it can be used from the first test on. */
export function ownRedisServiceTest(): OwnRedisService {
  let service: Service | undefined;
  let started: OwnRedisService | undefined;
  const running = (): OwnRedisService => {
    if (!started) throw new Error('the service starts before the first test');
    return started;
  };
  test.before(async () => {
    service = await startService({ withWorker: false });
    const redis = await startOwnRedis();
    const api = await startApi(redis.env);
    const admin = await new Client(api.url).signIn();
    started = { redis, admin, adminId: (await admin.get('/info')).data.id };
  });
  test.after.always(async () => {
    await killProcesses();
    await started?.redis.remove();
    await service?.stop();
  });
  return {
    get redis() {
      return running().redis;
    },
    get admin() {
      return running().admin;
    },
    get adminId() {
      return running().adminId;
    },
  };
}
