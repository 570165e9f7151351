// /metrics, /healthz and /readyz of API and worker, and the alert rules and dashboard that read them.
import '../support/settings/environment.js';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { config } from '../../config/index.js';
import { fullPath } from '../../src/api/declare/route.js';
import { routes } from '../../src/api/routes.js';
import { insert } from '../../src/lib/database/db.js';
import { queueNames } from '../../src/lib/queue/names.js';
import { periodOf } from '../../src/lib/values/numbers.js';
import { partitionedTables } from '../../src/models/tables/partitions.js';
import { Client } from '../support/client.js';
import { callBack, makePayment } from '../support/factories.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { startOwnRedis, type OwnRedis } from '../support/servers/redis.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

const rules = resolve(config.root, 'deploy/prometheus/alerts.yml');
const token = 'a token for metrics';
const environment = { METRICS_PORT: '0', METRICS_TOKEN: token };

let redis: OwnRedis;
let api: TestProcess;
let worker: TestProcess;
let admin: Client;

processesTest(() => redis.remove());

test.before(async () => {
  redis = await startOwnRedis();
  const env = { ...environment, ...redis.env };
  [api, worker] = await Promise.all([startApi(env), startWorkerProcess({ ...env, SWEEP_SECONDS: '59' })]);
  admin = await new Client(api.url).signIn();
});

/** Asks the port that a process has said to serve metrics on. */
async function ask(from: TestProcess, path: string, authorization = `Bearer ${token}`) {
  const port = await until(
    () => /"port":(\d+),"host":"[^"]+","msg":"metrics are served"/.exec(from.output())?.[1],
  );
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } });
  return { status: response.status, text: await response.text() };
}

const scrape = async (from: TestProcess): Promise<string> => (await ask(from, '/metrics')).text;

/** The figure of a series, whatever other labels it has. */
function figure(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text
    .split('\n')
    .find(
      (one) =>
        one.startsWith(`back_office_${name}{`) &&
        Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

test.serial('a payment appears in the metrics of requests, settlement, jobs and statements', async (t) => {
  const payment = await makePayment(admin);
  const route = '/api/payment/notify/{type}';
  t.is((await callBack(admin, payment)).status, 200);
  t.is((await admin.post('//api/payment/notify/mock', { out_trade_no: 'x' })).status, 400);
  await openSocket(api.url, await ticketOf(admin));
  const [ofApi, ofWorker] = await Promise.all([scrape(api), scrape(worker)]);
  t.is(figure(ofApi, 'http_requests_total', { method: 'POST', route, status: '200' }), 1);
  t.is(figure(ofApi, 'http_requests_total', { method: 'POST', route, status: '400' }), 1);
  t.is(figure(ofApi, 'http_request_seconds_count', { method: 'POST', route }), 2);
  t.is(figure(ofApi, 'settlement_seconds_count', { verdict: 'paid' }), 1);
  t.is(figure(ofWorker, 'job_seconds_count', { job: 'settle-payment', outcome: 'done' }), 1);
  t.is(figure(ofWorker, 'job_wait_seconds_count', { job: 'settle-payment' }), 1);
  t.is(figure(ofApi, 'live_connections', { kind: 'socket' }), 1);
  t.true((figure(ofApi, 'database_statement_seconds_count', { pool: 'requests', outcome: 'done' }) ?? 0) > 0);
  t.true((figure(ofApi, 'database_connections', { pool: 'requests', state: 'max' }) ?? 0) > 0);
});

test.serial('every process reports the sizes of tables, queues and disk', async (t) => {
  const period = periodOf(new Date());
  await insert(
    `INSERT INTO payment_callbacks (period, type, payment_no, third_party_no, body, ip, state, verdict, trace_id, created_at)
     VALUES (?, 'mock', 'PAY', 'x', '{}', '127.0.0.1', 'pending', 'verified', 'x', NOW(3) - INTERVAL 300 SECOND)`,
    [period],
  );
  for (const from of [api, worker]) {
    const text = await until(async () => {
      const one = await scrape(from);
      return figure(one, 'callbacks_unsettled') === 1 ? one : undefined;
    });
    t.true((figure(text, 'callbacks_unsettled_oldest_seconds') ?? 0) >= 300);
    t.is(figure(text, 'payments_needing_attention'), 0);
    for (const queue of queueNames) {
      for (const state of ['waiting', 'active', 'delayed', 'failed'])
        t.is(typeof figure(text, 'queue_jobs', { queue, state }), 'number', `${queue} ${state}`);
      t.is(typeof figure(text, 'queue_oldest_seconds', { queue }), 'number', queue);
    }
    for (const table of partitionedTables) t.is(figure(text, 'partition_months_ahead', { table }), 3, table);
    const [total = 0, free = 0] = ['total', 'free'].map((state) => figure(text, 'storage_bytes', { state }));
    t.true(total > free && free > 0);
    t.is(figure(text, 'up', { part: 'database' }), 1);
    t.is(figure(text, 'bulk_work', { kind: 'export' }), 0);
    t.regex(text, /^nodejs_eventloop_lag_p99_seconds/m);
  }
});

test.serial('refunds that no company accepts, or that need a person, are in the metrics', async (t) => {
  const add = (number: string, columns: object): Promise<number> => {
    const row = { status: 'processing', accepted_at: null, needs_attention: 0, ...columns };
    return insert(
      `INSERT INTO refunds (period, refund_no, payment_no, order_no, user_id, payment_method_id, amount, destination, status,
         reason, requested_by, needs_attention, sent_at, accepted_at, due_at, created_at, updated_at)
       VALUES (:period, :number, 'PAY', 'ORD', 1, 1, 1, 'channel', :status, 'x', 1, :needs_attention,
         NOW(3) - INTERVAL 300 SECOND, :accepted_at, NOW(3) + INTERVAL 1 DAY, NOW(3), NOW(3))`,
      { ...row, number, period: periodOf(new Date()) },
    );
  };
  await add('REF1', { accepted_at: new Date() });
  await add('REF2', { status: 'failed', needs_attention: 1 });
  const oldest = (text: string, status: string) => figure(text, 'refunds_oldest_seconds', { status }) ?? -1;
  // Each figure is renewed by itself.
  const before = await until(async () => {
    const one = await scrape(api);
    const isRenewed = figure(one, 'refunds_needing_attention') === 1 && oldest(one, 'processing') > 0;
    return isRenewed ? one : undefined;
  });
  t.true(oldest(before, 'processing') >= 300);
  t.is(oldest(before, 'unaccepted'), 0);
  await add('REF3', {});
  const text = await until(async () => {
    const one = await scrape(worker);
    return oldest(one, 'unaccepted') > 0 ? one : undefined;
  });
  t.true(oldest(text, 'unaccepted') >= 300);
});

test.serial('only the metrics require their token, not the health checks', async (t) => {
  t.is((await ask(api, '/metrics', '')).status, 401);
  t.is((await ask(api, '/metrics', 'Bearer another token')).status, 401);
  for (const from of [api, worker]) {
    t.is((await ask(from, '/healthz', '')).status, 200);
    t.is((await ask(from, '/readyz', '')).status, 200);
  }
});

test.serial('the rules are looked at within the shortest time that one waits', (t) => {
  const prometheus = readFileSync(resolve(config.root, 'deploy/prometheus/prometheus.yml'), 'utf8');
  const [, every = '60'] = /evaluation_interval: (\d+)s/.exec(prometheus) ?? [];
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 };
  const waits = [...readFileSync(rules, 'utf8').matchAll(/for: (\d+)([smhd])/g)].map(
    ([, count, unit]) => Number(count) * seconds[unit as keyof typeof seconds],
  );
  t.true(waits.length > 10);
  t.true(Number(every) <= Math.min(...waits));
});

test.serial('no alert says that an upload is slow: it lasts as long as its line', (t) => {
  const [, leftOut = ''] = /route!~"([^"]+)"/.exec(readFileSync(rules, 'utf8')) ?? [];
  const paths = routes.filter(({ upload }) => upload).map(fullPath);
  t.true(paths.length > 2);
  t.deepEqual(
    paths.filter((path) => !new RegExp(`^(${leftOut})$`).test(path)),
    [],
  );
});

test.serial('a scrape contains every metric of the alert rules and the dashboard', async (t) => {
  const known = new Set(
    [...`${await scrape(api)}${await scrape(worker)}`.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(
      ([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
  const board = readFileSync(resolve(config.root, 'deploy/grafana/back-office.json'), 'utf8');
  t.true((JSON.parse(board) as { panels: unknown[] }).panels.length > 20);
  for (const text of [readFileSync(rules, 'utf8'), board]) {
    const named = new Set(text.match(/\b(back_office|nodejs|process)_[a-z0-9_]+/g));
    t.true(named.size > 10);
    t.deepEqual(
      [...named].filter((name) => !known.has(name)),
      [],
    );
  }
  // Debian's package `prometheus` has it.
  const check = await promisify(execFile)('promtool', ['check', 'rules', rules]).catch(
    (error: unknown) => error,
  );
  const isMissing = (check as NodeJS.ErrnoException).code === 'ENOENT';
  t.true(isMissing || !(check instanceof Error), String(check));
});

test.serial('a monitor begins with the figures of the last half hour', async (t) => {
  const samples = async () => (await admin.get('/monitor/system-info/history')).data;
  // A worker may have been at its work when one was taken.
  const isIdle = ({ active }: { active: number }) => active === 0;
  const last = await until(async () => (await samples()).findLast(isIdle), 60_000, 500);
  t.true(Math.abs(Date.now() - Date.parse(last.at)) < 40_000);
  t.true(last.cpu >= 0 && last.memory > 0 && last.database_ms > 0 && last.redis_ms > 0);
  t.is(last.failed, 0);
});

test.serial('without Redis only the API is ready', async (t) => {
  await redis.stop('SIGKILL');
  await until(async () => (await ask(worker, '/readyz')).status === 503);
  const { status, text } = await ask(api, '/readyz');
  t.is(status, 200);
  t.deepEqual(JSON.parse(text), (await admin.get('//readyz')).data, 'as the API itself says it');
  t.is(figure(await scrape(api), 'up', { part: 'redis' }), 0);
});
