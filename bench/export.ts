// npm run bench -- export [ORDERS]: orders exported into CSV and XLSX files, held against a bare stream of the same rows.
//
// What is measured, and why that is fair:
// - API, quick worker and bulk worker are processes of their own as in operation (NODE_ENV=production, LOG_LEVEL=warn) over
//   one MariaDB with durable commits and one Redis; files go to the local storage, synced before they count.
// - 1,000,000 orders (or as many as the argument says) of 1,500,000 lines over eight months, each line a row of 14 columns.
//   Rows per second are lines of the finished file over the time from the request to `finished_at`: queueing, counting and
//   syncing included.
// - The baselines (baselines/export.ts) are the least anybody could do: the same pages by key over mysql2, their cells put together
//   with commas, or given to exceljs; nothing is escaped, shown or notified, and they give way as the bulk worker does
//   (config/worker.ts). Bare exceljs keeps what is not compressed yet, so of many orders workbooks are compared over one month.
// - Memory is the largest resident set, sampled every 50 ms, of a bulk worker that was started for that export; one
//   month against all of them shows whether it grows with the file.
// - While another export runs, 50 signed-in lists a second are asked for and a payment is called back every 300 ms; the
//   same is measured before, without an export.
// - Every file must have as many rows as there are lines, or the exit code is 1.
import { setTimeout as sleep } from 'node:timers/promises';
import { periodOf } from '../src/lib/values/numbers.js';
import type { BareExport, BareExported } from './baselines/export.js';
import { load, percentiles } from './support/load.js';
import { fillOrders } from './support/orders.js';
import { callbacksFor, sendCallback } from './support/payments.js';
import { startApi, startBaseline, startBulkWorker, startWorker, type Process } from './support/processes.js';
import { printTable, row, say, type Row } from './support/report.js';
import { runBench } from './support/run.js';
import { call, signIn } from './support/session.js';
import { count, makeSite, type Site } from './support/site.js';

const total = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 1_000_000);
/** A month of fewer would measure how a worker starts. */
const isMany = total > 500_000;
const list = '/api/admin/orders?page_size=10';

interface Finished {
  status: number;
  created_at: string;
  finished_at: string;
  size: number;
}

interface Exported {
  rows: number;
  perSecond: number;
  /** MB. */
  peak: number;
  /** Milliseconds. */
  took: number;
}

await runBench(async () => {
  const site = await makeSite('export');
  await (await startApi(site)).stop();
  await fillOrders(site.db, total);
  say(`${total.toLocaleString('en-US')} orders are there`);
  const [api, , baseline] = [
    await startApi(site),
    await startWorker(site),
    await startBaseline('export', site),
  ];
  const service = { api, site, headers: await signIn(api.url) };

  const month = { start_time: monthsBack(0) };
  const lately = { start_time: monthsBack(1) };
  const bare = {
    csv: await bareOf(baseline, { format: 'csv', from: 0 }),
    xlsx: await bareOf(baseline, { format: 'xlsx', from: isMany ? periodOf(new Date()) : 0 }),
  };
  await baseline.stop();
  const rows: Row[] = [];
  const idle = await underLoad(service, () => sleep(10_000));
  for (const [format, least, most] of [
    ['csv', 100_000, 180],
    ['xlsx', 25_000, 250],
  ] as const) {
    const few = await exported(service, { format, ...month });
    const all = await exported(service, { format });
    // A workbook takes long; a part of it is enough to see its effect on other requests.
    const some = format === 'csv' ? {} : lately;
    const loaded = await underLoad(service, async () => void (await exported(service, { format, ...some })));
    rows.push(
      row(
        `${format}: ${all.rows.toLocaleString('en-US')} rows`,
        perSecond(all.perSecond),
        `≥ ${least}/s`,
        all.perSecond >= least,
      ),
      row('  largest memory of the worker', `${all.peak.toFixed(0)} MB`, `< ${most} MB`, all.peak < most),
      row(`  the same at ${few.rows.toLocaleString('en-US')} rows`, `${few.peak.toFixed(0)} MB`),
      row('  p99 of lists meanwhile', versus(loaded.p99, idle.p99), '< 3 × idle', loaded.p99 < 3 * idle.p99),
      row(
        '  slowest callback meanwhile',
        `${loaded.slowest.toFixed(0)} ms of ${loaded.callbacks}`,
        '< 1000 ms',
        loaded.slowest < 1000,
      ),
    );
    const [own, wanted] = format === 'csv' ? [all, 0.85] : [isMany ? few : all, 0.9];
    const ratio = own.perSecond / bare[format];
    const against = `${ratio.toFixed(2)} × ${perSecond(bare[format])}`;
    rows.push(row(`  against the baseline, ${own.rows} rows`, against, `≥ ${wanted}`, ratio >= wanted));
  }
  rows.push(
    row('idle: p99 of lists, slowest callback', `${idle.p99.toFixed(1)} ms, ${idle.slowest.toFixed(0)} ms`),
  );
  printTable(`bench:export (${total.toLocaleString('en-US')} orders)`, rows);
});

/** Rows per second. */
async function bareOf(baseline: Process, asked: BareExport): Promise<number> {
  const { rows, seconds, memory } = await baseline.ask<BareExported>(asked);
  const rate = rows / seconds;
  say(`  baseline, ${asked.format}: ${perSecond(rate)}, ${memory.toFixed(0)} MB`);
  return rate;
}

interface Service {
  api: Process;
  site: Site;
  headers: { authorization: string };
}

/** One export by a bulk worker of its own. */
async function exported(
  { api, site, headers }: Service,
  body: { format: string; start_time?: string },
): Promise<Exported> {
  const expected = await count(
    site.db,
    `SELECT COUNT(*) FROM orders o JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period
     WHERE o.created_at >= ?`,
    [new Date(body.start_time ?? 0)],
  );
  const worker = await startBulkWorker(site);
  const before = worker.processorMs();
  const path = `${api.url}/api/admin`;
  const { export_id } = await call<{ export_id: number }>(`${path}/orders/export`, headers, body);
  let peak = 0;
  let record: Finished;
  do {
    for (let looks = 0; looks < 10; looks++) {
      await sleep(50);
      peak = Math.max(peak, worker.memory());
    }
    record = await call<Finished>(`${path}/exports/${export_id}`, headers);
  } while (record.status === 0);
  const rows = await linesOf(api, headers, export_id);
  if (record.status !== 1 || (rows ?? expected) !== expected)
    throw new Error(
      `the export ended with ${JSON.stringify(record)} and ${rows} rows instead of ${expected}`,
    );
  const cost = (worker.processorMs() - before) / expected;
  await worker.stop();
  const took = Date.parse(record.finished_at) - Date.parse(record.created_at);
  const result = { rows: expected, perSecond: (expected * 1000) / took, peak, took };
  const details = `${perSecond(result.perSecond)}, ${(cost * 1000).toFixed(1)} µs of processor time each`;
  say(`  ${JSON.stringify(body)}: ${expected} rows, ${details}, ${peak.toFixed(0)} MB, ${record.size} bytes`);
  return result;
}

/** Rows of a CSV file, whose texts hold no line breaks here. */
async function linesOf(
  api: Process,
  headers: Record<string, string>,
  id: number,
): Promise<number | undefined> {
  const response = await fetch(`${api.url}/api/admin/exports/${id}/download`, { headers });
  if (!response.headers.get('content-type')?.startsWith('text/csv')) {
    await response.body?.cancel();
    return undefined;
  }
  let lines = -1;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
    for (const byte of chunk) if (byte === 10) lines++;
  return lines;
}

interface Latency {
  p99: number;
  /** Milliseconds from sending a callback to the answer that it is paid. */
  slowest: number;
  callbacks: number;
}

/** Durations of lists and callbacks during something else. */
async function underLoad({ api, headers }: Service, work: () => Promise<void>): Promise<Latency> {
  const callbacks = await callbacksFor(api.url, headers, 150);
  let over = false;
  const times: number[] = [];
  const calling = (async () => {
    while (!over && callbacks.length > 0) {
      times.push(await sendCallback(api.url, callbacks.pop() as string));
      await sleep(300);
    }
  })();
  const latencies: number[] = [];
  const listing = (async () => {
    while (!over) {
      const options = { url: api.url + list, headers, connections: 4, overallRate: 50, duration: 1 };
      await load(
        {
          ...options,
          setupClient: (client) => client.on('response', (_status, _bytes, ms) => latencies.push(ms)),
        },
        (body) => body.startsWith('{"code":200'),
      );
    }
  })();
  await work();
  over = true;
  await Promise.all([calling, listing]);
  return { p99: percentiles(latencies).p99, slowest: Math.max(...times), callbacks: times.length };
}

/** The first day of a month of the past. */
function monthsBack(count: number): string {
  const at = new Date();
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - count)).toISOString().slice(0, 10);
}

function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en-US')} rows/s`;
}

function versus(ms: number, idle: number): string {
  return `${ms.toFixed(1)} ms, ${(ms / idle).toFixed(1)} × idle`;
}
