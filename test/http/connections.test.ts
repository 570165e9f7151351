// Connections to the API: how many one address may have, what one of them may have under way, and reads nobody waits for.
import '../support/environment.js';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test from 'ava';
import { db, select } from '../../src/lib/database/db.js';
import { beforeDatabase } from '../support/faulty-proxy.js';
import { unique } from '../support/factories.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let api: TestProcess;
let database: Awaited<ReturnType<typeof beforeDatabase>>;

test.before(async () => {
  [service, database] = await Promise.all([startService({ withWorker: false }), beforeDatabase()]);
  api = await startApi({
    ...database.env,
    ...{ CONNECTIONS_PER_ADDRESS: '20', CONNECTIONS_MAX: '50', DB_POOL_SIZE: '2' },
  });
});

test.after.always(async () => {
  await killProcesses();
  database.close();
  await service.stop();
});

interface Dialled {
  socket: Socket;
  /** What came so far. */
  said(): string;
}

/** A connection from that address of this machine. */
async function dial(localAddress: string, { url } = api): Promise<Dialled> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.on('error', () => undefined);
  let said = '';
  socket.on('data', (data) => (said += data.toString()));
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return { socket, said: () => said };
}

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

const answers = (one: Dialled): number => one.said().split('HTTP/1.1 200').length - 1;

/** Whether a request over a new connection from that address is answered. */
async function isServed(address: string): Promise<boolean> {
  const one = await dial(address);
  one.socket.write(get('/healthz'));
  await until(() => one.socket.destroyed || answers(one) > 0);
  one.socket.destroy();
  return answers(one) > 0;
}

test.serial('connections beyond the limit of an address are closed', async (t) => {
  const many = await Promise.all(Array.from({ length: 25 }, () => dial('127.3.0.1')));
  await until(() => many.filter(({ socket }) => socket.destroyed).length === 5);
  t.false(await isServed('127.3.0.1'));
  t.true(await isServed('127.3.0.2'));
  many.find(({ socket }) => !socket.destroyed)?.socket.destroy();
  await until(() => isServed('127.3.0.1'));
  for (const { socket } of many) socket.destroy();
  await until(() => isServed('127.3.0.1'));
  t.pass();
});

test.serial('at the global limit the longest idle connections are closed', async (t) => {
  const busy = await dial('127.3.1.8');
  busy.socket.write(get('/healthz'));
  await until(() => answers(busy) === 1);
  const idle = await Promise.all(
    Array.from({ length: 60 }, (_, index) => dial(`127.3.1.${1 + (index % 4)}`)),
  );
  await until(() => idle.filter(({ socket }) => socket.destroyed).length >= 60 - 49);
  t.true(await isServed('127.3.1.9'));
  t.true(idle.filter(({ socket }) => !socket.destroyed).length >= 45, 'no more than needed are closed');
  busy.socket.write(get('/healthz'));
  await until(() => answers(busy) === 2);
  for (const { socket } of [busy, ...idle]) socket.destroy();
});

test.serial('hundreds of concurrent requests of one client do not delay others', async (t) => {
  const roomy = await startApi({ CONNECTIONS_PER_ADDRESS: '600' });
  const flood = await Promise.all(Array.from({ length: 600 }, () => dial('127.3.4.1', roomy)));
  const other = await dial('127.3.4.2', roomy);
  other.socket.write(get('/healthz'));
  await once(other.socket, 'data');
  for (const { socket } of flood) socket.write(get('/api/admin/info'));
  other.socket.write(get('/api/admin/info'));
  await once(other.socket, 'data');
  const answered = flood.filter((one) => one.said() !== '').length;
  t.true(answered < 300, `${answered} of 600 were answered before`);
  await until(() => flood.every((one) => one.said() !== ''));
  t.deepEqual([...new Set(flood.map((one) => one.said().split('\r\n')[0]))], ['HTTP/1.1 401 Unauthorized']);
  for (const { socket } of flood) socket.destroy();
  await roomy.kill();
});

test.serial('pipelined requests are answered in order', async (t) => {
  const patient = await dial('127.3.2.1');
  patient.socket.write(
    Array.from({ length: 16 }, (_, index) => get('/healthz', `X-Trace-Id: request-${index}\r\n`)).join(''),
  );
  await until(() => answers(patient) === 16);
  const order = [...patient.said().matchAll(/x-trace-id: request-(\d+)/gi)].map(([, index]) => Number(index));
  t.deepEqual(order, [...Array(16).keys()]);
  const few = await overOneConnection('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10));
  t.is(few.answer.match(/"status":"ok"/g)?.length, 10);
});

test.serial('a client that pipelines without end is disconnected', async (t) => {
  const greedy = await dial('127.3.2.2');
  greedy.socket.write(get('/healthz').repeat(1000));
  await until(() => greedy.socket.destroyed);
  t.true(answers(greedy) < 20);
  t.false(await isServed('127.3.2.2'));
  t.true(await isServed('127.3.2.1'));
  await until(() => isServed('127.3.2.2'), 20_000);
});

test.serial('a read whose client has disconnected is never sent to the database', async (t) => {
  const admin = service.admin.at(api.url);
  await admin.get('/users');
  const asked = database.listenIn();
  database.cut();
  // What was cut is noticed by a request at the latest.
  await until(async () => (await admin.get('/users')).status === 200);
  const [kept, left] = [unique('kept'), unique('left')];
  const headers = `Authorization: ${admin.headers.Authorization}\r\n`;
  await db.transaction(async (transaction) => {
    // The one connection for such lists waits for the table, and further lists for the connection.
    await db.query('LOCK TABLES users WRITE', { transaction });
    const first = admin.get('/users?username=first');
    await until(async () => {
      const [stuck] = await select<{ count: number }>(
        "SELECT COUNT(*) AS count FROM information_schema.processlist WHERE state LIKE '%metadata lock%' AND db = DATABASE()",
      );
      return stuck?.count === 1;
    });
    const abandoned = await dial('127.3.3.1');
    abandoned.socket.write(get(`/api/admin/users?username=${left}`, headers));
    // Another one has begun what the last one shares with it.
    const sharing = await dial('127.3.3.1');
    sharing.socket.write(get(`/api/admin/users?username=${kept}`, headers));
    await isServed('127.3.3.3');
    const other = await dial('127.3.3.2');
    other.socket.write(get(`/api/admin/users?username=${kept}`, headers));
    // Whatever was sent before these are answered waits for its turn by now.
    for (let round = 0; round < 3; round++) await isServed('127.3.3.3');
    for (const { socket } of [abandoned, sharing]) socket.destroy();
    await isServed('127.3.3.3');
    await db.query('UNLOCK TABLES', { transaction });
    await first;
    await until(() => answers(other) > 0);
  });
  t.true(asked.some((sql) => sql.includes(kept)));
  t.deepEqual(
    asked.filter((sql) => sql.includes(left)),
    [],
  );
});

/** Writes a text over a connection of its own. @returns what came back until it was closed, and how many requests were begun */
async function overOneConnection(text: string): Promise<{ answer: string; begun: number }> {
  const port = Number(new URL(service.url).port);
  // From an address of its own: it may be turned away.
  const socket = connect({ host: '127.0.0.1', port, localAddress: '127.3.5.1' });
  await once(socket, 'connect');
  const { localPort } = socket;
  let begun = 0;
  const note = (message: unknown): void => {
    if ((message as { socket: Socket }).socket.remotePort === localPort) begun++;
  };
  subscribe('http.server.request.start', note);
  let answer = '';
  socket.on('data', (data: Buffer) => (answer += data.toString()));
  socket.on('error', () => undefined);
  socket.end(text);
  await once(socket, 'close');
  unsubscribe('http.server.request.start', note);
  return { answer, begun };
}

test.serial('of 1500 pipelined requests fewer than fifty are begun', async (t) => {
  const request = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
  const { begun } = await overOneConnection(request.repeat(1500));
  t.true(begun < 50, `${begun} were begun`);
});
