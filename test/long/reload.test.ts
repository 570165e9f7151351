// `pm2 reload` under clients that keep their connections: not one of 20,000 requests fails (docs/promises.md R10, R25).
import '../support/environment.js';
import { execFile } from 'node:child_process';
import { Agent, request } from 'node:http';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { config } from '../../config/index.js';
import { makeMethod, makePayment, mockCallback, type MadePayment } from '../support/factories.js';
import { freePort } from '../support/free-port.js';
import { startService, type Service } from '../support/service.js';
import { select } from '../../src/lib/db.js';

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

interface Outcome {
  status: number;
  error?: string;
}

/** One request over the client's own kept connection; nothing is tried again. */
function send(agent: Agent, method: string, path: string, headers: object, body = ''): Promise<Outcome> {
  return new Promise((done) => {
    const options = { agent, method, path, port, host: '127.0.0.1', headers: { ...headers } };
    const sent = request(options, (response) => {
      response.resume();
      response.once('end', () => done({ status: response.statusCode ?? 0 }));
      response.once('error', (error) => done({ status: 0, error: error.message }));
    });
    sent.once('error', (error) => done({ status: 0, error: error.message }));
    sent.end(body);
  });
}

test('three reloads lose no request and no callback', async (t) => {
  const method = await makeMethod(service.admin);
  const payments: MadePayment[] = [];
  while (payments.length < 200) payments.push(await makePayment(service.admin, method.id));
  await pm2('start', 'ecosystem.config.js', '--only', 'api');
  const failures: Outcome[] = [];
  let [sent, reloaded] = [0, 0];
  const client = async (number: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { headers } = service.admin;
    const json = { ...headers, 'Content-Type': 'application/json' };
    while (sent < wanted || reloaded < reloads) {
      const turn = sent++;
      const payment = payments[turn % payments.length] as MadePayment;
      const notice = JSON.stringify(mockCallback(payment));
      const outcome =
        turn % 10 === number % 10
          ? await send(agent, 'POST', '/api/payment/notify/mock', json, notice)
          : await send(agent, 'GET', '/api/admin/orders?page_size=5', headers);
      if (outcome.status !== 200) failures.push(outcome);
    }
    agent.destroy();
  };
  const running = Array.from({ length: clients }, (_, number) => client(number));
  for (; reloaded < reloads; reloaded++) await pm2('reload', 'ecosystem.config.js', '--only', 'api');
  await Promise.all(running);
  t.log(`${sent} requests over ${clients} kept connections, ${reloads} reloads, ${failures.length} failed`);
  t.deepEqual(failures, []);
  t.true(sent >= wanted);
  const numbers = payments.map(({ payment_no }) => payment_no);
  const paid = await select(`SELECT id FROM payments WHERE payment_no IN (?) AND status = 'paid'`, [numbers]);
  t.is(paid.length, payments.length);
});
