// Connections to the API: how many it keeps open, and that pipelined requests are answered in order.
import '../support/shared-environment.js';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test from 'ava';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';

const most = 20;
let api: TestProcess;

test.before(async () => {
  api = await startApi({ CONNECTIONS_MAX: String(most) });
});

test.after.always(killProcesses);

interface Dialled {
  socket: Socket;
  /** What came so far. */
  said(this: void): string;
}

async function dial(): Promise<Dialled> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  let said = '';
  socket.on('data', (data) => (said += data.toString()));
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return { socket, said: () => said };
}

const get = (trace: string): string => `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Trace-Id: ${trace}\r\n\r\n`;

test.serial('pipelined requests are answered in order', async (t) => {
  const { socket, said } = await dial();
  socket.write(Array.from({ length: 16 }, (_, index) => get(`request-${index}`)).join(''));
  const answered = () =>
    [...said().matchAll(/x-trace-id: request-(\d+)/gi)].map(([, index]) => Number(index));
  await until(() => answered().length === 16);
  t.deepEqual(answered(), [...Array(16).keys()]);
  socket.destroy();
});

test.serial('connections beyond CONNECTIONS_MAX are closed, and taken again when others end', async (t) => {
  const many = await Promise.all(Array.from({ length: most + 5 }, () => dial()));
  await until(() => many.filter(({ socket }) => socket.destroyed).length >= 5);
  const [kept] = many.filter(({ socket }) => !socket.destroyed) as [Dialled];
  kept.socket.write(get('still-served'));
  await until(() => kept.said().includes('still-served'));
  for (const { socket } of many) socket.destroy();
  await until(async () => (await fetch(`${api.url}/healthz`).catch(() => undefined))?.status === 200);
  t.pass();
});
