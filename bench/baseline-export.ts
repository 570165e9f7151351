// What bench:export is held against: pages by key over mysql2, one ahead, their cells put together without a look at them, into a
// synced file; a process of its own that gives way as much as the bulk worker does.
import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { config } from '../config/index.js';

const nice = config.worker.bulkNice;

const { host, port, user, password, name } = config.database;

const pageSize = 1000;

const sql = `SELECT o.id, o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, d.product_id, d.product_name, d.price,
    d.quantity, d.subtotal, o.payment_no, o.paid_at, o.created_at
  FROM (SELECT * FROM orders o FORCE INDEX (PRIMARY) WHERE o.period = ? AND o.deleted_at IS NULL AND o.id > ?
    ORDER BY o.id LIMIT ${pageSize}) o
  LEFT JOIN users u ON u.id = o.user_id
  LEFT JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period ORDER BY o.id, d.id`;

process.on('message', () => void run().then((result) => process.send?.(result)));
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');

async function run(): Promise<{ rows: number; seconds: number; cpu: number; memory: number }> {
  setPriority(nice);
  const connection = await createConnection({
    ...{ host, port, user, password, database: name, charset: 'utf8mb4_unicode_ci', timezone: 'Z' },
    ...{ dateStrings: true, rowsAsArray: true },
  });
  const path = join(tmpdir(), `baseline-export-${process.pid}.csv`);
  const file = await open(path, 'w');
  let [rows, memory] = [0, 0];
  const [startedAt, used] = [performance.now(), process.cpuUsage()];
  const [months] = await connection.query<RowDataPacket[][]>(
    'SELECT DISTINCT period FROM orders ORDER BY period',
  );
  for (const [period] of months) {
    const read = (after: number) => connection.query<RowDataPacket[][]>(sql, [period, after]);
    let next: ReturnType<typeof read> | undefined = read(0);
    while (next) {
      const [page]: [RowDataPacket[][], unknown] = await next;
      const last = page.at(-1)?.[0] as unknown as number | undefined;
      next = last === undefined ? undefined : read(last);
      let text = '';
      for (const row of page) {
        for (let column = 1; column < row.length; column++)
          text += `${column > 1 ? ',' : ''}${(row[column] ?? '') as unknown as string}`;
        text += '\r\n';
      }
      await file.write(text);
      rows += page.length;
      memory = Math.max(memory, process.memoryUsage.rss() / 1e6);
    }
  }
  await file.sync();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user: userTime, system } = process.cpuUsage(used);
  connection.destroy();
  await file.close();
  rmSync(path, { force: true });
  return { rows, seconds, cpu: (userTime + system) / rows, memory };
}
