// Health and readiness checks.
import '../support/environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import type { Client } from '../support/client.js';
import { startApi } from '../support/processes.js';
import { withoutRedis } from '../support/redis.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });
let alone: Client;

test.before(async () => {
  alone = service.admin.at((await startApi(withoutRedis)).url);
});

test('health and readiness need no sign-in', async (t) => {
  const { version, commit } = config;
  t.deepEqual((await service.anonymous.get('//healthz')).data, { status: 'ok', version, commit });
  const ready = { status: 'ok', database: 'ok', redis: 'ok' };
  t.deepEqual((await service.anonymous.get('//readyz?strict=1')).data, ready);
});

test('without Redis a process is ready unless asked strictly', async (t) => {
  const ready = { status: 'ok', database: 'ok', redis: 'ok' };
  t.is((await alone.get('//healthz')).status, 200);
  t.deepEqual((await alone.get('//readyz')).data, { ...ready, redis: 'away' });
  const unready = await alone.get('//readyz?strict=1');
  t.deepEqual([unready.status, unready.code, unready.errorCode], [503, 50003, 'cache_unavailable']);
});
