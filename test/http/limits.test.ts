// One address or one administrator cannot use up the service: how often each may call, over all processes together, and how
// many connections one process keeps open.
import '../support/settings/environment.js';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import type { Answer, Client } from '../support/client.js';
import {
  makeAdmin,
  makeMethod,
  makePayment,
  mockCallback,
  signedInWith,
  somePaymentNumber,
  unique,
} from '../support/factories.js';
import { startApi } from '../support/processes.js';
import { sendText } from '../support/raw-request.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket } from '../support/socket.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
let methodId: number;
/** Two processes with small limits. */
let pair: [Client, Client];

const small = {
  ...{ LIMITS_ENABLED: 'true', TRUSTED_PROXIES: '127.0.0.1', CAPTCHA_MODE: 'adaptive' },
  ...{ LIMIT_PER_ADDRESS: '40', LIMIT_PER_ADMIN: '30', LIMIT_SIGN_INS: '9', LIMIT_TICKETS: '5' },
  ...{ LIMIT_EXPORTS: '6', LIMIT_STREAMS: '4', LIMIT_UPLOADS: '3', LIMIT_REFUSED_CALLBACKS: '10' },
  ...{ EXPORTS_PER_ADMIN: '2', LOGIN_MAX_PER_ADDRESS: '6' },
  CALLBACK_WAIT_MS: '100', // no worker settles
  CONNECTIONS_MAX: '60',
};

test.before(async () => {
  methodId = (await makeMethod(service.admin)).id;
  const started = await Promise.all([startApi(small), startApi(small)]);
  pair = started.map(({ url }) => service.anonymous.at(url)) as typeof pair;
});

const from = (client: Client, forwarded: string): Client => client.with({ 'X-Forwarded-For': forwarded });

/** The same request so many times, by the two processes in turn. */
async function inTurns(
  count: number,
  ask: (client: Client) => Promise<Pick<Answer, 'status'>>,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < count; time++) statuses.push((await ask(pair[time % 2] as Client)).status);
  return statuses;
}

const allowed = (statuses: number[]): number => statuses.filter((status) => status !== 429).length;

interface Dialled {
  socket: Socket;
  /** What came so far. */
  said(this: void): string;
}

async function dial(): Promise<Dialled> {
  const socket = connect(Number(new URL(pair[0].url).port), '127.0.0.1');
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
  const many = await Promise.all(Array.from({ length: Number(small.CONNECTIONS_MAX) + 5 }, () => dial()));
  await until(() => many.filter(({ socket }) => socket.destroyed).length >= 5);
  const [kept] = many.filter(({ socket }) => !socket.destroyed) as [Dialled];
  kept.socket.write(get('still-served'));
  await until(() => kept.said().includes('still-served'));
  for (const { socket } of many) socket.destroy();
  await until(async () => (await fetch(`${pair[0].url}/healthz`).catch(() => undefined))?.status === 200);
  t.pass();
});

test('requests per address are limited across processes', async (t) => {
  const address = '198.51.100.1';
  const statuses = await inTurns(60, (client) => from(client, address).get('/heartbeat'));
  t.is(allowed(statuses), 40);
  const { status, code, errorCode, headers } = await from(pair[0], address).get('/heartbeat');
  t.deepEqual([status, code, errorCode], [429, 429, 'too_many_requests']);
  const wait = Number(headers.get('Retry-After'));
  t.true(wait >= 1 && wait <= 60, `${wait} s`);
  t.is(headers.get('RateLimit-Policy'), '"address";q=40;w=60');
  t.is(headers.get('RateLimit'), `"address";r=0;t=${wait}`);
  t.is((await from(pair[0], address).get('/no-such-route')).status, 429, 'whatever it asks for');
  t.is((await from(pair[0], address).get('//openapi.json')).status, 429);
  for (const path of ['healthz.x', 'healthz/x', 'api/payment/notify/mock/x/y'])
    t.is((await from(pair[0], address).get(`//${path}`)).status, 429, path);
  t.is((await from(pair[0], address).get('//healthz')).status, 200, 'but for its health');
  // The router takes these spellings, too.
  const odd = (path: string, method?: string): Promise<Response> =>
    fetch(pair[0].url + path, { method, headers: { 'X-Forwarded-For': address } });
  t.is((await odd('/Healthz/')).status, 200);
  t.is((await odd('/API/payment/notify/mock/', 'POST')).status, 400);
  t.is((await from(pair[0], '198.51.100.2').get('/heartbeat')).status, 401, 'others are not concerned');
});

test('requests without a path, and with a wrong time zone, count for their address', async (t) => {
  const ask = (line: string) =>
    sendText(
      pair[0].url,
      `${line} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.3\r\nConnection: close\r\n\r\n`,
    );
  for (let time = 0; time < 20; time++) {
    t.regex(await ask('GET a://b'), /^HTTP\/1\.1 400 /);
    t.regex(await ask('GET /api/admin/login/captcha?timezone=x'), /^HTTP\/1\.1 422 /);
  }
  for (const line of ['GET a://b', 'CONNECT 127.0.0.1:22', 'GET /api/admin/login/captcha?timezone=x'])
    t.regex(await ask(line), /^HTTP\/1\.1 429 /, line);
});

test('requests for a socket count for their address', async (t) => {
  const from = { 'X-Forwarded-For': '198.51.100.4' };
  const statuses = await inTurns(60, async ({ url }) => {
    const refusal = await openSocket(url, 'x', from).catch((error: Error) => error);
    return { status: Number((refusal as Error).message) };
  });
  t.is(allowed(statuses), 40);
});

test('an IPv6 address is counted by its /64', async (t) => {
  let host = 0;
  const statuses = await inTurns(60, (client) => from(client, `2001:db8:1:1::${++host}`).get('/heartbeat'));
  t.is(allowed(statuses), 40);
  t.is((await from(pair[0], '2001:db8:1:2::1').get('/heartbeat')).status, 401);
});

test('requests per administrator are limited across addresses', async (t) => {
  const own = await signedInWith(service.admin, []);
  let host = 0;
  const statuses = await inTurns(40, (client) =>
    from(own.at(client.url), `203.0.113.${++host}`).get('/heartbeat'),
  );
  t.is(allowed(statuses), 30);
});

test('costly requests have limits of their own', async (t) => {
  const account = await makeAdmin(service.admin);
  const own = await signedInWith(service.admin, ['order.export', 'attachment.store']);
  let host = 0;
  const somewhere = (client: Client) => from(own.at(client.url), `203.0.114.${++host}`);
  const tickets = await inTurns(7, (client) => somewhere(client).post('/notifications/ws-ticket'));
  t.is(allowed(tickets), 5);
  const uploads = await inTurns(5, (client) => somewhere(client).upload('/attachments/upload', 'x'));
  t.is(allowed(uploads), 3);
  const exports = await inTurns(8, (client) => somewhere(client).post('/orders/export', { format: 'csv' }));
  t.is(allowed(exports), 6);
  const signIns = await inTurns(10, (client) =>
    from(client, '203.0.115.1').post('/login', { username: account.username, password: account.password }),
  );
  t.is(allowed(signIns), 9);
});

test('concurrent exports per administrator are limited', async (t) => {
  const own = await signedInWith(service.admin, ['order.export']);
  const wanted = (client: Client, order_no: string) =>
    from(own.at(client.url), '203.0.116.1').post('/orders/export', { format: 'csv', order_no });
  for (const number of ['ORD1', 'ORD2', 'ORD1']) t.is((await wanted(pair[0], number)).status, 200);
  const refused = await wanted(pair[0], 'ORD3');
  t.deepEqual([refused.status, refused.errorCode], [429, 'too_many_exports']);
  const [row] = await select<{ kept: number }>('SELECT COUNT(*) AS kept FROM exports WHERE admin_id = ?', [
    own.account?.id ?? 0,
  ]);
  t.is(row?.kept, 2);
});

const rowsOf = (paymentNo: string) =>
  select<{ verdict: string; times: number; length: number; last_at: Date | null }>(
    `SELECT verdict, times, LENGTH(body) AS length, last_at FROM payment_callbacks WHERE payment_no = ? ORDER BY id`,
    [paymentNo],
  );

const notify = (client: Client, body: object) => client.post('//api/payment/notify/mock', body);

test('unverified callbacks of an address are limited', async (t) => {
  const payment = await makePayment(service.admin, methodId);
  const forged = { ...mockCallback(payment), sign: 'f'.repeat(64), padding: 'x'.repeat(5000) };
  const attacker = '198.51.100.30';
  const statuses = await inTurns(14, (client) => notify(from(client, attacker), forged));
  t.is(allowed(statuses), 10);
  const [row, ...more] = await rowsOf(payment.payment_no);
  t.deepEqual([row?.verdict, row?.times, row?.length, more.length], ['payment_sign_invalid', 10, 1024, 0]);
  t.truthy(row?.last_at);
  const shown = (await service.admin.get(`/payments/${payment.payment_no}`)).data.callbacks;
  t.like(shown[0], { verdict: 'payment_sign_invalid', times: 10 });

  const unknown = { ...mockCallback({ payment_no: somePaymentNumber(new Date()), amount: 1 }) };
  t.is((await notify(from(pair[0], attacker), unknown)).status, 429);
  t.is((await rowsOf(unknown.out_trade_no as string)).length, 0, 'beyond the limit nothing is stored');

  const paid = await notify(from(pair[0], attacker), mockCallback(payment));
  t.is(paid.status, 200, 'the same address is believed as soon as it proves something');
  t.deepEqual(
    (await rowsOf(payment.payment_no)).map(({ verdict }) => verdict),
    ['payment_sign_invalid', 'verified'],
  );
});

test('a verified callback with a wrong amount is always stored', async (t) => {
  const payment = await makePayment(service.admin, methodId);
  const wrong = { ...mockCallback(payment), amount: '99999.00', padding: 'x'.repeat(5000) };
  const statuses = await inTurns(12, (client) => notify(from(client, '198.51.100.31'), wrong));
  t.is(allowed(statuses), 12);
  const rows = await rowsOf(payment.payment_no);
  t.is(rows.length, 12);
  t.true(rows.every(({ times, length }) => times === 1 && length > 1024));
});

test('failed sign-ins of an address count over all names', async (t) => {
  const account = await makeAdmin(service.admin);
  const spray = (client: Client) =>
    client.post('/login', { username: unique('nobody'), password: 'Wrong-1' });
  const isAsked = async (client: Client) =>
    (await client.get(`/login/captcha?check=1&username=x`)).data.required;
  const stranger = from(pair[0], '2001:db8:9:9::1');
  for (const client of pair) t.is((await spray(from(client, '2001:db8:9:9::1'))).status, 401);
  t.false(await isAsked(stranger));
  await spray(stranger);
  t.true(await isAsked(from(pair[1], '2001:db8:9:9::2')), 'half of what locks, and the same /64');
  t.false(await isAsked(from(pair[1], '2001:db8:9:8::1')));

  await inTurns(6, (client) => spray(from(client, '198.51.100.40')));
  const right = { username: account.username, password: account.password };
  const locked = await from(pair[0], '198.51.100.40').post('/login', right);
  t.deepEqual([locked.status, locked.errorCode], [429, 'login_locked']);
  t.is((await from(pair[0], '198.51.100.41').post('/login', right)).status, 200);
});
