// Secrets never reach log lines, jobs, Redis or the log tables: canaries are sent to every route and searched for.
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { connectRedis, disconnectRedis, patientRedis as redis } from '../../src/lib/redis/redis.js';
import { keysLike } from '../support/redis.js';
import { makeAdmin, unique } from '../support/factories.js';
import { alipayConfig, privateLine, wechatConfig } from '../support/merchant.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { Client } from '../support/client.js';
import { until } from '../support/until.js';

const prefix = `${process.env.REDIS_PREFIX}-watched`;
const settings = { REDIS_PREFIX: prefix, LOG_LEVEL: 'trace' };

processesTest(disconnectRedis);

/** A process whose output and Redis keys are looked through; nobody works off its queue at first. */
let watched: TestProcess;

test.before(async () => {
  await connectRedis();
  watched = await startApi(settings);
});

// Thirty characters of base64, as they stand in a PEM and in the bare form.
const privatePart = privateLine.slice(0, 30).replaceAll('+', '\\+');

const canary = (place: string): string => `canary-${place}-7c1`;

/** Everything Redis holds for that process, as one text. */
async function redisContent(): Promise<string> {
  const parts: unknown[] = [];
  for (const name of await keysLike(`*${prefix}*`)) {
    const read: Record<string, () => Promise<unknown>> = {
      string: () => redis.get(name),
      hash: () => redis.hgetall(name),
      list: () => redis.lrange(name, 0, -1),
      set: () => redis.smembers(name),
      zset: () => redis.zrange(name, 0, '-1'),
      stream: () => redis.xrange(name, '-', '+'),
    };
    parts.push(name, await read[await redis.type(name)]?.());
  }
  return JSON.stringify(parts);
}

/** Sends a canary wherever a secret may stand. @returns a token that was used, and the statuses of the answers */
async function sendSecrets(): Promise<{ token: string; statuses: number[] }> {
  const anonymous = new Client(watched.url);
  const admin = await anonymous.signIn();
  const account = await makeAdmin(admin);
  await admin.put(`/admins/${account.id}/password`, { password: canary('old') });
  const guess = {
    username: 'a\r\n{"level":"fatal"}',
    password: canary('guess'),
    captcha_id: 'x',
    captcha_code: canary('c'),
  };
  const { token } = (await anonymous.post('/login', { username: account.username, password: canary('old') }))
    .data;
  const own = anonymous.with({ Authorization: `Bearer ${token}` });
  const key = alipayConfig.private_key;
  const bareKey = key.replace(/-----[^-]+-----|\s/g, '');
  const change = {
    old_password: canary('old'),
    new_password: canary('new'),
    confirm_password: canary('new'),
  };
  const named = { name: 'x', slug: unique('role-') };
  const notice = { out_trade_no: 'x', trade_status: 'SUCCESS', sign: canary('sign') };
  const requests: [Client, string, string, unknown][] = [
    [anonymous, 'POST', '/login', guess],
    [own, 'PUT', '/password', change],
    [admin, 'PUT', `/admins/${account.id}/password?token=${canary('query')}`, { password: canary('reset') }],
    [admin, 'POST', '/users', { username: unique('user'), password: canary('user') }],
    [admin, 'POST', '/payment-methods', { type: 'mock', shared_secret: canary('shared') }],
    [admin, 'POST', '/payment-methods', { type: 'alipay', config: alipayConfig }],
    [admin, 'POST', '/payment-methods', { type: 'alipay', config: { app_id: key, private_key: `x${key}` } }],
    [admin, 'POST', '/payment-methods', { type: 'wechat', config: wechatConfig }],
    [admin, 'POST', '/payment-methods', { type: 'mock', description: key.slice(0, 250), name: 'x' }],
    [admin, 'POST', '/payment-methods', { type: 'mock', config: { misplaced: bareKey } }],
    [
      admin,
      'POST',
      '/payment-methods',
      { type: 'wechat', config: { mch_key: canary('mch'), key: canary('key') } },
    ],
    [admin, 'POST', '/roles', { ...named, description: `my token is ${token}`, remark: key }],
    [
      admin,
      'POST',
      '/roles',
      { deep: [{ deeper: { api_key: canary('deep'), cookies: [canary('cookie')] } }] },
    ],
    [admin, 'PUT', `/roles/${token}`, {}],
    [admin, 'POST', '/roles', `{"password":"${canary('broken')}`],
    [anonymous, 'POST', '//api/payment/notify/mock', notice],
  ];
  const statuses: number[] = [];
  for (const [client, method, path, content] of requests) {
    statuses.push(
      (await client.request(method, path, { body: content, headers: { Cookie: canary('cookie') } })).status,
    );
  }
  return { token, statuses };
}

test('no secret reaches log lines, Redis or the log tables', async (t) => {
  const { token, statuses } = await sendSecrets();
  t.true(
    statuses.every((status) => status < 500) && statuses.filter((status) => status === 200).length >= 5,
    statuses.join(),
  );
  const secret = new RegExp(`canary-|${token.split('.')[2]}|${privatePart}`);

  await until(async () => (await keysLike(`*${prefix}*:write-*`)).length >= 1);
  const queued = await redisContent();
  t.notRegex(queued, secret);

  const worker = await startWorkerProcess(settings);
  await until(async () => (await keysLike(`*${prefix}*:write-*`)).length === 0);
  const tables = await Promise.all([
    select<{ path: string }>('SELECT * FROM operation_logs'),
    select<{ outcome: string }>('SELECT * FROM login_logs'),
    select<object>('SELECT * FROM payment_callbacks'),
  ]);
  t.true(tables[0].some(({ path }) => path === '/api/admin/payment-methods'));
  t.true(tables[1].some(({ outcome }) => outcome === 'captcha_invalid'));
  t.true(tables[2].length > 0);
  t.notRegex(JSON.stringify(tables), secret);

  await Promise.all([watched.stop(), worker.stop()]);
  const output = watched.output() + worker.output();
  t.notRegex(output, secret);
  const lines = output.trim().split('\n');
  t.true(lines.length > 15, output);
  for (const line of lines) t.not(JSON.parse(line).level, 'fatal');
});
