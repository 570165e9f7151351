// npm run bench -- import [ROWS]: importing a file of orders, alone and beside the daily work.
//
// Each of the 100,000 rows (or ROWS) is an order with an order_ref of its own and Chinese text in two columns. Rows per second
// count from the record's created_at (the file has arrived) to its finished_at. The least anybody could do is LOAD DATA of the
// same file into the same two tables, without checks and with one commit. Memory is that of the bulk worker, for a tenth of
// the rows and for all. Beside the daily work: 4 connections read the list of orders for 5 s, first idle, then while three
// tenths of the rows are imported, in turn with five callbacks, one at a time.
import { Readable } from 'node:stream';
import { load, type Measured } from './support/load.js';
import { pay, pendingPayments } from './support/payments.js';
import { startBulkWorker } from './support/processes.js';
import { mb, median, ms, printTable, times } from './support/report.js';
import { during, runBench } from './support/run.js';
import { ended, startService } from './support/session.js';
import { connectTo, makeSite, type Site } from './support/site.js';

const total = Number(process.argv[2] ?? 100_000);
const fewer = Math.ceil(total / 10);
const callbacksInARow = 5;

await runBench(async () => {
  const site = await makeSite('import');
  const { api, headers } = await startService(site);
  const worker = await startBulkWorker(site);
  const callbacks = await pendingPayments(site, api, 500);
  const list = { url: `${api.url}/api/admin/orders?page_size=10`, headers, connections: 4, duration: 5 };

  for (let sent = 0; sent < 40; sent++) await pay(api, callbacks.pop()); // warms up
  await load(list);
  const idle = await load(list);

  const imported = async (rows: number): Promise<{ perSecond: number; peak: number }> => {
    const form = new FormData();
    form.append('file', orderFile(rows), 'orders.csv');
    worker.peakMemory();
    const answer = await fetch(`${api.url}/api/admin/orders/import`, { method: 'POST', headers, body: form });
    const { data } = (await answer.json()) as { data: { import_id: number } };
    const record = await ended(`${api.url}/api/admin/imports/${data.import_id}`, headers);
    if (record.success_count !== rows) throw new Error(`of ${rows} rows: ${JSON.stringify(record)}`);
    return { perSecond: rows / record.seconds, peak: worker.peakMemory() };
  };
  const few = await imported(fewer);
  const all = await imported(total);
  const lists: Measured[] = [];
  const settling: number[] = [];
  await during(imported(3 * fewer), async () => {
    lists.push(await load(list));
    for (let sent = 0; sent < callbacksInARow; sent++) settling.push(await pay(api, callbacks.pop()));
  });
  const bare = await loadData(site, orderFile(total));

  const beside = median(lists.map(({ p99 }) => p99));
  printTable(`bench:import (${total} rows, one order each)`, {
    'rows imported alone': `${all.perSecond.toFixed(0)} rows/s`,
    [`  against LOAD DATA, ${bare.toFixed(0)} rows/s`]: times(all.perSecond / bare),
    'memory of the worker': mb(all.peak),
    [`  against that of ${fewer} rows`]: times(all.peak / few.peak),
    'p99 of the list beside an import': ms(beside),
    [`  against the idle list, ${ms(idle.p99)}`]: times(beside / idle.p99),
    'slowest callback beside an import': ms(Math.max(...settling)),
  });
});

/** A file of that many orders of one row each, of users 1 to 1,000. */
function orderFile(rows: number): Blob {
  const lines = Array.from({ length: rows }, (_, row) => {
    const [price, quantity] = [1000 + (row % 9000), 1 + (row % 3)];
    const [amount, each] = [price * quantity, price].map((cents) => (cents / 100).toFixed(2));
    const product = `${1 + (row % 50)},商品 Product ${row % 50},${each},${quantity}`;
    return `${1 + (row % 1000)},${amount},订单 remark ${row},REF-${row},${product}\n`;
  });
  const heads = 'user_id,amount,remark,order_ref,product_id,product_name,price,quantity\n';
  return new Blob([heads + lines.join('')]);
}

/** @returns rows per second */
async function loadData({ env, db }: Site, file: Blob): Promise<number> {
  await db.query('SET GLOBAL local_infile = 1');
  const connection = await connectTo(env.DB_NAME as string); // the setting is for new connections
  const number = "CONCAT('ORD', @period, LPAD(HEX(@n := @n + 1), 26, '0'))";
  const into = (table: string, columns: string, set: string): Promise<unknown> =>
    connection.query({
      sql: `LOAD DATA LOCAL INFILE 'orders.csv' INTO TABLE ${table} CHARACTER SET utf8mb4 FIELDS TERMINATED BY ','
        IGNORE 1 LINES (${columns}) SET period = @period, order_no = ${number}, ${set}`,
      infileStreamFactory: () => Readable.fromWeb(file.stream()),
    });
  await connection.query("SET @n = 0, @period = DATE_FORMAT(UTC_TIMESTAMP(), '%Y%m'), autocommit = 0");
  const startedAt = performance.now();
  const times = 'created_at = UTC_TIMESTAMP(3), updated_at = UTC_TIMESTAMP(3)';
  await into('orders', 'user_id, amount, remark, @ref, @product, @name, @price, @quantity', times);
  await connection.query('SET @n = 0');
  const line = '@user, @amount, @remark, @ref, product_id, product_name, price, quantity';
  await into('order_details', line, 'subtotal = @amount');
  await connection.query('COMMIT');
  const seconds = (performance.now() - startedAt) / 1000;
  await connection.end();
  return total / seconds;
}
