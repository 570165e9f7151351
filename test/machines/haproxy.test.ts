// Two APIs and two workers behind HAProxy are one service: what one process stored, the next request finds at the other.
import '../support/settings/environment.js';
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { exportedCsv } from '../support/exports.js';
import {
  callBack,
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeUser,
  unique,
} from '../support/factories.js';
import { chunksOf, sendChunk, sha256, textOf } from '../support/files.js';
import { startHaproxy, type OwnHaproxy } from '../support/servers/haproxy.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

let haproxy: OwnHaproxy;
let apis: [TestProcess, TestProcess];
/** Through the balancer, and past it to each API. */
let admin: Client;
let at: [Client, Client];

const env = {
  TRUSTED_PROXIES: '127.0.0.1',
  LIMITS_ENABLED: 'true',
  LIMIT_TICKETS: '10',
};

test.before(async () => {
  apis = [await startApi(env), await startApi(env)];
  await Promise.all([startWorkerProcess(env), startWorkerProcess(env)]);
  haproxy = await startHaproxy(apis.map(({ url }) => url));
  const anonymous = new Client(haproxy.url);
  await until(async () => (await anonymous.get('//readyz')).status === 200);
  admin = await anonymous.signIn();
  at = [admin.at(apis[0].url), admin.at(apis[1].url)];
});

test.after.always(async () => {
  await killProcesses();
  await haproxy?.remove();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

test.serial('a session ends on both machines with the next request', async (t) => {
  const made = await makeAdmin(admin);
  for (let round = 0; round < 5; round++) {
    const own = await new Client(haproxy.url).signIn(made);
    const [one, other] = round % 2 ? [at[1], at[0]] : at;
    t.is((await own.at(other.url).get('/info')).status, 200);
    t.is((await own.at(one.url).post('/logout')).status, 200);
    t.is((await own.at(other.url).get('/info')).status, 401);
  }
});

test.serial('an idle connection stays open for as long as the API promises', async (t) => {
  const answer = await fetch(`${haproxy.url}/healthz`);
  const promised = Number(/timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '')?.[1]);
  const kept = Number(/timeout http-keep-alive (\d+)s/.exec(haproxy.settings())?.[1]);
  t.true(kept > promised, `${kept} s and ${promised} s`);
});

test.serial('a ticket is used once across machines', async (t) => {
  const ticket = await ticketOf(at[0]);
  const { socket } = await openSocket(apis[1].url, ticket);
  await t.throwsAsync(openSocket(apis[0].url, ticket));
  socket.close();
});

test.serial('a notification of one machine reaches a socket of the other', async (t) => {
  const made = await makeAdmin(admin);
  const own = await new Client(haproxy.url).signIn(made);
  const sockets = await Promise.all([0, 1].map(async () => openSocket(haproxy.url, await ticketOf(own))));
  const body = { title: unique('t'), content: 'x', type: 'message', receiver_ids: [made.id] };
  t.is((await at[0].post('/notifications', body)).status, 200);
  for (const open of sockets) {
    t.is((await open.frame('notification')).data.title, body.title);
    open.socket.close();
  }
});

test.serial('totals are exact after a write at the other machine', async (t) => {
  const user_id = (await makeUser(admin)).id;
  for (let count = 1; count <= 10; count++) {
    const [one, other] = count % 2 ? at : [at[1], at[0]];
    await makeOrder(one, '1', { user_id });
    t.is((await other.get(`/orders?user_id=${user_id}`)).data.total, count);
  }
});

test.serial('chunks sent to both machines become one file', async (t) => {
  const size = 40_000;
  const content = textOf(5 * size + 1);
  const opened = await admin.post('/attachments/chunk', {
    ...{ action: 'init', filename: 'dealt.txt', total_size: content.length, chunk_size: size },
  });
  const { chunk_id } = opened.data;
  for (const [index, chunk] of chunksOf(content, size).entries())
    t.is((await sendChunk(at[index % 2] as Client, chunk_id, index, chunk)).status, 200);
  const merged = await until(async () => {
    const answer = await admin.post('/attachments/chunk', { action: 'merge', chunk_id });
    return answer.data?.status === 'merging' ? undefined : answer;
  });
  t.is(merged.data.sha256, sha256(content), merged.text);
});

test.serial('an export requested at one machine is read at the other', async (t) => {
  const username = unique();
  await makeUser(admin, { username });
  const rows = await exportedCsv(admin, '/users', { username });
  t.is(rows.length, 2);
});

test.serial('tickets are limited across machines', async (t) => {
  const own = await new Client(haproxy.url).signIn(await makeAdmin(admin));
  const statuses: number[] = [];
  for (let count = 0; count < 24; count++)
    statuses.push((await own.at(at[count % 2]?.url ?? '').post('/notifications/ws-ticket')).status);
  t.true(statuses.filter((status) => status === 200).length <= 12, statuses.join());
  t.true(statuses.includes(429));
});

test.serial('a killed API is taken out of the balancer', async (t) => {
  const methodId = (await makeMethod(admin)).id;
  const payments = await Promise.all(Array.from({ length: 20 }, () => makePayment(admin, methodId)));
  const sent = payments.map(async (payment, index) => {
    if (index === 5) await apis[1].kill();
    return until(async () => {
      const answer = await callBack(admin, payment).catch(() => undefined);
      return answer?.status === 200;
    });
  });
  await Promise.all(sent);
  for (const { payment_no } of payments)
    await until(async () => (await admin.get(`/payments/${payment_no}`)).data?.status === 'paid');
  const { data } = await admin.get(`/payments/${payments[0]?.payment_no}`);
  t.is(data.callbacks.filter((one: { verdict: string }) => one.verdict === 'paid').length, 1);
});

test.serial('without an API the balancer answers as the service would', async (t) => {
  await Promise.all(apis.map((api) => api.kill()));
  const answer = await until(async () => {
    const one = await fetch(`${haproxy.url}/api/admin/orders`);
    return one.status === 503 ? one : undefined;
  });
  t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  t.is(answer.headers.get('retry-after'), '2');
  t.like(await answer.json(), { code: 503, data: null, error_code: 'service_unavailable' });
});
