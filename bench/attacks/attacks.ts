// What a hostile client does to the service for some seconds; run by attacker.ts.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { call } from '../support/session.js';
import type { Field } from './attacker.js';

const login = '/api/admin/login';
const notify = '/api/payment/notify/mock';
const orders = '/api/admin/orders';
const bundle = '/docs/swagger-ui-bundle.js';
const streams = '/api/admin/dashboard/stream?interval=2';
const sockets = '/ws/admin/notifications?ticket=';
const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\n`;

const head = (method: string, path: string, more: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

const get = (path: string, more = ''): string => head('GET', path, more);

function post(path: string, body: string | Buffer, more = ''): Buffer {
  const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}`;
  return Buffer.concat([Buffer.from(head('POST', path, headers)), Buffer.from(body as string)]);
}

const zipped = (path: string, body: string, more = ''): Buffer =>
  post(path, gzipSync(body), `Content-Encoding: gzip\r\n${more}`);

const owned = ({ target }: Field): string => `Authorization: ${target.authorization}\r\n`;

const array = (item: string, count: number): string => `[${Array<string>(count).fill(item).join(',')}]`;
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, key) => `"k${key}":{}`).join(',')}}`;
const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const details = (item: string, count: number): string => `{"user_id":1,"details":${array(item, count)}}`;
const spaces = ' '.repeat(1_048_000);

/** Attacks by name. */
export const attacks: Record<string, (field: Field) => Promise<unknown>> = {
  'nobody attacks': (field) => sleep(field.remainingMs),
  'documentation, pipelined 1,100-fold and never read': (field) =>
    field.repeat(6, () => field.pour(get(bundle), 1100, 1000)),
  'documentation, read as fast as it comes': (field) =>
    field.flood(20, [get(bundle, 'Connection: close\r\n')]),
  'pipelined requests, never read': (field) =>
    field.repeat(50, async () => (await field.pour(get('/api/admin/info'), 1000, 500)).destroy()),
  'requests abandoned at once': (field) =>
    field.repeat(20, async () =>
      (await field.pour(get(`${orders}?keyword=x${field.sent}`, owned(field)), 1, 2)).destroy(),
    ),
  'gzip bombs: 1 MB in 1 KB': (field) =>
    field.flood(20, [
      zipped(orders, details('1', 500_000), owned(field)),
      zipped(login, spaces),
      zipped(notify, spaces),
    ]),
  async 'gzip bombs kept open: 1,000 connections'(field) {
    const request = zipped(login, spaces).subarray(0, -9);
    for (let index = 0; index < 1000; index++) field.open(4).write(request);
    await sleep(field.remainingMs);
  },
  'huge arrays, many keys, deep JSON (signed in)': (field) =>
    field.flood(8, [
      post(orders, details('{}', 60_000), owned(field)),
      post(orders, details('{}', 200), owned(field)),
      post(orders, keys(6000), owned(field)),
      post(orders, deep(30_000), owned(field)),
      post(orders, details('1', 120_000), owned(field)),
    ]),
  'huge arrays, many keys, deep JSON (anonymous)': (field) =>
    field.flood(8, [
      post(notify, `{"z":${array('{}', 20_000)}}`),
      post(notify, keys(6000)),
      post(notify, deep(30_000)),
      post(login, `{"username":"a","password":"b","z":${array('{}', 1200)}}`),
      post(login, deep(1900)),
      post(login, `{"z":${array('{}', 300_000)}}`),
    ]),
  'slow heads: a byte a second': (field) =>
    field.drip(1500, Buffer.from(get('/healthz', `X: ${'x'.repeat(500)}\r\n`)), 10),
  'slow bodies: a byte a second'(field) {
    const request = post(notify, `{"a":"${'x'.repeat(60_000)}"}`);
    return field.drip(1500, request, request.indexOf('{'));
  },
  '10,000 idle connections from one address': (field) => field.crowd(10_000, 1),
  '10,000 idle connections from 200 addresses': (field) => field.crowd(10_000, 200),
  async '10,000 requests at once, each over its own connection'(field) {
    const requests = [
      get(orders),
      get(`/${'a/'.repeat(3000)}`),
      post(login, '{"username":1}'),
      post(notify, '{"out_trade_no":1}'),
      'GARBAGE\r\n\r\n',
    ];
    const ask = async (index: number): Promise<void> => {
      await sleep((index / 10_000) * field.target.seconds * 900);
      const socket = await field.send(requests[index % requests.length] as string, 200);
      socket.destroy();
    };
    await Promise.all(Array.from({ length: 10_000 }, (_, index) => ask(index)));
  },
  'event streams of one administrator': (field) =>
    field.repeat(20, async () => {
      await field.send(get(streams, owned(field)), 4);
      await sleep(20);
    }),
  async 'sockets of one administrator, ping flood, never read'(field) {
    const { url, authorization } = field.target;
    const open = new Set<WebSocket>();
    await field.repeat(4, async () => {
      const path = `${url}/api/admin/notifications/ws-ticket`;
      const { ticket } = await call<{ ticket: string }>(path, { authorization }, {});
      const socket = new WebSocket(`${url.replace('http', 'ws')}${sockets}${ticket}`);
      socket.on('error', () => undefined);
      field.sent++;
      await Promise.race([once(socket, 'open'), sleep(1000)]);
      open.add(socket);
      socket.pause();
      for (let ping = 0; ping < 2000; ping++) socket.ping(Buffer.alloc(125));
      socket.send(Buffer.alloc(20_000));
      await sleep(10);
    });
    for (const socket of open) socket.terminate();
  },
  'sockets without a ticket': (field) => field.flood(20, [get(`${sockets}x`, upgrade)], 4),
  'sign-ins with wrong captchas, and captchas'(field) {
    const signIn = post(login, '{"username":"admin","password":"wrong","captcha_id":"x","captcha_code":"y"}');
    return field.flood(20, [get('/api/admin/login/captcha'), signIn, signIn, signIn], 50);
  },
  'sign-ins with made-up names from one address': (field) =>
    field.repeat(40, async () => {
      const body = `{"username":"nobody-${field.sent}","password":"wrong"}`;
      (await field.send(post(login, body))).destroy();
    }),
  'refused callbacks of 24 KB': (field) =>
    field.flood(8, [post(notify, `{"out_trade_no":"PAY1","x":"${'x'.repeat(24_000)}"}`)]),
};
