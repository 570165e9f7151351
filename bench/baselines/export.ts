// What bench:export is held against: pages by key over mysql2, one ahead, into a synced file: their cells put together without a
// look at them, or given to bare exceljs; a process of its own that gives way as much as the bulk worker does.
import { rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import exceljs from 'exceljs';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { config } from '../../config/index.js';

const nice = config.worker.bulkNice;

const { host, port, user, password, name } = config.database;

const pageSize = 1000;

const sql = `SELECT o.id, o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, d.product_id, d.product_name, d.price,
    d.quantity, d.subtotal, o.payment_no, o.paid_at, o.created_at
  FROM (SELECT * FROM orders o FORCE INDEX (PRIMARY) WHERE o.period = ? AND o.deleted_at IS NULL AND o.id > ?
    ORDER BY o.id LIMIT ${pageSize}) o
  LEFT JOIN users u ON u.id = o.user_id
  LEFT JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period ORDER BY o.id, d.id`;

/** What is asked for: the months from that one on. */
export interface BareExport {
  format: 'csv' | 'xlsx';
  from: number;
}

export interface BareExported {
  rows: number;
  seconds: number;
  /** Most of it at once, in MB. */
  memory: number;
}

process.on('message', (asked: BareExport) => void run(asked).then((result) => process.send?.(result)));
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');

async function run({ format, from }: BareExport): Promise<BareExported> {
  setPriority(nice);
  const connection = await createConnection({
    ...{ host, port, user, password, database: name, charset: 'utf8mb4_unicode_ci', timezone: 'Z' },
    ...{ dateStrings: true, rowsAsArray: true },
  });
  const path = join(tmpdir(), `baseline-export-${process.pid}.${format}`);
  const file = await open(path, 'w');
  const writer = format === 'csv' ? textInto(file) : workbookInto(file);
  let [rows, memory] = [0, 0];
  const startedAt = performance.now();
  const [months] = await connection.query<RowDataPacket[][]>(
    'SELECT DISTINCT period FROM orders WHERE period >= ? ORDER BY period',
    [from],
  );
  for (const [period] of months) {
    const read = (after: number) => connection.query<RowDataPacket[][]>(sql, [period, after]);
    let next: ReturnType<typeof read> | undefined = read(0);
    while (next) {
      const [page]: [RowDataPacket[][], unknown] = await next;
      const last = page.at(-1)?.[0] as unknown as number | undefined;
      next = last === undefined ? undefined : read(last);
      await writer.write(page as unknown as Line[]);
      rows += page.length;
      memory = Math.max(memory, process.memoryUsage.rss() / 1e6);
    }
  }
  await writer.end();
  const seconds = (performance.now() - startedAt) / 1000;
  connection.destroy();
  rmSync(path, { force: true });
  return { rows, seconds, memory };
}

type Line = (string | number | null)[];

interface Writer {
  write(page: Line[]): Promise<unknown>;
  end(): Promise<void>;
}

function textInto(file: FileHandle): Writer {
  return {
    async write(page) {
      let text = '';
      for (const row of page) {
        for (let column = 1; column < row.length; column++)
          text += `${column > 1 ? ',' : ''}${row[column] ?? ''}`;
        text += '\r\n';
      }
      await file.write(text);
    },
    async end() {
      await file.sync();
      await file.close();
    },
  };
}

function workbookInto(file: FileHandle): Writer {
  const stream = file.createWriteStream({ flush: true });
  const workbook = new exceljs.stream.xlsx.WorkbookWriter({ stream });
  const sheet = workbook.addWorksheet('orders');
  return {
    async write(page) {
      for (const [, ...cells] of page) sheet.addRow(cells).commit();
      await turn();
    },
    end: () => workbook.commit(),
  };
}
