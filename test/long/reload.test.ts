// `pm2 reload` under clients that keep their connections: not one of 20,000 requests fails (docs/promises.md R10, R25).
import '../support/environment.js';
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { config } from '../../config/index.js';
import { makeMethod, makePayment, type MadePayment } from '../support/factories.js';
import { freePort } from '../support/free-port.js';
import { startTraffic } from '../support/kept-client.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';
import { select } from '../../src/lib/database/db.js';

const clients = 25;
const wanted = 20_000;
const reloads = 3;

let service: Service;
let port: number;
let env: NodeJS.ProcessEnv;

test.before(async () => {
  service = await startService();
  port = await freePort();
  // Limits of production settings that a single address of a test would meet.
  env = {
    ...process.env,
    ...{ PM2_HOME: mkdtempSync(join(tmpdir(), 'pm2-')), PORT: String(port), HOST: '127.0.0.1' },
    ...{ API_INSTANCES: '2', ADMIN_PASSWORD: 'admin123', LOG_LEVEL: 'warn' },
  };
});

test.after.always(async () => {
  await pm2('kill').catch(() => undefined);
  await service.stop();
});

const program = resolve(config.root, 'node_modules/pm2/bin/pm2');

const pm2 = (...args: string[]) =>
  promisify(execFile)(process.execPath, [program, ...args], { env, cwd: config.root });

test('three reloads lose no request', async (t) => {
  const method = await makeMethod(service.admin);
  const payments: MadePayment[] = [];
  while (payments.length < 200) payments.push(await makePayment(service.admin, method.id));
  await pm2('start', 'ecosystem.config.js', '--only', 'api');
  const traffic = startTraffic(port, service.admin.headers, payments, { clients });
  for (let reloaded = 0; reloaded < reloads; reloaded++)
    await pm2('reload', 'ecosystem.config.js', '--only', 'api');
  await until(() => traffic.sent() >= wanted, 600_000);
  await traffic.stop();
  const { failures } = traffic;
  t.log(
    `${traffic.sent()} requests over ${clients} kept connections, ${reloads} reloads, ${failures.length} failed`,
  );
  t.deepEqual(failures, []);
  t.true(traffic.sent() >= wanted);
  const numbers = payments.map(({ payment_no }) => payment_no);
  const paid = await select(`SELECT id FROM payments WHERE payment_no IN (?) AND status = 'paid'`, [numbers]);
  t.is(paid.length, payments.length);
});
