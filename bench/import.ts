// npm run bench -- import [ROWS]: importing a file of orders, alone and beside the daily work.
//
// What is measured, and how:
// - API, the quick worker and the bulk worker are processes of their own, as ecosystem.config.js runs them, with
//   NODE_ENV=production and LOG_LEVEL=warn, over one MariaDB with durable commits and one Redis.
// - The file has one order of one line in each row, every row with an order_ref of its own, Chinese text in two columns. It is
//   sent to POST /orders/import. Time counts from the record's created_at (the file has arrived) to its finished_at.
// - Memory is the largest resident set of the bulk worker, sampled every 100 ms, for a tenth of the rows and for all.
// - The least anybody could do: LOAD DATA LOCAL INFILE of the same file into the same two tables, one statement each, with
//   order numbers from a counter, no check of anything and one commit for all.
// - Beside the daily work: 4 connections read the first page of the signed-in list of orders (idle first, then while
//   three tenths of the rows are imported), and in turn with them payment callbacks are sent, one at a time.
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { load, type Measured } from './support/load.js';
import { importFile, writeOrderFile, type ImportFigures } from './support/order-files.js';
import { fillPayments } from './support/payments.js';
import { startApi, startBulkWorker, startWorker } from './support/processes.js';
import { median, printTable, row, say, sayRun } from './support/report.js';
import { runBench } from './support/run.js';
import { call, signIn } from './support/session.js';
import { makeSite, type Site } from './support/site.js';

const rows = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 1_000_000);
const fewer = Math.ceil(rows / 10);
const besideRows = Math.ceil((3 * rows) / 10);
const secret = 'bench shared secret';
const maxCallbacks = 1000;
const callbacksInARow = 5;
const warmUp = 40;
const listSeconds = 5;
const listConnections = 4;

await runBench(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'));
  try {
    await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

async function measure(folder: string): Promise<void> {
  const site = await makeSite('import');
  const api = await startApi(site);
  await startWorker(site);
  const worker = await startBulkWorker(site);
  const headers = await signIn(api.url);
  const { id } = await call<{ id: number }>(`${api.url}/api/admin/payment-methods`, headers, {
    type: 'mock',
    shared_secret: secret,
  });
  const callbacks = await fillPayments(site.db, maxCallbacks, id, secret);
  const [large, medium, small] = ['large.csv', 'medium.csv', 'small.csv'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await writeOrderFile(large, rows);
  await writeOrderFile(medium, besideRows);
  await writeOrderFile(small, fewer);

  const list = (): Promise<Measured> =>
    load(
      {
        ...{ url: `${api.url}/api/admin/orders?page_size=10`, headers, duration: listSeconds },
        connections: listConnections,
      },
      (body) => body.startsWith('{"code":200'),
    );
  const settled = async (): Promise<number> => {
    const startedAt = performance.now();
    const body = JSON.parse(callbacks.pop() as string) as object;
    const { status } = await call<{ status: string }>(`${api.url}/api/payment/notify/mock`, {}, body);
    return status === 'paid' ? performance.now() - startedAt : Infinity;
  };
  for (let sent = 0; sent < warmUp; sent++) await settled();
  await list();
  const idle = await list();
  sayRun('list, idle', idle);

  const few = reported(fewer, await importFile(small, fewer, headers, { api, worker }));
  const all = reported(rows, await importFile(large, rows, headers, { api, worker }));
  let isImporting = true;
  const beside = importFile(medium, besideRows, headers, { api, worker }).finally(
    () => (isImporting = false),
  );
  const [lists, settling]: [Measured[], number[]] = [[], []];
  while (isImporting) {
    lists.push(await list());
    for (let sent = 0; sent < callbacksInARow; sent++) settling.push(await settled());
  }
  const busy = reported(besideRows, await beside);
  const seconds = await loadData(site, large);
  say(`  LOAD DATA of the same rows: ${Math.round(rows / seconds)} rows/s`);

  const listP99 = median(lists.map(({ p99 }) => p99));
  const slowest = Math.max(...settling);
  const flat = all.workerMb / few.workerMb;
  printTable(`bench:import (${rows} rows, one order each)`, [
    row('rows imported alone', `${Math.round(all.perSecond)} rows/s`, '≥ 15000', all.perSecond >= 15_000),
    row('  of what LOAD DATA does', `${((all.perSecond * seconds) / rows).toFixed(2)} ×`),
    row('  worker, resident', `${all.workerMb.toFixed(0)} MB`, '< 200', all.workerMb < 200),
    row(`  against ${fewer} rows`, `${flat.toFixed(2)} ×`, '< 1.25', flat < 1.25),
    row('  API, resident', `${all.apiMb.toFixed(0)} MB`),
    row('rows imported beside the daily work', `${Math.round(busy.perSecond)} rows/s`),
    row(
      '  p99 of the list',
      `${listP99.toFixed(1)} ms`,
      `< 3 × ${idle.p99.toFixed(1)}`,
      listP99 < 3 * idle.p99,
    ),
    row('  slowest callback', `${slowest.toFixed(0)} ms`, '< 1000', slowest < 1000),
  ]);
}

function reported(count: number, figures: ImportFigures): ImportFigures {
  const { perSecond, workerMb, apiMb, workerMicros } = figures;
  const memory = `worker ${workerMb.toFixed(0)} MB   API ${apiMb.toFixed(0)} MB`;
  say(
    `  ${count} rows: ${Math.round(perSecond)} rows/s   ${workerMicros.toFixed(0)} µs of the worker each   ${memory}`,
  );
  return figures;
}

/** @returns the seconds it took */
async function loadData({ env, db }: Site, path: string): Promise<number> {
  await db.query('SET GLOBAL local_infile = 1');
  const connection = await createConnection({
    ...{ host: env.DB_HOST, port: Number(env.DB_PORT), user: env.DB_USER, password: env.DB_PASSWORD },
    ...{
      database: env.DB_NAME,
      charset: 'utf8mb4_unicode_ci',
      infileStreamFactory: () => createReadStream(path),
    },
  });
  const number = "CONCAT('ORD', @period, LPAD(HEX(@n := @n + 1), 26, '0'))";
  const load = (table: string, columns: string, set: string): Promise<unknown> =>
    connection.query(
      `LOAD DATA LOCAL INFILE 'orders.csv' INTO TABLE ${table} CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' IGNORE 1 LINES
       (${columns}) SET period = @period, order_no = ${number}, ${set}`,
    );
  try {
    await connection.query("SET @n = 0, @period = DATE_FORMAT(UTC_TIMESTAMP(), '%Y%m'), autocommit = 0");
    const startedAt = performance.now();
    const times = 'created_at = UTC_TIMESTAMP(3), updated_at = UTC_TIMESTAMP(3)';
    await load('orders', 'user_id, amount, remark, @ref, @product, @name, @price, @quantity', times);
    await connection.query('SET @n = 0');
    const line = '@user, @amount, @remark, @ref, product_id, product_name, price, quantity';
    await load('order_details', line, 'subtotal = @amount');
    await connection.query('COMMIT');
    return (performance.now() - startedAt) / 1000;
  } finally {
    await connection.end();
  }
}
