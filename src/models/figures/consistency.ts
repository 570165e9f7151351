// Consistency of the books: sums by month, and rows that contradict each other. Reads everything from one snapshot.
import type { RowDataPacket } from 'mysql2/promise';
import { connectToSnapshot } from '../../lib/database/connection.js';

/** The orders or payments of a month in one state; the sum is exact. */
export interface MonthSum {
  of: 'orders' | 'payments';
  period: number;
  status: string;
  count: number;
  amount: string;
}

/** Rows that contradict each other: what is wrong, how many there are, and the first of them. */
interface Contradiction {
  what: string;
  count: number;
  first: string[];
}

const shown = 10;
/** Four of them end within the time of `maintain-tables`. */
const statementSeconds = 1500;

const sums = (table: 'orders' | 'payments'): string =>
  `SELECT '${table}' AS \`of\`, period, status, COUNT(*) AS count, SUM(amount) AS amount
   FROM ${table} GROUP BY period, status ORDER BY period, status`;

/** What holds of refunds and balances at any moment; each selects \`name\` of the rows that are wrong. */
const equations: Record<string, string> = {
  'payments whose refunded amount is not the sum of their succeeded refunds': `
    SELECT p.payment_no AS name FROM payments p
    LEFT JOIN (SELECT payment_no, SUM(amount) AS total FROM refunds WHERE status = 'succeeded'
      GROUP BY payment_no) r ON r.payment_no = p.payment_no
    WHERE p.refunded_amount <> COALESCE(r.total, 0)`,
  'payments whose reserved amount is not the sum of their refunds that have not failed or been rejected': `
    SELECT p.payment_no AS name FROM payments p
    LEFT JOIN (SELECT payment_no, SUM(amount) AS total FROM refunds WHERE status NOT IN ('failed', 'rejected')
      GROUP BY payment_no) r ON r.payment_no = p.payment_no
    WHERE p.refund_reserved <> COALESCE(r.total, 0)`,
  'payments that refund more than they reserve, or reserve more than was paid': `
    SELECT p.payment_no AS name FROM payments p
    WHERE p.refunded_amount < 0 OR p.refunded_amount > p.refund_reserved
      OR p.refund_reserved > IF(p.status = 'paid', p.amount, 0)`,
  'users whose balance is not the sum of its changes': `
    SELECT u.username AS name FROM users u
    LEFT JOIN (SELECT user_id, SUM(IF(type = 'expense', -amount, amount)) AS total
      FROM user_balance_logs GROUP BY user_id) l ON l.user_id = u.id
    WHERE u.balance <> COALESCE(l.total, 0)`,
};

/** The month in a number, so that one partition is asked for it. */
const monthIn = (number: string): string => `CAST(SUBSTRING(${number}, 4, 6) AS UNSIGNED)`;

/** The same of everything that was stored. */
const contradictions: Record<string, string> = {
  'paid orders whose payment is not there, not paid, or of another order or amount': `
    SELECT o.order_no AS name FROM orders o
    LEFT JOIN payments p ON p.payment_no = o.payment_no AND p.period = ${monthIn('o.payment_no')}
    WHERE o.status = 'paid'
      AND (p.id IS NULL OR p.status <> 'paid' OR p.order_no <> o.order_no OR p.amount <> o.amount)`,
  'paid payments whose order is not paid by them, and nobody was notified': `
    SELECT p.payment_no AS name FROM payments p
    LEFT JOIN orders o ON o.order_no = p.order_no AND o.period = ${monthIn('p.order_no')}
    WHERE p.status = 'paid' AND p.fail_reason IS NULL
      AND (o.id IS NULL OR o.status <> 'paid' OR o.payment_no <> p.payment_no)`,
  'orders whose lines do not add up to their amount': `
    SELECT o.order_no AS name FROM orders o
    JOIN (SELECT period, order_no, SUM(subtotal) AS total FROM order_details GROUP BY period, order_no) d
      ON d.order_no = o.order_no AND d.period = o.period
    WHERE d.total <> o.amount`,
  'changes of balances that do not add up': `
    SELECT CAST(id AS CHAR) AS name FROM user_balance_logs
    WHERE balance_after <> balance_before + IF(type = 'expense', -amount, amount)`,
  'files that a row names and that are not kept': `
    SELECT k.storage_key AS name FROM (
      SELECT storage_key FROM attachments UNION ALL SELECT storage_key FROM chunks
      UNION ALL SELECT storage_key FROM exports WHERE status = 1
      UNION ALL SELECT storage_key FROM imports
        WHERE status = 0 OR (failed_count > 0 AND expires_at IS NOT NULL)) k
    LEFT JOIN stored_files f ON f.storage_key = k.storage_key
    WHERE f.state IS NULL OR f.state <> 'kept'`,
  ...equations,
};

/** Sums of orders and payments by month and state, and contradictions between them. */
export const checkBooks = (): Promise<{ months: MonthSum[]; contradictions: Contradiction[] }> =>
  inSnapshot(async (rows) => {
    const months = [...(await rows<MonthSum>(sums('orders'))), ...(await rows<MonthSum>(sums('payments')))];
    return { months, contradictions: await found(contradictions, rows) };
  });

/** What contradicts the four equations of refunds and balances. */
export const checkEquations = (): Promise<Contradiction[]> => inSnapshot((rows) => found(equations, rows));

type Rows = <T>(sql: string) => Promise<T[]>;

async function found(checks: Record<string, string>, rows: Rows): Promise<Contradiction[]> {
  const wrong: Contradiction[] = [];
  for (const [what, sql] of Object.entries(checks)) {
    const first = await rows<{ name: string; total: number }>(
      `SELECT name, COUNT(*) OVER () AS total FROM (${sql}) w LIMIT ${shown}`,
    );
    if (first[0]) wrong.push({ what, count: first[0].total, first: first.map(({ name }) => name) });
  }
  return wrong;
}

/** Reads from one snapshot, over a dedicated connection. */
async function inSnapshot<T>(read: (rows: Rows) => Promise<T>): Promise<T> {
  const connection = await connectToSnapshot({ statementSeconds });
  try {
    return await read(async <R>(sql: string) => (await connection.query<RowDataPacket[]>(sql))[0] as R[]);
  } finally {
    connection.destroy();
  }
}
