// Starts imports of orders, and checks their outcome.
import { select } from '../../src/lib/database/db.js';
import type { Client } from './client.js';
import { readCsv } from './exports.js';
import { makeUser } from './factories.js';
import { startWorkerProcess, type TestProcess } from './processes.js';
import { selectRow } from './rows.js';
import { until } from './until.js';

/** Every tenth order is invalid, every seventh has its second row at the other end of the file. */
export function sheet(user: number, orders: number): { content: string; rows: number; good: number } {
  const ends: string[] = [];
  const rows = Array.from({ length: orders }, (_, order) => {
    const price = order % 10 === 9 ? 'bad' : '1.00';
    if (order % 7 === 0) ends.push(`${user},order ${order},R${order},Cup,2.00,1`);
    return `${user},order ${order},R${order},Tea,${price},1`;
  });
  const all = [...rows, ...ends];
  const good = rows.filter((_, order) => order % 10 !== 9).length;
  return {
    content: ['user_id,remark,order_ref,product_name,price,quantity', ...all].join('\n'),
    rows: all.length,
    good,
  };
}

/** Sends a file. @returns the id of its import */
export async function startImport(
  caller: Client,
  content: string | Uint8Array,
  fields: Record<string, string> = {},
): Promise<number> {
  const answer = await caller.upload('/orders/import', content, { filename: 'orders.csv', fields });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.data.import_id as number;
}

/** Starts the import of a sheet of a user of its own. */
export async function startSheet(caller: Client, orders: number) {
  const user = (await makeUser(caller)).id;
  const file = sheet(user, orders);
  return { user, file, id: await startImport(caller, file.content) };
}

/** The error file of an import, as it came and as rows of cells, the head first. Cells without a column may follow. */
export async function errorFileOf(caller: Client, id: number): Promise<{ bytes: Buffer; rows: string[][] }> {
  const { status, bytes } = await caller.download(`/imports/${id}/error-file`);
  if (status !== 200) throw new Error(bytes.toString());
  return { bytes, rows: readCsv(bytes, true) };
}

/** A worker of imports only. */
export const startImporter = (env: Record<string, string> = {}): Promise<TestProcess> =>
  startWorkerProcess(env, 'imports');

interface State {
  status: number;
  position: number;
  concluded: number;
}

/** Progress of an import. */
export const stateOf = (id: number): Promise<State> =>
  selectRow('SELECT status, position, concluded FROM imports WHERE id = ?', [id]);

/** Waits for progress beyond that. */
export const beyond = (id: number, position: number) =>
  until(async () => (await stateOf(id)).position > position, 60_000, 5);

/** Waits for everything that follows its end. */
export const concluded = (id: number, withinMs = 60_000) =>
  until(async () => (await stateOf(id)).concluded === 1, withinMs);

/** What must hold at the end, whatever happened before. */
export async function outcomeOf(id: number, user: number): Promise<object> {
  const orders = await selectRow<object>(
    `SELECT COUNT(*) AS orders, COUNT(DISTINCT remark) AS different, CAST(SUM(amount) AS CHAR) AS amount FROM orders
     WHERE user_id = ?`,
    [user],
  );
  const lines = await selectRow<{ count: number }>(
    `SELECT COUNT(*) AS count FROM order_details d JOIN orders o ON o.order_no = d.order_no WHERE o.user_id = ?`,
    [user],
  );
  const errors = await selectRow<{ count: number }>(
    'SELECT COUNT(DISTINCT row_no) AS count FROM import_errors WHERE import_id = ?',
    [id],
  );
  const record = await selectRow<object>(
    'SELECT status, total_rows, success_count, failed_count, order_count, progress FROM imports WHERE id = ?',
    [id],
  );
  const notices = await select('SELECT id FROM notifications WHERE event_key LIKE ?', [`import-${id}-%`]);
  return { ...record, ...orders, lines: lines.count, errors: errors.count, notices: notices.length };
}

/** `outcomeOf` an import of such a sheet. */
export function expected({ rows, good }: { rows: number; good: number }, orders: number): object {
  const refs = Array.from({ length: orders }, (_, order) => order).filter((order) => order % 10 !== 9);
  const doubles = refs.filter((order) => order % 7 === 0).length;
  const success_count = good + doubles;
  return {
    ...{ status: 1, progress: 100, total_rows: rows, success_count, failed_count: rows - success_count },
    ...{ order_count: good, orders: good, different: good, amount: `${good + 2 * doubles}.00` },
    ...{ lines: success_count, errors: rows - success_count, notices: 1 },
  };
}
