// What processes write. A trace id leads from an answer through the job it queued to the statements of both; sockets have a
// line each too. Secrets never reach log lines, jobs, Redis or the log tables: canaries are sent everywhere and looked for.
import '../support/settings/environment.js';
import test from 'ava';
import { db, select } from '../../src/lib/database/db.js';
import { connectRedis, disconnectRedis, patientRedis as redis } from '../../src/lib/redis/redis.js';
import { withoutValues } from '../../src/lib/watch/statements.js';
import { Client } from '../support/client.js';
import { makeAdmin, makeMethod, makePayment, mockCallback, unique } from '../support/factories.js';
import { alipayConfig, privateLine, wechatConfig } from '../support/companies/merchant.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { keysLike } from '../support/servers/redis.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

/** Every statement counts as slow. */
const env = { SLOW_STATEMENT_MS: '1', CORS_ORIGINS: 'https://console.test', LOG_LEVEL: 'trace' };
const prefix = process.env.REDIS_PREFIX;
let api: TestProcess;
/** Started once the first test has looked at what is queued. */
let worker: TestProcess;
let admin: Client;
/** Whatever was sent as one. */
let secret: RegExp;

processesTest(disconnectRedis);

test.before(async () => {
  await connectRedis();
  api = await startApi(env);
  admin = await new Client(api.url).signIn();
  // Whatever is sent takes a while, so that statements are slow enough to be logged.
  await db.query('CREATE TRIGGER slowly BEFORE UPDATE ON orders FOR EACH ROW SET @slept = SLEEP(0.05)');
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
async function sendSecrets(): Promise<{ token: string; statuses: number[]; answers: string[] }> {
  const anonymous = admin.with({ Authorization: '' });
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
  const answers: string[] = [];
  for (const [client, method, path, content] of requests) {
    const sent = { body: content, headers: { Cookie: canary('cookie') } };
    const { status, text } = await client.request(method, path, sent);
    statuses.push(status);
    answers.push(text);
  }
  return { token, statuses, answers };
}

test.serial('no secret reaches answers, jobs, Redis or the log tables', async (t) => {
  const { token, statuses, answers } = await sendSecrets();
  for (const answer of answers) t.notRegex(answer, /canary-/);
  t.true(
    statuses.every((status) => status < 500) && statuses.filter((status) => status === 200).length >= 5,
    statuses.join(),
  );
  secret = new RegExp(`canary-|${token.split('.')[2]}|${privatePart}`);

  await until(async () => (await keysLike(`*${prefix}*:write-*`)).length >= 1);
  t.notRegex(await redisContent(), secret);

  worker = await startWorkerProcess(env);
  await until(async () => (await keysLike(`*${prefix}*:write-*`)).length === 0);
  const tables = await Promise.all([
    select<{ path: string }>('SELECT * FROM operation_logs'),
    select<{ outcome: string }>('SELECT * FROM login_logs'),
    select<object>('SELECT * FROM payment_callbacks'),
    select<object>('SELECT * FROM system_logs'),
    select<object>('SELECT * FROM failed_jobs'),
  ]);
  t.true(tables[0].some(({ path }) => path === '/api/admin/payment-methods'));
  t.true(tables[1].some(({ outcome }) => outcome === 'captcha_invalid'));
  t.true(tables[2].length > 0);
  t.notRegex(JSON.stringify(tables), secret);
});

type Line = Record<string, unknown>;

const linesOf = (from: TestProcess, message: string): Line[] =>
  from
    .output()
    .split('\n')
    .flatMap((line) => {
      if (!line.includes(`"msg":"${message}"`)) return [];
      return [JSON.parse(line) as Line];
    });

const lineOf = (from: TestProcess, message: string, matches: (line: Line) => boolean): Promise<Line> =>
  until(() => linesOf(from, message).find(matches));

test.serial('the trace id of a callback is in its request line, job line and statements', async (t) => {
  const payment = await makePayment(admin, (await makeMethod(admin)).id, '44.55');
  const trace_id = 'trace-of-a-callback';
  const headers = { 'X-Trace-Id': trace_id };
  const answer = await admin.post('//api/payment/notify/mock', mockCallback(payment), headers);
  t.is(answer.headers.get('X-Trace-Id'), trace_id);
  const isTraced = (line: Line): boolean => line.trace_id === trace_id;
  t.like(await lineOf(api, 'request', isTraced), { path: '/api/payment/notify/mock', status: 200 });
  const run = await lineOf(worker, 'job', isTraced);
  t.like(run, { job: 'settle-payment', queue: 'payments', attempt: 1, outcome: 'done' });
  t.true(String(run.job_id).startsWith('settle-payment-'));
  t.is(typeof run.waited_ms, 'number');
  t.is(typeof run.took_ms, 'number');
  const isUpdate = ({ sql }: Line): boolean => /UPDATE .*orders/.test(String(sql));
  const statement = await lineOf(worker, 'slow statement', (line) => isTraced(line) && isUpdate(line));
  t.is(statement.pool, 'requests');
  t.false(JSON.stringify(linesOf(worker, 'slow statement')).includes(payment.payment_no), 'no values');
  t.is(linesOf(worker, 'job').filter(isTraced).length, 1);
});

test.serial('every upgrade is logged with its outcome', async (t) => {
  const ticket = await ticketOf(admin);
  const { socket } = await openSocket(api.url, ticket, { 'X-Trace-Id': 'trace-of-a-socket' });
  t.like(await lineOf(api, 'upgrade', ({ trace_id }) => trace_id === 'trace-of-a-socket'), {
    ...{ outcome: 'accepted', path: '/ws/admin/notifications', admin_id: 1 },
  });
  socket.terminate();
  const foreign = { Origin: 'https://elsewhere.test', 'X-Trace-Id': 'trace-of-a-foreigner' };
  const refused = await t.throwsAsync(openSocket(api.url, await ticketOf(admin), foreign));
  t.is((refused?.cause as Record<string, string> | undefined)?.['x-trace-id'], 'trace-of-a-foreigner');
  t.like(await lineOf(api, 'upgrade', ({ trace_id }) => trace_id === 'trace-of-a-foreigner'), {
    ...{ outcome: 'refused', status: 403, reason: 'origin_not_allowed', origin: 'https://elsewhere.test' },
  });
  await t.throwsAsync(openSocket(api.url, ticket));
  await lineOf(api, 'upgrade', ({ reason }) => reason === 'ticket_invalid');
  t.false(api.output().includes(ticket));
});

test('a slow statement is logged without its values', (t) => {
  const logged = withoutValues(
    `SELECT a1 FROM t WHERE name = 'O''Neil \\'x' AND n IN (1, 2.5, 3, 0xff, 5)\n  AND m = "y"`,
  );
  t.is(logged, 'SELECT a1 FROM t WHERE name = ? AND n IN (?, …) AND m = ?');
  t.false(withoutValues(`SELECT '${'x'.repeat(20_000)}`).includes('x'));
});

// When both have written everything.
test('no log line has a secret', async (t) => {
  await Promise.all([api.stop(), worker.stop()]);
  const output = api.output() + worker.output();
  t.notRegex(output, secret);
  const lines = output.trim().split('\n');
  t.true(lines.length > 15, output);
  for (const line of lines) t.not(JSON.parse(line).level, 'fatal');
});
