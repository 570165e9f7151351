// What exports are held against: pages by key over mysql2, one ahead, into a synced file: their cells put together with
// commas, or given to bare exceljs. Nothing is escaped or shown. It gives way to other processes as the bulk worker does.
import { open, rm, type FileHandle } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import exceljs from 'exceljs';
import { createConnection, type Connection } from 'mysql2/promise';
import { config } from '../../config/index.js';
import { address } from './bare.js';

const sql = `SELECT o.id, o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, d.product_id, d.product_name, d.price,
    d.quantity, d.subtotal, o.payment_no, o.paid_at, o.created_at
  FROM (SELECT * FROM orders o FORCE INDEX (PRIMARY) WHERE o.period = ? AND o.deleted_at IS NULL AND o.id > ?
    ORDER BY o.id LIMIT 1000) o
  LEFT JOIN users u ON u.id = o.user_id
  LEFT JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period ORDER BY o.id, d.id`;

type Line = (string | number | null)[];

process.on('message', ({ format }: { format: 'csv' | 'xlsx' }) => {
  void run(format).then((rowsPerSecond) => process.send?.(rowsPerSecond));
});
process.send?.('ready');

async function run(format: 'csv' | 'xlsx'): Promise<number> {
  setPriority(config.worker.bulkNice);
  const db = await createConnection({ ...address, dateStrings: true, rowsAsArray: true });
  const path = join(tmpdir(), `baseline-export-${process.pid}.${format}`);
  const file = await open(path, 'w');
  const startedAt = performance.now();
  const rows = await (format === 'csv' ? writeText(db, file) : writeWorkbook(db, file));
  const seconds = (performance.now() - startedAt) / 1000;
  db.destroy();
  await rm(path);
  return rows / seconds;
}

async function writeText(db: Connection, file: FileHandle): Promise<number> {
  let rows = 0;
  for await (const page of pages(db)) {
    await file.write(page.map(([, ...cells]) => `${cells.join(',')}\r\n`).join(''));
    rows += page.length;
  }
  await file.sync();
  await file.close();
  return rows;
}

async function writeWorkbook(db: Connection, file: FileHandle): Promise<number> {
  let rows = 0;
  const stream = file.createWriteStream({ flush: true });
  const workbook = new exceljs.stream.xlsx.WorkbookWriter({ stream });
  const sheet = workbook.addWorksheet('orders');
  for await (const page of pages(db)) {
    for (const [, ...cells] of page) sheet.addRow(cells).commit();
    await turn();
    rows += page.length;
  }
  await workbook.commit();
  return rows;
}

async function* pages(db: Connection): AsyncGenerator<Line[]> {
  const read = async (query: string, values?: unknown[]): Promise<Line[]> =>
    (await db.query(query, values))[0] as Line[];
  for (const [period] of await read('SELECT DISTINCT period FROM orders ORDER BY period')) {
    let page = await read(sql, [period, 0]);
    while (page.length > 0) {
      const next = read(sql, [period, page.at(-1)?.[0]]);
      yield page;
      page = await next;
    }
  }
}
