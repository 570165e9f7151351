// A trace id leads from an answer through the job it queued to the statements of both; sockets have a line each too.
import '../support/environment.js';
import test from 'ava';
import { db } from '../../src/lib/database/db.js';
import { withoutValues } from '../../src/lib/watch/statements.js';
import { Client } from '../support/client.js';
import { makeMethod, makePayment, mockCallback } from '../support/factories.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

let api: TestProcess;
let worker: TestProcess;
let admin: Client;

test.before(async () => {
  // Every statement counts as slow.
  const env = { SLOW_STATEMENT_MS: '1', CORS_ORIGINS: 'https://console.test' };
  [api, worker] = await Promise.all([startApi(env), startWorkerProcess(env)]);
  admin = await new Client(api.url).signIn();
  // Whatever is sent takes a while, so that statements are slow enough to be logged.
  await db.query('CREATE TRIGGER slowly BEFORE UPDATE ON orders FOR EACH ROW SET @slept = SLEEP(0.05)');
});

processesTest();

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
