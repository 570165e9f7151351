// Spans: a callback and an export as one trace from the request over the job to its statements, in a real collector; and a
// collector that is unavailable or silent delays nothing.
import '../support/settings/environment.js';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { config } from '../../config/index.js';
import { summaryOf } from '../../src/lib/watch/statements.js';
import { spanNamed } from '../../src/lib/watch/tracing.js';
import { Client } from '../support/client.js';
import { askExport, endOf } from '../support/exports.js';
import { makeMethod, makeOrder, makePayment, makeUser, mockCallback } from '../support/factories.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { kinds, SpanCollector, type TakenSpan } from '../support/servers/span-collector.js';
import { until } from '../support/until.js';

let collector: SpanCollector;
let api: TestProcess;
let worker: TestProcess;
let admin: Client;

processesTest();

test.before(async () => {
  collector = await SpanCollector.open();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret%20of%20the%20collector',
    OTEL_RESOURCE_ATTRIBUTES: 'team=payments',
  };
  [api, worker] = await Promise.all([startApi(env), startWorkerProcess(env)]);
  admin = await new Client(api.url).signIn();
});

const find = (matches: (span: TakenSpan) => boolean): Promise<TakenSpan> =>
  until(() => collector.spans.find(matches));

/** The span of that kind that is part of another one. */
const partOf = (whole: TakenSpan, kind: number, matches: (span: TakenSpan) => boolean = () => true) =>
  until(() => collector.childrenOf(whole).find((span) => span.kind === kind && matches(span)));

const hasTrace =
  (id: string) =>
  ({ kind, attributes }: TakenSpan): boolean =>
    kind === kinds.server && attributes['back_office.trace_id'] === id;

test.serial('a callback is one trace of request, job and statements', async (t) => {
  const payment = await makePayment(admin, (await makeMethod(admin)).id, '44.55');
  const callback = mockCallback(payment);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { 'X-Trace-Id': 'order-4711-paid', traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const answer = await admin.post('//api/payment/notify/mock', callback, headers);
  t.is(answer.status, 200);
  t.is(answer.headers.get('X-Trace-Id'), 'order-4711-paid');

  const request = await find(hasTrace('order-4711-paid'));
  t.like(request, {
    ...{ traceId, parentSpanId: '00f067aa0ba902b7', name: 'POST /api/payment/notify/{type}' },
    attributes: { 'http.response.status_code': 200, 'http.route': '/api/payment/notify/{type}' },
    resource: { 'service.name': 'back-office', 'back_office.process': 'api', team: 'payments' },
  });
  t.like(await partOf(request, kinds.client, ({ name }) => name.includes('INSERT payment_callbacks')), {
    attributes: { 'db.system.name': 'mysql', 'db.namespace': process.env.DB_NAME },
  });
  const added = await partOf(request, kinds.producer);
  const run = await partOf(added, kinds.consumer);
  t.like(run, {
    resource: { 'back_office.process': 'worker' },
    attributes: {
      'back_office.job': 'settle-payment',
      'back_office.outcome': 'done',
      'back_office.trace_id': 'order-4711-paid',
      'messaging.destination.name': 'payments',
    },
  });
  const settled = await partOf(run, kinds.client, ({ name }) => name.includes('UPDATE orders'));
  t.regex(String(settled.attributes['db.query.text']), /^UPDATE orders .*:payment_no/);
  t.is(settled.traceId, traceId);
  t.true(BigInt(settled.startTimeUnixNano) >= BigInt(run.startTimeUnixNano));

  const tracedIn = (from: TestProcess) =>
    from
      .output()
      .split('\n')
      .filter((line) => line.includes('"trace_id":"order-4711-paid"'));
  // Lines are written up to a second late.
  await until(() => [api, worker].every((from) => tracedIn(from).length > 0));
  t.deepEqual(
    [api, worker].flatMap(tracedIn).filter((line) => !line.includes(`"otel_trace_id":"${traceId}"`)),
    [],
  );

  t.deepEqual([...new Set(collector.requests.map(({ path }) => path))], ['/v1/traces']);
  t.is(collector.requests[0]?.headers['x-key'], 'secret of the collector');
  const exported = JSON.stringify(collector.spans);
  for (const value of [payment.payment_no, payment.order_no, '44.55', ...Object.values(callback)])
    if (String(value).length > 3) t.false(exported.includes(String(value)), String(value));
});

test.serial('an export is one trace without its content', async (t) => {
  const user = await makeUser(admin, { nickname: 'Mx Unspoken' });
  await makeOrder(admin, '12.34', { user_id: user.id, remark: 'a remark that stays here' });
  const id = await askExport(admin, '/orders', {}, { 'X-Trace-Id': 'orders-to-a-file' });
  await endOf(admin, id);
  const request = await find(hasTrace('orders-to-a-file'));
  t.is(request.name, 'POST /api/admin/orders/export');
  await partOf(request, kinds.client, ({ name }) => name.includes('INSERT exports'));
  const run = await partOf(await partOf(request, kinds.producer), kinds.consumer);
  t.is(run.attributes['back_office.job'], 'write-export');
  await partOf(run, kinds.client, ({ name }) => name === 'SELECT orders');
  const exported = JSON.stringify(collector.spans);
  for (const secret of ['Mx Unspoken', 'a remark that', user.username, 'admin123', 'Bearer'])
    t.false(exported.includes(secret), secret);
  t.false(JSON.stringify(request.attributes).includes('127.0.0.1'));
});

test.serial('errors in spans carry only their kind', async (t) => {
  await admin.get('/orders/999999999', { 'X-Trace-Id': 'an-order-that-is-not' });
  const request = await find(hasTrace('an-order-that-is-not'));
  t.like(request.attributes, {
    'http.response.status_code': 404,
    'back_office.error_code': 'order_not_found',
  });
  await fetch(`${api.url}/healthz`);
  await makeUser(admin);
  const kept = collector.spans.filter(({ name }) => /healthz|canary|Stalled|extendLocks/.test(name));
  t.deepEqual(kept, []);
  t.true(collector.spans.every(({ events = [] }) => events.length === 0));
  const roots = collector.spans.filter(({ parentSpanId }) => !parentSpanId);
  t.true(roots.every(({ kind }) => kind === kinds.server || kind === kinds.consumer));
});

test.serial('a collector that never answers delays nothing', async (t) => {
  const silent = await SpanCollector.open({ isSilent: true });
  const patience = { OTEL_EXPORTER_OTLP_TIMEOUT: '60000', SHUTDOWN_SECONDS: '60' };
  const own = await startApi({ OTEL_EXPORTER_OTLP_ENDPOINT: silent.url, ...patience });
  const client = admin.at(own.url);
  const ask = () => Promise.all(Array.from({ length: 100 }, () => client.get('/orders')));
  const before = await ask();
  await until(() => silent.held() > 0);
  const after = await ask();
  t.deepEqual([...new Set([...before, ...after].map(({ status }) => status))], [200]);
  t.is(silent.held(), 1);
  t.is(await own.stop(), 0);
  // It was given up by the end of the process, not by its time-out.
  await until(() => silent.held() === 0);
  t.notRegex(own.output(), /spans could not be sent/);
  silent.close();
});

test.serial('an unreachable collector is logged once', async (t) => {
  collector.close();
  const lines = () => api.output().split('spans could not be sent').length - 1;
  t.is((await admin.get('/orders')).status, 200);
  await until(() => lines() > 0);
  t.is((await admin.get('/orders')).status, 200);
  t.is(await api.stop(), 0);
  t.is(lines(), 1);
});

test('without an address no tracing is loaded', async (t) => {
  const file = (name: string) => JSON.stringify(pathToFileURL(resolve(config.root, 'build', name)).href);
  const script = `const { startTracing } = await import(${file('src/lib/watch/tracing.js')});
    await startTracing('api');
    const { createRequire } = await import('node:module');
    const loaded = Object.keys(createRequire(${file('src/lib/watch/tracing.js')}).cache);
    console.log(loaded.filter((name) => /@opentelemetry.(?!api.)/.test(name)).length); process.exit();`;
  const run = async (endpoint: string) => {
    const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env,
    });
    return Number(stdout);
  };
  t.is(await run(''), 0);
  t.true((await run('http://127.0.0.1:4318')) > 10);
});

test('only a well-formed header names a span', (t) => {
  const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  t.like(spanNamed(`00-${trace}-${span}-01`), { traceId: trace, spanId: span, traceFlags: 1 });
  t.is(spanNamed(`00-${trace}-${span}-00`)?.traceFlags, 0);
  t.truthy(spanNamed(`cc-${trace}-${span}-01-what-comes-later`));
  const wrong = [
    ...['', 'x', `ff-${trace}-${span}-01`, `00-${trace.toUpperCase()}-${span}-01`, `00-${trace}-${span}`],
    ...[`00-${'0'.repeat(32)}-${span}-01`, `00-${trace}-${'0'.repeat(16)}-01`, `00-${trace}-${span}-01-more`],
  ];
  for (const one of wrong) t.is(spanNamed(one), undefined, one);
});

test('a statement is named by its operation and table', (t) => {
  t.is(summaryOf('SELECT a, b FROM `orders` WHERE c = ?'), 'SELECT orders');
  t.is(summaryOf('UPDATE orders SET a = ?'), 'UPDATE orders');
  t.is(summaryOf('INSERT INTO b SELECT ? FROM c'), 'INSERT b');
  t.is(summaryOf('COMMIT'), 'COMMIT');
  t.is(summaryOf(''), '');
});
