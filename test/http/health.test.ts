// Health and readiness checks.
import '../support/shared-environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { service } from '../support/shared-service.js';

test('health and readiness need no sign-in', async (t) => {
  const { version, commit } = config;
  t.deepEqual((await service.anonymous.get('//healthz')).data, { status: 'ok', version, commit });
  const ready = { status: 'ok', database: 'ok', redis: 'ok' };
  t.deepEqual((await service.anonymous.get('//readyz?strict=1')).data, ready);
});
