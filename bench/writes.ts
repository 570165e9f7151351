// npm run bench -- writes: what placing orders, making payments and the way from order to paid cost, by processor time.
//
// API, one worker (--queues payments,channels,logs,notifications), database and Redis run as in bench:callback; one load generator
// (autocannon in this process) sends from 1 and from 32 connections, the three requests of a paid order one after the other from 16
// and from 64. Every answer is checked.
import type { Request } from 'autocannon';
import { costing, load, type Measured } from './support/load.js';
import { startApi, startWorker, type Process } from './support/processes.js';
import { callbackOf } from './support/payments.js';
import { medianOf, printTable, sayRun } from './support/report.js';
import { runBench } from './support/run.js';
import { call, signIn } from './support/session.js';
import { makeSite } from './support/site.js';

const rounds = 6;
const perRun = { one: 200, many: 1200, paid: 600 };
const secret = 'bench shared secret';

await runBench(async () => {
  const site = await makeSite('writes');
  const [api, worker] = [await startApi(site), await startWorker(site)];
  const headers = { ...(await signIn(api.url)), 'content-type': 'application/json' };
  await site.db.query(
    `INSERT INTO users (username, status, created_at, updated_at) VALUES ('customer', 1, NOW(3), NOW(3))`,
  );
  const method = { name: 'trial', type: 'mock', shared_secret: secret };
  const { id: methodId } = await call<{ id: number }>(
    `${api.url}/api/admin/payment-methods`,
    headers,
    method,
  );
  const orderBody = JSON.stringify({
    user_id: 1,
    details: [
      { product_name: 'Tea', price: '2.50', quantity: 2 },
      { product_name: 'Cup', price: '7.25', quantity: 1 },
    ],
  });
  const { order_no } = await call<{ order_no: string }>(
    `${api.url}/api/admin/orders`,
    headers,
    JSON.parse(orderBody) as object,
  );
  const targets: Record<string, { path: string; body: string }> = {
    'POST /orders': { path: '/api/admin/orders', body: orderBody },
    'POST /payments': {
      path: '/api/admin/payments',
      body: JSON.stringify({ order_no, payment_method_id: methodId }),
    },
  };
  const send = async (name: string, connections: number, amount: number): Promise<Measured> => {
    const { path, body } = targets[name] as { path: string; body: string };
    const request = { method: 'POST' as const, path, headers, body } as Request;
    const options = { url: api.url, connections, amount, requests: [request] };
    return load(options, (answer) => answer.startsWith('{"code":200'));
  };
  for (const name of Object.keys(targets)) await send(name, 32, 1500);
  const pay = async (connections: number): Promise<Measured> => {
    const requests = paidOrder(headers, orderBody, methodId);
    const amount = requests.length * perRun.paid;
    const run = await load({ url: api.url, connections, amount, requests }, (answer) =>
      answer.startsWith('{"code":200'),
    );
    return { ...run, perSecond: run.perSecond / requests.length, requests: perRun.paid };
  };
  const runs: Record<string, Measured[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const connections of [16, 64]) {
      const title = `order, payment, callback, ${connections} connections`;
      (runs[title] ??= []).push(await measure(title, [api, worker], () => pay(connections)));
    }
    for (const name of Object.keys(targets))
      for (const connections of [32, 1]) {
        const amount = connections === 1 ? perRun.one : perRun.many;
        const title = `${name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
        const run = await measure(title, [api, worker], () => send(name, connections, amount));
        (runs[title] ??= []).push(run);
      }
  }
  printTable(
    `bench:writes (medians of ${rounds} runs)`,
    Object.entries(runs).map(([name, all]) => ({ name, figures: medianOf(all), value: '' })),
  );
});

/** The three requests of an order that is placed and paid. */
function paidOrder(headers: Record<string, string>, orderBody: string, methodId: number): Request[] {
  return [
    {
      ...{ method: 'POST', path: '/api/admin/orders', headers, body: orderBody },
      onResponse: keepNumbers,
    },
    {
      ...{ method: 'POST', path: '/api/admin/payments', headers },
      setupRequest: (request, { order_no }: Placed) => ({
        ...request,
        body: JSON.stringify({ order_no, payment_method_id: methodId }),
      }),
      onResponse: keepNumbers,
    },
    {
      ...{ method: 'POST', path: '/api/payment/notify/mock', headers },
      setupRequest: (request, { payment_no = '' }: Placed) => ({
        ...request,
        body: callbackOf(payment_no, '12.25', secret),
      }),
    },
  ];
}

interface Placed {
  order_no?: string;
  payment_no?: string;
}

function keepNumbers(_status: number, body: string, context: object): void {
  const { order_no, payment_no } = (JSON.parse(body) as { data: Placed }).data;
  Object.assign(context, { order_no, payment_no });
}

async function measure(
  title: string,
  processes: Process[],
  send: () => Promise<Measured>,
): Promise<Measured> {
  const run = await costing(processes, send);
  sayRun(title, run);
  return run;
}
