// npm run bench -- callback: signed payment callbacks, settled end to end, held against one hand-written transaction.
//
// Each request pays another payment. The service verifies, commits the attempt and queues it, the worker settles it in a
// transaction of its own, the API answers "paid". Throughput counts until the last payment of a run is paid in the database,
// whatever was answered; at the end each must be paid exactly once. The baseline (baselines/callback.ts) makes one commit where
// the service makes two, because an attempt must outlive a failed settlement. Both take turns on payments of the same tables.
// PAYMENT_CHANNEL_RESULTS=wechat,alipay measures the same with results of channels open.
import { deepStrictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from 'autocannon';
import { isSuccess, load, type Measured } from './support/load.js';
import { notifyPath, pendingPayments } from './support/payments.js';
import { startScript, type Process } from './support/processes.js';
import { printTable, rate, ratio } from './support/report.js';
import { runBench, takeTurns } from './support/run.js';
import { json, startService } from './support/session.js';
import { count, makeSite } from './support/site.js';

const rounds = 16;
const warmUp = 1000;
const perRun = 400;
/** As many rows of each as there were callbacks. */
const paid = [
  `payments WHERE status = 'paid'`,
  `payments p JOIN orders o ON o.order_no = p.order_no AND o.payment_no = p.payment_no
   WHERE p.status = 'paid' AND o.status = 'paid' AND p.needs_attention = 0`,
  'third_party_numbers',
  'payment_callbacks',
  `payment_callbacks WHERE state = 'settled' AND verdict = 'paid'`,
];

await runBench(async () => {
  const site = await makeSite('callback', 24_000); // 15,680 of them pending
  const { api } = await startService(site);
  const baseline = await startScript('baselines/callback', site);
  const callbacks = await pendingPayments(site, api, 2 * (warmUp + rounds * perRun));
  let sent = 0;
  let unsettled = 0;

  const send = async ({ url }: Process, amount: number): Promise<Measured> => {
    const next = (request: Request): Request => ({ ...request, body: callbacks[sent++] });
    const before = unsettled;
    const accept = (body: string): boolean => {
      if (body.includes('"status":"processing"')) unsettled++;
      return isSuccess(body) && /"status":"(paid|processing)"/.test(body);
    };
    const requests = [{ setupRequest: next }];
    const run = await load(
      { url: url + notifyPath, method: 'POST', amount, headers: json, requests },
      accept,
    );
    const answeredAt = performance.now();
    while ((await count(site.db, `payments WHERE status = 'paid'`)) < sent) await sleep(50);
    const waited = unsettled > before ? (performance.now() - answeredAt) / 1000 : 0;
    return { ...run, perSecond: amount / (amount / run.perSecond + waited) };
  };
  for (const process of [api, baseline]) await send(process, warmUp);
  const { own, bare } = await takeTurns(rounds, {
    own: () => send(api, perRun),
    bare: () => send(baseline, perRun),
  });
  const counts = await Promise.all(paid.map((rows) => count(site.db, rows)));
  deepStrictEqual(counts, Array(paid.length).fill(sent));

  printTable(`bench:callback (medians of ${rounds} runs of ${perRun}; 32 connections)`, {
    'callbacks settled end to end': rate(own),
    '  against the baseline': ratio(own, bare),
    '  answered "processing"': `${unsettled} of ${warmUp + rounds * perRun}`,
  });
});
