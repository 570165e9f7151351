// npm run bench -- writes: orders placed, paid and called back, and how long placing and paying take by themselves.
//
// API, worker and servers run as in operation. The three requests of a paid order follow each other over 16 and over 64
// connections; a single kind of request is sent over one. All take turns after a warm-up, every answer is checked.
import type { Request } from 'autocannon';
import { load, type Measured } from './support/load.js';
import { callbackOf, makeMethod, notifyPath } from './support/payments.js';
import { printTable, rate } from './support/report.js';
import { runBench, takeTurns } from './support/run.js';
import { call, json, startService } from './support/session.js';
import { makeSite } from './support/site.js';

const order = {
  user_id: 1,
  details: [
    { product_name: 'Tea', price: '2.50', quantity: 2 },
    { product_name: 'Cup', price: '7.25', quantity: 1 },
  ],
};

/** What the answers on a connection were about. */
interface Placed {
  order_no: string;
  payment_no: string;
}

await runBench(async () => {
  const site = await makeSite('writes');
  const { api, headers: session } = await startService(site);
  const methodId = await makeMethod(api);
  const headers = { ...session, ...json };
  const place: Request = { method: 'POST', path: '/api/admin/orders', headers, body: JSON.stringify(order) };
  const pay = ({ order_no }: Placed): Request => ({
    ...{ method: 'POST', path: '/api/admin/payments', headers },
    body: JSON.stringify({ order_no, payment_method_id: methodId }),
  });
  const callBack = ({ payment_no }: Placed): Request => ({
    ...{ method: 'POST', path: notifyPath, headers: json },
    body: callbackOf(payment_no, '12.25'),
  });
  const placed = await call<Placed>(api.url + place.path, headers, order);

  const one = (request: Request): Promise<Measured> =>
    load({ url: api.url, connections: 1, amount: 200, requests: [request] });
  const paid = async (connections: number): Promise<Measured> => {
    const requests = [
      { ...place, onResponse: keepNumbers },
      { setupRequest: (_: Request, placed: object) => pay(placed as Placed), onResponse: keepNumbers },
      { setupRequest: (_: Request, placed: object) => callBack(placed as Placed) },
    ];
    const run = await load({ url: api.url, connections, amount: 3 * 600, requests });
    return { ...run, perSecond: run.perSecond / 3 };
  };
  const turns = {
    'order, payment, callback, 16 connections': () => paid(16),
    'order, payment, callback, 64 connections': () => paid(64),
    'POST /orders, 1 connection': () => one(place),
    'POST /payments, 1 connection': () => one(pay(placed)),
  };
  await takeTurns(1, turns); // warms up
  const runs = await takeTurns(6, turns);
  const table: Record<string, string> = {};
  for (const [name, all] of Object.entries(runs)) table[name] = rate(all);
  printTable('bench:writes (medians of 6 runs)', table);
});

function keepNumbers(_status: number, body: string, context: object): void {
  Object.assign(context, (JSON.parse(body) as { data: Placed }).data);
}
