// What every answer must be, and what must hold in the database when all are given.
import { errorCatalogue } from '../../src/lib/errors/catalogue.js';
import { select } from '../../src/lib/database/db.js';
import { mustAddUp } from '../support/model/balances.js';
import { mustMatchContract } from '../support/contract.js';
import type { FuzzAnswer } from './send.js';
import type { FuzzRequest } from './requests.js';
import { neverTold, type Actor } from './world.js';

export type Problem = [kind: 'unexpected 5xx' | 'schema violation' | 'disclosure' | 'access', detail: string];

/** What Node answers before there is a request: refused heads. It has neither a body nor a trace id. */
const bareStatuses = new Set([400, 408, 413, 417, 431]);

/** Answers below 500 are the caller's matter; of the others only what docs/api.md names. */
const isUnexpected = (status: number): boolean => status >= 500 && status !== 501;

/** What is wrong with an answer. */
export function problemsOf(request: FuzzRequest, answer: FuzzAnswer, actor: Actor): Problem[] {
  const { status, headers, body } = answer;
  const text = body.toString();
  const problems: Problem[] = [];
  if (isUnexpected(status)) problems.push(['unexpected 5xx', `${status} ${text.slice(0, 300)}`]);
  const shown = neverTold.find((secret) => text.includes(secret)) ?? traceIn(text);
  if (shown) problems.push(['disclosure', `an answer holds ${shown}`]);
  if (bareStatuses.has(status) && body.length === 0 && headers.connection === 'close') return problems;
  if (typeof headers['x-trace-id'] !== 'string' || headers['x-trace-id'].length < 8)
    problems.push(['schema violation', `${status} without X-Trace-Id`]);
  const shape = shapeProblem(request, answer, text);
  if (shape) problems.push(['schema violation', shape]);
  if (status < 300 && request.operation && !mayCall(request, actor))
    problems.push(['access', `${status} for ${actor.name}${request.isForged ? ' with a forged token' : ''}`]);
  return problems;
}

// Marks of a stack, of SQL and of the driver that no request of ours carries.
const traces = [
  /\bat [\w.<> ]+ \((file:|\/|node:)/,
  /\.js:\d+:\d+/,
  /\bER_[A-Z_]{4,}/,
  /SequelizeDatabase|SQLSTATE/,
];

const traceIn = (text: string): string | undefined =>
  traces.map((trace) => trace.exec(text)?.[0]).find((found) => found !== undefined);

function shapeProblem(
  request: FuzzRequest,
  { status, headers, isStream }: FuzzAnswer,
  text: string,
): string | undefined {
  const { method, path, operation } = request;
  if (method === 'HEAD' || status === 304 || status === 204)
    return text === '' ? undefined : `${status} with a body`;
  const type = String(headers['content-type'] ?? '');
  const declared = Object.keys(operation?.responses[200]?.content ?? {})[0];
  // Where a path was made odd, the answer is that of the route it still is.
  if (isStream) {
    const isDeclared = !operation || declared === 'text/event-stream';
    return isDeclared && /^data: \{.*\}\n\n/.test(text) ? undefined : 'an odd stream';
  }
  // Where a path was made odd it may have become that of a file, or of the documentation.
  const isFile = declared === '*/*' || !operation;
  if (isFile && !type.startsWith('application/json') && (status === 200 || status === 206)) return undefined;
  if (!operation && text.startsWith('{"openapi"')) return undefined;
  if (!operation && status === 302 && headers.location === '/console/') return undefined;
  if (!type.startsWith('application/json'))
    return `${status} is ${type || 'of no type'}: ${text.slice(0, 100)}`;
  try {
    const envelope = JSON.parse(text) as { error_code?: string; code: number };
    if (operation) mustMatchContract(method, path, status, envelope);
    return status === 200 ? undefined : outcomeProblem(status, envelope);
  } catch (error) {
    return (error as Error).message.slice(0, 1500);
  }
}

function outcomeProblem(
  status: number,
  { error_code = '', code }: { error_code?: string; code: number },
): string | undefined {
  const entry = (errorCatalogue as Record<string, { status: number; code: number } | undefined>)[error_code];
  if (!entry) return `${status} with the unknown error_code ${error_code}`;
  return entry.status === status && entry.code === code
    ? undefined
    : `${status} with ${error_code} and ${code}`;
}

function mayCall({ operation, isForged }: FuzzRequest, { name, slugs }: Actor): boolean {
  if (operation?.security.length === 0) return true;
  if (name === 'anonymous' || isForged) return false;
  const needed = /Needs the permission `([\w.]+)`/.exec(operation?.description ?? '')?.[1];
  return slugs === undefined || needed === undefined || slugs.has(needed);
}

/** Sentences about money that does not add up; every name is a query that must find nothing. */
const mustBeNone: Record<string, string> = {
  'paid payments whose order is not paid by them and that nobody is notified of': `
    SELECT p.payment_no FROM payments p LEFT JOIN orders o ON o.order_no = p.order_no AND o.status = 'paid'
      AND o.payment_no = p.payment_no WHERE p.status = 'paid' AND o.id IS NULL AND p.needs_attention = 0 AND p.fail_reason IS NULL`,
  'paid orders without a paid payment': `
    SELECT o.order_no FROM orders o LEFT JOIN payments p ON p.payment_no = o.payment_no AND p.order_no = o.order_no
      AND p.status = 'paid' WHERE o.status = 'paid' AND p.id IS NULL`,
  'orders that are not the sum of their lines': `
    SELECT o.order_no FROM orders o JOIN (SELECT order_no, SUM(subtotal) AS total FROM order_details GROUP BY order_no) d
      ON d.order_no = o.order_no WHERE d.total <> o.amount`,
  'balances that are not the sum of their logs': `
    SELECT u.id FROM users u LEFT JOIN (SELECT user_id, SUM(IF(type = 'expense', -amount, amount)) AS total
      FROM user_balance_logs GROUP BY user_id) l ON l.user_id = u.id WHERE u.balance <> COALESCE(l.total, 0)`,
  'payments that are not the sum of their refunds': `
    SELECT p.payment_no FROM payments p LEFT JOIN (SELECT payment_no, SUM(IF(status = 'succeeded', amount, 0)) AS given,
      SUM(IF(status IN ('failed', 'rejected'), 0, amount)) AS held FROM refunds GROUP BY payment_no) r
      ON r.payment_no = p.payment_no
    WHERE p.refunded_amount <> COALESCE(r.given, 0) OR p.refund_reserved <> COALESCE(r.held, 0)
      OR p.refunded_amount > p.refund_reserved OR p.refund_reserved > p.amount`,
  'callbacks that are not settled': `SELECT id FROM payment_callbacks WHERE state = 'pending'`,
  'third-party numbers that paid twice': `
    SELECT third_party_no FROM payments WHERE status = 'paid' GROUP BY third_party_no HAVING COUNT(*) > 1`,
};

/** Invariants that do not hold, as sentences. */
export async function brokenInvariants(): Promise<string[]> {
  const broken: string[] = [];
  for (const [name, sql] of Object.entries(mustBeNone)) {
    const rows = await select(sql);
    if (rows.length > 0) broken.push(`${rows.length} ${name}, such as ${JSON.stringify(rows[0])}`);
  }
  const users = await select<{ id: number }>('SELECT DISTINCT user_id AS id FROM user_balance_logs');
  for (const { id } of users) await mustAddUp(id).catch((error: Error) => broken.push(error.message));
  return broken;
}

/** How deep the requests went: what they left behind. */
export async function depth(): Promise<Record<string, number>> {
  const [row] = await select<Record<string, number>>(
    `SELECT (SELECT COUNT(*) FROM orders) AS orders, (SELECT COUNT(*) FROM payments) AS payments,
       (SELECT COUNT(*) FROM payments WHERE status = 'paid') AS paid,
       (SELECT COUNT(*) FROM payments WHERE needs_attention = 1) AS attention,
       (SELECT COUNT(*) FROM payment_callbacks) AS callbacks, (SELECT COUNT(*) FROM refunds) AS refunds,
       (SELECT COUNT(*) FROM user_balance_logs) AS balance_changes`,
  );
  return row ?? {};
}
