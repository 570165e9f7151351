// Files of orders to import, sending them, and what importing them costs.
import { createWriteStream, openAsBlob } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Process } from './processes.js';
import { call } from './session.js';

export interface ImportFigures {
  rows: number;
  seconds: number;
  perSecond: number;
  /** Processor time of the worker for each row, in microseconds. */
  workerMicros: number;
  /** Largest resident sets seen, in MB. */
  workerMb: number;
  apiMb: number;
}

interface ImportRecord {
  status: number;
  processed_rows: number;
  success_count: number;
  error_msg: string | null;
}

const sampleMs = 100;

/** Writes a file of that many orders of one row each, of users 1 to 1,000. */
export async function writeOrderFile(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write('user_id,amount,remark,order_ref,product_id,product_name,price,quantity\n');
  for (let row = 0; row < rows; row++) {
    const [price, quantity] = [1000 + (row % 9000), 1 + (row % 3)];
    const [amount, each] = [price * quantity, price].map((cents) => (cents / 100).toFixed(2));
    const line = `${1 + (row % 1000)},${amount},订单 remark ${row},REF-${row},${1 + (row % 50)},商品 Product ${row % 50},${each},${quantity}\n`;
    if (!file.write(line)) await once(file, 'drain');
  }
  await new Promise((resolve) => file.end(resolve));
}

/**
 * Sends a file and waits until every row of it is imported.
 *
 * @param worker the process that imports
 * @throws Error when a single row was refused
 */
export async function importFile(
  path: string,
  rows: number,
  headers: Record<string, string>,
  { api, worker }: { api: Process; worker: Process },
): Promise<ImportFigures> {
  const figures = { workerMb: 0, apiMb: 0 };
  const sample = (): void => {
    figures.workerMb = Math.max(figures.workerMb, worker.memory());
    figures.apiMb = Math.max(figures.apiMb, api.memory());
  };
  const usedMs = worker.processorMs();
  const sampling = setInterval(sample, sampleMs);
  try {
    const form = new FormData();
    form.append('file', await openAsBlob(path), 'orders.csv');
    const response = await fetch(`${api.url}/api/admin/orders/import`, {
      method: 'POST',
      headers,
      body: form,
    });
    const { data } = (await response.json()) as { data: { import_id: number } };
    const ended = await untilEnded(`${api.url}/api/admin/imports/${data.import_id}`, headers);
    if (ended.success_count !== rows) throw new Error(`of ${rows} rows: ${JSON.stringify(ended)}`);
    const seconds = (Date.parse(ended.finished_at) - Date.parse(ended.created_at)) / 1000;
    const workerMicros = ((worker.processorMs() - usedMs) * 1000) / rows;
    return { rows, seconds, perSecond: rows / seconds, workerMicros, ...figures };
  } finally {
    clearInterval(sampling);
  }
}

async function untilEnded(
  url: string,
  headers: Record<string, string>,
): Promise<ImportRecord & { created_at: string; finished_at: string }> {
  for (;;) {
    const record = await call<ImportRecord & { created_at: string; finished_at: string }>(url, headers);
    if (record.status === 1) return record;
    if (record.status === 2) throw new Error(`the import failed: ${record.error_msg}`);
    await sleep(sampleMs);
  }
}
