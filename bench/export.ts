// npm run bench -- export [ORDERS]: orders exported into CSV and XLSX files, held against a bare stream of the same rows.
//
// 200,000 orders (or ORDERS) over eight months, each line a row of 14 columns. Rows per second count from the request to
// `finished_at`: queueing, counting and syncing included. The baselines (baselines/export.ts) read the same pages by key;
// nothing is escaped, shown or notified. Memory is that of a bulk worker started for the export. While another export runs,
// 50 signed-in lists a second are asked for and a payment is called back every 300 ms. The rows of a CSV file are counted.
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from './support/load.js';
import { pay, pendingPayments } from './support/payments.js';
import { startBulkWorker, startScript } from './support/processes.js';
import { mb, ms, printTable, times } from './support/report.js';
import { during, runBench } from './support/run.js';
import { call, ended, startService } from './support/session.js';
import { count, makeSite } from './support/site.js';

const orders = Number(process.argv[2] ?? 200_000);

await runBench(async () => {
  const site = await makeSite('export', orders);
  const { api, headers } = await startService(site);
  const baseline = await startScript('baselines/export', site);
  const admin = `${api.url}/api/admin`;
  const callbacks = await pendingPayments(site, api, 1000);
  const total = await count(site.db, 'order_details');
  for (let sent = 0; sent < 40; sent++) await pay(api, callbacks.pop()); // warms up

  const exported = async (format: string): Promise<{ perSecond: number; peak: number }> => {
    const worker = await startBulkWorker(site);
    const { export_id } = await call<{ export_id: number }>(`${admin}/orders/export`, headers, { format });
    const { seconds } = await ended(`${admin}/exports/${export_id}`, headers);
    const peak = worker.peakMemory();
    await worker.stop();
    if (format === 'csv') {
      const file = await fetch(`${admin}/exports/${export_id}/download`, { headers });
      const found = (await file.text()).split('\n').length - 2; // a line of heads, and none after the last
      if (found !== total) throw new Error(`the file has ${found} rows instead of ${total}`);
    }
    return { perSecond: total / seconds, peak };
  };
  const list = `${admin}/orders?page_size=10`;
  const lists = { url: list, headers, connections: 4, overallRate: 50, duration: 1 };
  const slowestCallback = async (work: Promise<unknown>): Promise<number> => {
    const waits: number[] = [];
    const calling = during(work, async () => {
      waits.push(await pay(api, callbacks.pop()));
      await sleep(300);
    });
    await during(calling, async () => void (await load(lists)));
    return Math.max(...waits);
  };

  const table: Record<string, string> = {};
  for (const format of ['csv', 'xlsx']) {
    const bare = await baseline.ask<number>({ format });
    const { perSecond, peak } = await exported(format);
    const slowest = await slowestCallback(exported(format));
    table[`${format}, ${total.toLocaleString('en-US')} rows`] = `${perSecond.toFixed(0)} rows/s`;
    table[`  against the baseline, ${bare.toFixed(0)} rows/s`] = times(perSecond / bare);
    table[`  memory of the worker, ${format}`] = mb(peak);
    table[`  slowest callback meanwhile, ${format}`] = ms(slowest);
  }
  printTable(`bench:export (${orders.toLocaleString('en-US')} orders)`, table);
});
