// The command line where it changes much at once: migrations, maintenance, queues, money that is stuck. And how it is found.
import '../support/settings/environment.js';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { Queue } from 'bullmq';
import { config } from '../../config/index.js';
import { change, db, select } from '../../src/lib/database/db.js';
import { closeConnection, openConnection } from '../../src/lib/redis/connection.js';
import { paymentKey } from '../../src/lib/values/numbers.js';
import { migrations } from '../../src/models/migrations/index.js';
import { storeFailure } from '../../src/models/office/failed-job.js';
import { lastMonth } from '../../src/models/tables/partitions.js';
import { recordVerified } from '../../src/models/trade/callback-intake.js';
import type { CallbackKey } from '../../src/models/trade/payment-callback.js';
import { makeMethod, makePayment, unique, type MadePayment } from '../support/factories.js';
import { runCli, startApi, startWorkerProcess } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';
import { WechatPlatform } from '../support/companies/wechat-platform.js';

const service = serviceTest({ withWorker: false });
let methodId: number;

test.before(async () => {
  methodId = (await makeMethod(service.admin)).id;
});

async function answerOf<T>(args: string[], env?: Record<string, string>) {
  const { output, errors, code } = await runCli(['--json', ...args], env);
  if (output === '') throw new Error(errors);
  return { data: JSON.parse(output) as T, code };
}

const statusOf = async ({ payment_no }: MadePayment): Promise<string> =>
  (await service.admin.get(`/payments/${payment_no}`)).data.status;

/** A verified callback that nobody has settled. */
async function waitingCallback(payment: MadePayment): Promise<CallbackKey> {
  const key = await recordVerified({
    ...{ type: 'mock', ...paymentKey(payment.payment_no), third_party_no: unique('BANK-') },
    ...{ fields: {}, ip: '127.0.0.1', trace_id: '' },
  });
  return key as CallbackKey;
}

interface Migrations {
  applied: string[];
  pending: string[];
  unknown: string[];
}

test('the command line creates and migrates a database without an API', async (t) => {
  const name = `${config.database.name}_cli`;
  const env = { DB_NAME: name, REDIS_PREFIX: `${config.redis.prefix}-cli` };
  t.teardown(() => db.query(`DROP DATABASE IF EXISTS \`${name}\``));
  const all = migrations.map((migration) => migration.name);
  t.is((await runCli(['migrate', 'status'], env)).code, 1, 'there is no such database');
  const up = await answerOf<{ added: string[] }>(['migrate', 'up'], env);
  t.deepEqual([up.data.added, up.code], [all, 0]);
  const status = await answerOf<Migrations>(['migrate', 'status'], env);
  t.deepEqual([status.data, status.code], [{ applied: all, pending: [], unknown: [] }, 0]);

  const last = all.at(-1) as string;
  await db.query(`DELETE FROM \`${name}\`.migrations WHERE name = ?`, { replacements: [last] });
  await db.query(`INSERT INTO \`${name}\`.migrations (name) VALUES ('9999-of-a-later-release')`);
  const behind = await answerOf<Migrations>(['migrate', 'status'], env);
  t.deepEqual(
    [behind.data.pending, behind.data.unknown, behind.code],
    [[last], ['9999-of-a-later-release'], 1],
  );
  t.regex((await runCli(['prune', '--yes'], env)).errors, /migrate/, 'nothing else runs on such a database');
  t.deepEqual((await answerOf<{ added: string[] }>(['migrate', 'up'], env)).data.added, [last], 'once each');
  const { data: admins } = await answerOf<{ username: string }[]>(['admin', 'list'], env);
  t.deepEqual(
    admins.map(({ username }) => username),
    ['admin'],
  );
});

/** More exports, deleted imports and keys than are removed at once. */
async function makeExpired(): Promise<void> {
  const rows = (columns: string): string =>
    Array.from({ length: 120 }, () => `(${columns}, NOW(3) - INTERVAL 1 DAY, NOW(3), NOW(3))`).join(', ');
  await change(
    `INSERT INTO exports (admin_id, type, format, filter, language, filename, status, expires_at, created_at, updated_at)
     VALUES ${rows("1, 'orders', 'csv', '{}', 'zh', 'old.csv', 2")}`,
  );
  await change(
    `INSERT INTO imports (admin_id, type, filename, size, encoding, delimiter, language, status, concluded, deleted_at,
       expires_at, created_at, updated_at)
     VALUES ${rows("1, 'orders', 'old.csv', 1, 'utf-8', ',', 'zh', 1, 1, NOW(3)")}`,
  );
  const keys = Array.from({ length: 5001 }, (_, index) => `('old', 1, '${index}', '', '1', '2026-01-01')`);
  await change(
    `INSERT INTO idempotency_keys (scope, admin_id, idempotency_key, request_hash, result_no, created_at)
     VALUES ${keys.join(', ')}`,
  );
}

const { logDays, notificationMs, failedJobMs } = config.retention;
const dayMs = 86_400_000;

/** What prune removes after so many days: the column with the name of a row, and how one of that age is made. */
const aging = [
  {
    table: 'login_logs',
    column: 'username',
    days: logDays,
    sql: `INSERT INTO login_logs (period, log_key, username, ip, user_agent, browser, os, device, status, outcome, created_at)
     VALUES (DATE_FORMAT(:at, '%Y%m'), :name, :name, '127.0.0.1', '', '', '', '', 1, 'login_success', :at)`,
  },
  {
    // What is forgotten too soon may be done twice.
    table: 'idempotency_keys',
    column: 'idempotency_key',
    days: 7,
    sql: `INSERT INTO idempotency_keys (scope, admin_id, idempotency_key, request_hash, result_no, created_at)
     VALUES ('order.store', 1, :name, '', '1', :at)`,
  },
  {
    table: 'admin_sessions',
    column: 'jti',
    days: 30,
    sql: `INSERT INTO admin_sessions (jti, admin_id, ip, user_agent, browser, os, last_used_at, expires_at, created_at)
     VALUES (:name, 1, '127.0.0.1', '', '', '', :at, :at, :at)`,
  },
  {
    table: 'notifications',
    column: 'title',
    days: notificationMs / dayMs,
    sql: `INSERT INTO notifications (type, title, content, created_at) VALUES ('system', :name, '', :at)`,
  },
  {
    table: 'failed_jobs',
    column: 'job_key',
    days: failedJobMs / dayMs,
    sql: `INSERT INTO failed_jobs (queue, job, job_key, payload, error, attempts, trace_id, state, failed_at, created_at, updated_at)
     VALUES ('logs', 'write-logs', :name, '{}', '', 8, '', 'done', :at, :at, :at)`,
  },
];

test('prune removes only what is past its retention', async (t) => {
  const [old, young] = [unique('old'), unique('young')];
  for (const { days, sql } of aging) {
    await change(sql, { name: old, at: new Date(Date.now() - (days + 1) * dayMs) });
    await change(sql, { name: young, at: new Date(Date.now() - (days - 1) * dayMs) });
  }
  const left = async () => {
    const found = aging.map(({ table, column }) =>
      select<{ name: string }>(
        `SELECT ${column} AS name FROM ${table} WHERE ${column} IN (:names) ORDER BY ${column}`,
        { names: [old, young] },
      ),
    );
    return (await Promise.all(found)).map((rows) => rows.map(({ name }) => name));
  };
  const ahead = await lastMonth();
  await change(`ALTER TABLE refunds DROP PARTITION p${ahead}`);
  const unasked = await runCli(['prune']);
  t.deepEqual([unasked.code, unasked.output], [2, '']);
  t.regex(unasked.errors, /older than 180 days.*--yes/s);
  t.deepEqual(
    await left(),
    aging.map(() => [old, young]),
  );
  await makeExpired();
  t.is((await answerOf(['prune', '--yes'])).code, 0);
  t.deepEqual(
    await left(),
    aging.map(() => [young]),
  );
  const expired = `SELECT expires_at FROM exports UNION ALL SELECT expires_at FROM imports
    UNION ALL SELECT created_at FROM idempotency_keys WHERE scope = 'old'`;
  t.deepEqual(await select(expired), []);
  t.is(await lastMonth(), ahead, 'the months ahead have their partitions');
});

test('failed work is done once it is retried', async (t) => {
  const payment = await makePayment(service.admin, methodId);
  const key = await waitingCallback(payment);
  const work = { queue: 'payments', job: 'settle-payment', attempts: 10, traceId: 'T' } as const;
  const jobKey = `settle-payment-${key.period}-${key.id}`;
  await storeFailure({ ...work, key: jobKey, payload: key, error: new Error('the database was away') });
  const { data: queues } = await answerOf<{ name: string; failed: number }[]>(['jobs', 'queues']);
  t.is(queues.find(({ name }) => name === 'payments')?.failed, 1);
  // Redis may answer a request too late.
  const held = async () => {
    const { data } = await service.admin.get('/queues');
    return (data?.list as { name: string; waiting: number }[])?.find(({ name }) => name === 'payments');
  };
  const waiting = async () => (await until(held)).waiting;
  const before = await waiting();
  t.is((await runCli(['jobs', 'retry'])).code, 2, 'which?');
  t.is((await runCli(['jobs', 'retry', '--all', '--queue', 'nowhere'])).code, 2);
  t.is(await waiting(), before);
  const { data, code } = await answerOf(['jobs', 'retry', '--all', '--queue', 'payments']);
  t.deepEqual([data, code], [{ count: 1, refused: 0, refusals: [] }, 0]);
  t.is(await waiting(), before + 1);
  t.is(await statusOf(payment), 'pending', 'it is queued, no worker runs');
  const worker = await startWorkerProcess({}, 'payments');
  await until(async () => (await statusOf(payment)) === 'paid');
  await until(async () => {
    const [row] = await select<{ state: string }>('SELECT state FROM failed_jobs WHERE job_key = ?', [
      jobKey,
    ]);
    return row?.state === 'done';
  });
  await worker.stop();
});

test('stuck payments are listed with an exit code', async (t) => {
  interface Stuck {
    needs_attention: { total: number; rows: { payment_no: string; fail_reason: string }[] };
    pending: { total: number; rows: { payment_no: string }[] };
  }
  const [waiting, fresh, flagged] = [
    await makePayment(service.admin, methodId),
    await makePayment(service.admin, methodId),
    await makePayment(service.admin, methodId),
  ];
  await change('UPDATE payments SET created_at = created_at - INTERVAL 3 HOUR WHERE payment_no = ?', [
    waiting.payment_no,
  ]);
  await change(
    `UPDATE payments SET needs_attention = 1, fail_reason = 'order_not_payable' WHERE payment_no = ?`,
    [flagged.payment_no],
  );
  const { data, code } = await answerOf<Stuck>(['payments', 'stuck', '--minutes', '120']);
  t.is(code, 1);
  const numbers = data.pending.rows.map(({ payment_no }) => payment_no);
  t.true(numbers.includes(waiting.payment_no));
  t.false(numbers.includes(fresh.payment_no));
  t.like(data.needs_attention.rows[0], { payment_no: flagged.payment_no, fail_reason: 'order_not_payable' });
  const { output } = await runCli(['payments', 'stuck', '--minutes', '240']);
  t.regex(output, new RegExp(`needs a person: 1\\n.*${flagged.payment_no}`, 's'));
  t.false(output.includes(waiting.payment_no));
});

test('only callbacks in the given range are redriven', async (t) => {
  const payments = [
    await makePayment(service.admin, methodId),
    await makePayment(service.admin, methodId),
    await makePayment(service.admin, methodId),
  ] as const;
  const hours = ['2026-03-01T08:00:00Z', '2026-03-01T09:30:00.500Z', '2026-03-01T10:00:00Z'];
  for (const [index, payment] of payments.entries()) {
    const { id, period } = await waitingCallback(payment);
    await change('UPDATE payment_callbacks SET created_at = ? WHERE id = ? AND period = ?', [
      new Date(hours[index] as string),
      id,
      period,
    ]);
  }
  for (const range of [
    ['--to', '2026-03-01T08:00:00'],
    ['--from', '2026-02-30T00:00:00Z'],
    ['--from', '2026-03-02T00:00:00Z', '--to', '2026-03-01T00:00:00Z'],
  ])
    t.is((await runCli(['callbacks', 'redrive', ...range])).code, 2, range.join(' '));
  const range = ['--from', '2026-03-01T16:30:00+08:00', '--to', '2026-03-01T09:30:00Z'];
  const redriven = await answerOf(['callbacks', 'redrive', ...range]);
  t.deepEqual([redriven.data, redriven.code], [{ verdicts: { paid: 1 }, failed: 0 }, 0]);
  t.deepEqual(await Promise.all(payments.map(statusOf)), ['pending', 'paid', 'pending']);
  t.deepEqual((await answerOf(['callbacks', 'redrive', ...range])).data, { verdicts: {}, failed: 0 });
});

interface Report {
  well: boolean;
  findings: { check: string; level: string; says: string }[];
}

test('deployments that take the jobs of each other are named', async (t) => {
  const name = `${config.database.name}_other`;
  const env = { REDIS_PREFIX: `${config.redis.prefix}-shared` };
  t.teardown(() => db.query(`DROP DATABASE IF EXISTS \`${name}\``));
  const worker = await startWorkerProcess({ ...env, DB_NAME: name });
  t.teardown(() => worker.kill());
  const finding = await until(async () => {
    const { data } = await answerOf<Report>(['doctor'], env);
    return data.findings.find(({ says }) => says.endsWith(`${name} has the same REDIS_PREFIX`));
  });
  t.deepEqual([finding.check, finding.level], ['Redis', 'fault']);
  const line = await until(() => /.*another deployment uses this Redis.*/.exec(worker.output())?.[0]);
  t.deepEqual((JSON.parse(line) as { databases: string[] }).databases, [config.database.name]);
});

test('a Redis that refuses its password or its database is not used, and the doctor says why', async (t) => {
  const { server } = config.redis;
  const right = new URL(process.env.REDIS_URL ?? '');
  const refused = async (password: string, number: number): Promise<string> => {
    const REDIS_URL = `redis://:${password}@${server.host}:${server.port}/${number}`;
    const { data } = await answerOf<Report>(['doctor'], { REDIS_URL });
    const { level, says } = data.findings.find(({ check }) => check === 'Redis') ?? {};
    return `${level}: ${says}`;
  };
  t.regex(await refused('wrong', 0), /^fault: this needs Redis \(REDIS_URL\): (WRONGPASS|ERR AUTH)/);
  t.is(
    await refused(right.password, 9999),
    'fault: this needs Redis (REDIS_URL): ERR DB index is out of range',
  );
  const api = await startApi({ REDIS_URL: `redis://:wrong@${server.host}:${server.port}` });
  t.regex(api.output(), /Redis refuses the account of REDIS_URL/);
});

test('the doctor says that the account of the database may only read', async (t) => {
  const user = `reader_${config.database.name.slice(-8)}`;
  await db.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'secret'`);
  t.teardown(() => db.query(`DROP USER '${user}'@'%'`));
  await db.query(`GRANT SELECT ON \`${config.database.name}\`.* TO '${user}'@'%'`);
  const { data, code } = await answerOf<Report>(['doctor'], {
    DATABASE_URL: '',
    DB_USER: user,
    DB_PASSWORD: 'secret',
  });
  const { level, says } = data.findings.find(({ check }) => check === 'schema') ?? {};
  t.deepEqual([code, level], [1, 'fault']);
  t.regex(says ?? '', /UPDATE command denied/);
});

test('the doctor names unavailable servers and gaps in the database', async (t) => {
  const name = `${config.database.name}_sick`;
  await db.query(`CREATE DATABASE \`${name}\``);
  t.teardown(() => db.query(`DROP DATABASE IF EXISTS \`${name}\``));
  const sick = await answerOf<Report>(['doctor'], { DB_NAME: name, REDIS_URL: 'redis://127.0.0.1:1' });
  t.deepEqual([sick.data.well, sick.code], [false, 1]);
  const levelOf = (check: string) => sick.data.findings.find((one) => one.check === check)?.level;
  t.deepEqual([levelOf('database'), levelOf('schema'), levelOf('Redis')], ['ok', 'fault', 'fault']);
  t.regex(sick.data.findings.find(({ check }) => check === 'clock')?.says ?? '', /REDIS_URL/);
  const text = JSON.stringify(sick.data);
  t.notRegex(text, / {4}at |SELECT /);
});

test('the doctor says that no worker takes jobs, and that callbacks wait', async (t) => {
  const prefix = `${config.redis.prefix}-idle`;
  const connection = openConnection('test', {});
  const queue = new Queue('payments', { connection, prefix: `{${prefix}-payments}` });
  t.teardown(async () => {
    await queue.obliterate({ force: true });
    await queue.close();
    closeConnection(connection);
  });
  const finding = async (name: string): Promise<string> => {
    const { data } = await answerOf<Report>(['doctor'], { REDIS_PREFIX: prefix });
    const { level, says } = data.findings.find(({ check }) => check === name) ?? {};
    return `${level}: ${says}`;
  };
  const hour = 3_600_000;
  const due = await queue.add('due', {}, { timestamp: Date.now() - hour, delay: 2 * hour });
  await due.promote();
  t.notRegex(await finding('jobs'), /^fault/, 'its delay is no wait');
  await due.remove();
  await queue.add('old', {}, { timestamp: Date.now() - hour });
  t.is(
    await finding('jobs'),
    'fault: waiting for more than a minute while none runs: payments; does a worker run?',
  );
  const { id, period } = await waitingCallback(await makePayment(service.admin, methodId));
  const created = new Date(Date.now() - 180_000);
  await change('UPDATE payment_callbacks SET created_at = ? WHERE id = ? AND period = ?', [
    created,
    id,
    period,
  ]);
  t.regex(await finding('callbacks'), /^fault: \d+ verified, unsettled for more than 2 minutes/);
});

const run = promisify(execFile);

/** A copy of what a release holds, without a compiler, and its folder. */
function makeRelease(): string {
  const release = mkdtempSync(join(tmpdir(), 'release-'));
  mkdirSync(join(release, 'node_modules'));
  for (const name of readdirSync(join(config.root, 'node_modules')))
    if (!name.startsWith('typescript') && name !== '.bin')
      symlinkSync(join(config.root, 'node_modules', name), join(release, 'node_modules', name));
  for (const name of ['package.json', 'bin', 'build/src', 'build/config'])
    cpSync(join(config.root, name), join(release, name), { recursive: true });
  return release;
}

test('npx finds the command in a checkout and in a release, which it takes for production', async (t) => {
  const release = makeRelease();
  t.teardown(() => rmSync(release, { recursive: true }));
  for (const cwd of [config.root, release]) {
    const { stdout } = await run('npx', ['back-office', '--json', 'key', 'status'], { cwd });
    t.deepEqual(JSON.parse(stdout), { state: 'right' }, cwd);
  }
  writeFileSync(join(release, 'release.json'), '{}');
  const demo = (env: NodeJS.ProcessEnv) =>
    t.throwsAsync(run(process.execPath, ['bin/cli.mjs', 'demo', '--days', 'x'], { cwd: release, env }));
  const strong = {
    JWT_SECRET: 'Zt4kq9XbW2mPfR7vLs8dYc3nHg6jTa5u',
    APP_KEY: 'Qe8wN1zVx5bKm3pLr7tYc9uHg2jFa4sD',
  };
  const env: NodeJS.ProcessEnv = { ...process.env, ...strong, STORAGE_ROOT: join(release, 'storage') };
  delete env.NODE_ENV;
  t.regex((await demo(env))?.message ?? '', /refuses to do so in production/);
  t.notRegex((await demo({ ...env, NODE_ENV: 'development' }))?.message ?? '', /production/);
});

test('the command line may be the first command of a checkout', async (t) => {
  const checkout = makeRelease();
  t.teardown(() => rmSync(checkout, { recursive: true }));
  for (const name of ['config', 'src', 'tsconfig.json', 'package-lock.json'])
    cpSync(join(config.root, name), join(checkout, name), { recursive: true });
  // A compiler that finds nothing to do.
  const compiler = join(checkout, 'node_modules/typescript-7/bin');
  mkdirSync(compiler, { recursive: true });
  writeFileSync(join(compiler, 'tsc'), '');
  const { stdout } = await run(process.execPath, ['bin/cli.mjs', '--json', 'key', 'status'], {
    cwd: checkout,
  });
  t.deepEqual(JSON.parse(stdout), { state: 'right' });
});

test('without settings the command uses the servers of the running npm start', async (t) => {
  const checkout = makeRelease();
  t.teardown(() => rmSync(checkout, { recursive: true }));
  mkdirSync(join(checkout, '.local'));
  const reaches = /^(DB_|DATABASE_URL|REDIS_URL)/;
  const { REDIS_URL, DATABASE_URL, DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME } = process.env;
  const servers = { REDIS_URL, DATABASE_URL, DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME };
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !reaches.test(name)));
  const program = `import { tryLock } from './bin/lock.mjs';
    await tryLock('run', () => ({ servers: ${JSON.stringify(servers)} })); console.log('holds');`;
  const starter = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: checkout, env });
  t.teardown(() => starter.kill());
  await once(starter.stdout, 'data');
  const cwd = join(checkout, 'bin');
  const { stdout } = await run(process.execPath, ['cli.mjs', '--json', 'key', 'status'], { cwd, env });
  t.deepEqual(JSON.parse(stdout), { state: 'right' });

  const configured = { ...env, DATABASE_URL, DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME };
  const doctor = run(process.execPath, ['cli.mjs', '--json', 'doctor'], { cwd, env: configured });
  const report = await doctor.catch(({ stdout: said }: { stdout: string }) => ({ stdout: said }));
  const { findings } = JSON.parse(report.stdout) as Report;
  t.is(findings.find(({ check }) => check === 'Redis')?.level, 'ok', 'only the database is configured');
});

const open = { PAYMENT_CHANNEL_RESULTS: 'wechat', PAYMENT_LOCAL_GATEWAYS_ALLOWED: 'true' };

test('a company is asked about a payment from the command line', async (t) => {
  const company = await WechatPlatform.start();
  t.teardown(() => company.stop());
  const { data: method } = await service.admin.post('/payment-methods', {
    type: 'wechat',
    config: { ...company.config, gateway: 'https://api.mch.weixin.qq.com' },
  });
  // The service of this test would not ask a local company; the command does.
  await change(`UPDATE payment_methods SET config = JSON_SET(config, '$.gateway', ?) WHERE id = ?`, [
    company.url,
    method.id,
  ]);
  const payment = await makePayment(service.admin, method.id, '69.00');
  const { payment_no } = payment;
  company.ledger.place({
    ...{ out_trade_no: `PAY${payment_no.slice(-26)}`, description: 'Tea', notify_url: 'https://shop.test/' },
    ...{ amount: { total: 6900, currency: 'CNY' }, appid: 'wx8888888888888888', mchid: company.mchId },
  });
  const waits = await answerOf(['payments', 'ask', payment_no], open);
  t.deepEqual([waits.data, waits.code], [{ state: 'waiting', status: 'pending', fail_reason: null }, 0]);
  const followed = await answerOf(['payments', 'follow', '--since', '2d'], open);
  t.deepEqual([followed.data, followed.code], [{ followed: 1 }, 0]);
  t.like((await service.admin.get(`/payments/${payment_no}`)).data, { follow_up: { asked: 0 } });
  t.deepEqual((await answerOf(['payments', 'follow', '--since', '2d'], open)).data, { followed: 0 });
  company.ledger.pay(payment_no);
  const { output } = await runCli(['payments', 'ask', payment_no], open);
  t.is(output.trim(), 'the company says: paid; the payment is paid');
  t.is(await statusOf(payment), 'paid');
  company.results.mood = 'unsigned';
  const other = await makePayment(service.admin, method.id);
  const silent = await runCli(['payments', 'ask', other.payment_no], open);
  t.deepEqual([silent.code, silent.output], [1, '']);
  t.regex(silent.errors, /carries no valid signature/);
  for (const [args, env, words] of [
    [['ask', payment_no], {}, /PAYMENT_CHANNEL_RESULTS/],
    [['ask', 'PAY1'], open, /a payment number/],
    [['follow', '--since', 'ever'], open, /--since: days/],
    [['follow', '--since', '2d'], {}, /PAYMENT_CHANNEL_RESULTS/],
  ] as const) {
    const refused = await runCli(['payments', ...args], env);
    t.is(refused.code, 2, args.join(' '));
    t.regex(refused.errors, words);
  }
});
