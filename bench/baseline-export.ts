// What bench:export is held against: one SELECT streamed by mysql2 into csv-stringify and a file, in a process of its own.
import { createWriteStream, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { createConnection } from 'mysql2';
import { config } from '../config/index.js';

const { host, port, user, password, name } = config.database;

const sql = `SELECT o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, d.product_id, d.product_name, d.price,
    d.quantity, d.subtotal, o.payment_no, o.paid_at, o.created_at
  FROM orders o LEFT JOIN users u ON u.id = o.user_id
  LEFT JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period WHERE o.deleted_at IS NULL`;

process.on('message', () => void run().then((result) => process.send?.(result)));
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');

async function run(): Promise<{ rows: number; seconds: number; memory: number }> {
  const connection = createConnection({
    ...{ host, port, user, password, database: name, charset: 'utf8mb4_unicode_ci', timezone: 'Z' },
    ...{ dateStrings: true, rowsAsArray: true },
  });
  const file = join(tmpdir(), `baseline-export-${process.pid}.csv`);
  let rows = 0;
  let memory = 0;
  const counting = new Transform({
    objectMode: true,
    transform(row, _, done) {
      if (++rows % 10_000 === 0) memory = Math.max(memory, process.memoryUsage.rss() / 1e6);
      done(null, row);
    },
  });
  const startedAt = performance.now();
  await pipeline(
    connection.query(sql).stream({ highWaterMark: 1000 }),
    counting,
    stringify({ bom: true, escape_formulas: true, record_delimiter: 'windows' }),
    createWriteStream(file),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  connection.destroy();
  rmSync(file, { force: true });
  return { rows, seconds, memory };
}
