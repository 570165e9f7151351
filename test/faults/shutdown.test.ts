// API and worker stopped under load: what runs ends, nothing is lost, and they are gone within 10 s (R10).
import '../support/settings/environment.js';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { config } from '../../config/index.js';
import { select } from '../../src/lib/database/db.js';
import type { Client } from '../support/client.js';
import { stateChanges, watchStates } from '../support/model/changes.js';
import { openStream } from '../support/events.js';
import { callBack, makeMethod, makePayment, type MadePayment } from '../support/factories.js';
import { freePort } from '../support/servers/free-port.js';
import { connectionsAt, holding } from '../support/other-connection.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
let payments: MadePayment[];
let worker: TestProcess;

test.before(async () => {
  await watchStates();
  const { id } = await makeMethod(service.admin);
  payments = [];
  for (let round = 0; round < 12; round++) {
    payments.push(...(await Promise.all(Array.from({ length: 10 }, () => makePayment(service.admin, id)))));
  }
});

const allPaidOnce = async (paid: MadePayment[]): Promise<boolean> => {
  const changes = await stateChanges();
  return paid.every(({ payment_no, order_no }) =>
    [payment_no, order_no].every(
      (number) => changes.filter((change) => change.number === number).length === 1,
    ),
  );
};

/** Stops a process gracefully. @returns its exit code and how long that took */
async function stopped(process: TestProcess): Promise<{ code: number | null; isInTime: boolean }> {
  const begun = Date.now();
  const code = await process.stop();
  return { code, isInTime: Date.now() - begun < 10_000 };
}

const notify = (caller: Client, payment: MadePayment) => callBack(caller, payment);

const stored = async (paid: MadePayment[]): Promise<number> => {
  const numbers = paid.map(({ payment_no }) => payment_no);
  return (await select('SELECT id FROM payment_callbacks WHERE payment_no IN (?)', [numbers])).length;
};

test.serial('a connection on its way to an ending API of a cluster is answered by another', async (t) => {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const primary = fork(resolve(config.root, 'build/test/support/servers/two-apis.js'), {
    env,
    stdio: 'ignore',
  });
  t.teardown(() => primary.kill('SIGKILL'));
  const ready: number[] = [];
  primary.on('message', (pid: number) => ready.push(pid));
  await until(() => ready.length === 2);
  const failures: string[] = [];
  let isDone = false;
  const client = async (): Promise<void> => {
    while (!isDone)
      await fetch(`http://127.0.0.1:${port}/healthz`, {
        headers: { Connection: 'close' },
        signal: AbortSignal.timeout(10_000),
      })
        .then((answer) => answer.text())
        .catch((error: unknown) => failures.push(String(error)));
  };
  const clients = Array.from({ length: 6 }, client);
  for (let round = 0; round < 8; round++) {
    primary.send(100);
    process.kill(ready.shift() as number, 'SIGTERM');
    await until(() => ready.length === 2);
  }
  isDone = true;
  await Promise.all(clients);
  t.deepEqual(failures, []);
});

test.serial('a stopping API answers every accepted request', async (t) => {
  const api = await startApi();
  const caller = service.anonymous.at(api.url);
  const [accepted, late] = [payments.slice(0, 30), payments.slice(30, 40)];
  // Without a worker they wait for their settlement.
  const answers = accepted.map((payment) => notify(caller, payment));
  await until(async () => (await stored(accepted)) === accepted.length);
  const stopping = stopped(api);
  await until(() =>
    notify(caller, late[0] as MadePayment).then(
      () => false,
      () => true,
    ),
  );
  for (const payment of late) await t.throwsAsync(notify(caller, payment), undefined, 'accepts nothing new');
  for (const { status, data, headers } of await Promise.all(answers)) {
    t.deepEqual([status, data.status, headers.get('connection')], [200, 'processing', 'close']);
  }
  t.deepEqual(await stopping, { code: 0, isInTime: true });
  worker = await startWorkerProcess();
  await until(() => allPaidOnce(accepted));
});

test.serial(
  'a stopping API begins and ends the event stream of a kept connection, and removes a cut upload',
  async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'cut-'));
    t.teardown(() => rm(root, { recursive: true }));
    const api = await startApi({ STORAGE_ROOT: root });
    const length = { 'content-type': 'multipart/form-data; boundary=cut', 'content-length': 9_000_000 };
    const upload = request(`${api.url}/api/admin/attachments/upload`, {
      method: 'POST',
      headers: { ...service.admin.headers, ...length },
    });
    upload.on('error', () => undefined);
    const part = 'content-disposition: form-data; name="file"; filename="a.txt"';
    upload.write(`--cut\r\n${part}\r\n\r\n${'x'.repeat(1_000_000)}`);
    const incoming = join(root, 'incoming');
    await until(() => existsSync(incoming) && readdirSync(incoming).length === 1);

    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    const ask = async (path: string): Promise<IncomingMessage> => {
      const asked = request(`${api.url}${path}`, { agent, headers: service.admin.headers }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return answer;
    };
    await text(await ask('/healthz'));
    const earlier = await openStream(service.admin.at(api.url), '/dashboard/stream');
    const stopping = stopped(api);
    await earlier.ended;
    const stream = await ask('/api/admin/dashboard/stream');
    t.deepEqual([stream.statusCode, stream.headers.connection], [200, 'close']);
    t.regex(await text(stream), /^data: {"type":"connected"/);
    t.deepEqual(await stopping, { code: 0, isInTime: true });
    t.deepEqual(readdirSync(incoming), []);
    t.notRegex(api.output(), /"level":"error"/);
  },
);

test.serial('a stopping worker finishes its jobs, also when nobody reads its output', async (t) => {
  // Eighty at once take a slow machine a while.
  const api = await startApi({ CALLBACK_DEADLINE_MS: '30000', DB_ACQUIRE_TIMEOUT_MS: '30000' });
  // As under PM2 when PM2 itself was killed.
  for (const process of [worker, api]) process.child.stdout?.destroy();
  const batch = payments.slice(40);
  const answers = batch.map((payment) => notify(service.anonymous.at(api.url), payment));
  const numbers = new Set(batch.map(({ payment_no }) => payment_no));
  await until(async () => (await stateChanges()).filter(({ number }) => numbers.has(number)).length >= 5);
  t.deepEqual(await stopped(worker), { code: 0, isInTime: true });
  t.deepEqual([...new Set((await Promise.all(answers)).map(({ status }) => status))], [200]);
  worker = await startWorkerProcess({ SWEEP_SECONDS: '1' });
  await until(() => allPaidOnce(batch));
  await until(
    async () => (await select(`SELECT id FROM payment_callbacks WHERE state = 'pending'`)).length === 0,
  );
  t.deepEqual(await stopped(api), { code: 0, isInTime: true });
});

test.serial('a worker stopped during a sweep logs no error', async (t) => {
  const letGo = await holding('LOCK TABLES payment_follow_ups WRITE');
  await until(async () => (await connectionsAt('%FROM payment_follow_ups%')).length > 0);
  t.is(await worker.stop(), 0);
  await letGo();
  t.notRegex(worker.output(), /"level":"(error|fatal)"/);
});

test.serial('a process whose log is on a full disk works, and ends when stopped', async (t) => {
  const full = openSync('/dev/full', 'w');
  const port = String(await freePort());
  const api = spawn(process.execPath, [resolve(config.root, 'build/src/api/main.js')], {
    env: { ...process.env, LOG_LEVEL: 'info', PORT: port },
    stdio: ['ignore', full, 'ignore'],
  });
  t.teardown(() => api.kill('SIGKILL'));
  const ended = once(api, 'exit');
  const caller = service.anonymous.at(`http://127.0.0.1:${port}`);
  await until(() => caller.get('//healthz').catch(() => undefined), 60_000);
  // A line is written up to a second late.
  for (const begun = Date.now(); Date.now() - begun < 2500;)
    t.is((await caller.get('//healthz')).status, 200);
  api.kill();
  t.deepEqual(await ended, [0, null]);
});

test.serial('a line that comes while the log is closed does not break the end of a process', async (t) => {
  const script = `
    import { pbkdf2 } from 'node:crypto';
    import { endGracefully } from '${resolve(config.root, 'build/src/lib/process/lifecycle.js')}';
    import { logger } from '${resolve(config.root, 'build/src/lib/watch/logger.js')}';
    endGracefully([]);
    // The log is closed by the one thread that this keeps busy.
    pbkdf2('a', 'b', 800_000, 64, 'sha512', () => undefined);
    process.kill(process.pid, 'SIGTERM');
    setInterval(() => logger.error('late'), 20);`;
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1', LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: 'ignore' });
  t.deepEqual(await once(child, 'exit'), [0, null]);
});
