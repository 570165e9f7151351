// Finds records of every kind by one text: numbers whole, by their beginning or their end, names, phones,
// e-mail addresses, trace ids. Every condition is an exact or prefix match on an index, but for
// administrators, of whom there are few, and for the ends of numbers.
import { escapeLike, isAscii } from '../../lib/input/list-query.js';
import { now } from '../../lib/values/clock.js';
import { allChannels } from '../../lib/channels/index.js';
import { reports, select, type SqlValue } from '../../lib/database/db.js';
import {
  orderPeriod,
  paymentPeriod,
  periodOf,
  periodsOf,
  refundPeriod,
  shiftPeriod,
} from '../../lib/values/numbers.js';

export const searchKinds = ['order', 'payment', 'refund', 'user', 'admin', 'trace'] as const;

export type SearchKind = (typeof searchKinds)[number];

interface SearchHit {
  kind: SearchKind;
  /** Number or id of the record; the trace id itself. */
  id: string;
  title: string;
  /** What distinguishes it: the user of an order, the order of a payment, the payment of a refund. */
  note: string;
  /** State of an order, payment or refund, 0 or 1 of users and administrators; empty for traces. */
  status: string;
}

const maxHits = 5;
/** Shorter ends of numbers belong to too many records. */
const minEnd = 6;
/** The end of a number is searched in this month and the one before. */
const monthsOfEnds = 1;
const minThirdParty = 6;

interface Condition {
  sql: string;
  values: SqlValue[];
  /** The column whose index serves it gives the order of the hits. */
  order: string;
}

const searches: Record<SearchKind, (text: string) => Promise<SearchHit[]>> = {
  order: async (text) =>
    firstHits(
      `SELECT 'order' AS kind, o.order_no AS id, o.order_no AS title, COALESCE(u.username, '') AS note, o.status
       FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.deleted_at IS NULL AND`,
      await numberConditions('orders', 'o.order_no', 'o.period', text, orderPeriod),
    ),
  payment: async (text) =>
    firstHits(
      `SELECT 'payment' AS kind, p.payment_no AS id, p.payment_no AS title, p.order_no AS note, p.status
       FROM payments p WHERE`,
      [
        ...(await numberConditions('payments', 'p.payment_no', 'p.period', text, paymentPeriod)),
        ...(orderPeriod(upper(text)) === undefined ? [] : [exact('p.order_no', upper(text))]),
        ...(text.length >= minThirdParty && isAscii(text)
          ? [startsWith('p.third_party_no', text), paidAlsoAs(text)]
          : []),
      ],
    ),
  refund: async (text) =>
    firstHits(
      `SELECT 'refund' AS kind, r.refund_no AS id, r.refund_no AS title, r.payment_no AS note, r.status
       FROM refunds r WHERE`,
      [
        ...(await numberConditions('refunds', 'r.refund_no', 'r.period', text, refundPeriod)),
        ...(paymentPeriod(upper(text)) === undefined ? [] : [exact('r.payment_no', upper(text))]),
      ],
    ),
  user: (text) =>
    firstHits(
      `SELECT 'user' AS kind, CAST(u.id AS CHAR) AS id, u.username AS title, u.nickname AS note, CAST(u.status AS CHAR) AS status
       FROM users u WHERE u.deleted_at IS NULL AND`,
      [
        ...(/^[1-9]\d{0,14}$/.test(text) ? [exact('u.id', text)] : []),
        ...['u.username', 'u.nickname', 'u.phone', 'u.email'].map((column) => startsWith(column, text)),
      ],
    ),
  admin: (text) =>
    firstHits(
      `SELECT 'admin' AS kind, CAST(a.id AS CHAR) AS id, a.username AS title, a.nickname AS note, CAST(a.status AS CHAR) AS status
       FROM admins a WHERE`,
      ['a.username', 'a.nickname'].map((column) => startsWith(column, text)),
    ),
  trace: (text) =>
    /^[\w.:-]{8,64}$/.test(text)
      ? firstHits(
          `SELECT 'trace' AS kind, l.trace_id AS id, l.trace_id AS title, l.title AS note, '' AS status
           FROM operation_logs l WHERE`,
          [exact('l.trace_id', text)],
        )
      : Promise.resolve([]),
};

/** The first five records of each of these kinds, in the order of the kinds. */
export async function search(typed: string, kinds: readonly SearchKind[]): Promise<SearchHit[]> {
  // As in lists: a number may be pasted with spaces.
  const text = typed.trim();
  if (text === '') return [];
  return (await Promise.all(kinds.map((kind) => searches[kind](text)))).flat();
}

// One statement for each condition, so that each uses its own index.
async function firstHits(head: string, conditions: readonly Condition[]): Promise<SearchHit[]> {
  const found = await Promise.all(
    conditions.map(({ sql, values, order }) =>
      select<SearchHit>(`${head} ${sql} ORDER BY ${order} LIMIT ${maxHits}`, values),
    ),
  );
  return [...new Map(found.flat().map((hit) => [hit.id, hit])).values()].slice(0, maxHits);
}

type NumberedTable = 'orders' | 'payments' | 'refunds';

/** The whole number, its beginning, or its end. */
async function numberConditions(
  table: NumberedTable,
  column: string,
  period: string,
  text: string,
  periodIn: (number: string) => number | undefined,
): Promise<Condition[]> {
  const number = upper(text);
  if (!/^[0-9A-Z]+$/.test(number)) return [];
  const own = periodIn(number);
  if (own !== undefined)
    return [{ sql: `${column} = ? AND ${period} = ?`, values: [number, own], order: column }];
  const newest = `${column} DESC`;
  const months = periodsOf(number);
  if (months) {
    const { sql, values } = startsWith(column, number);
    return [{ sql: `${sql} AND ${period} BETWEEN ? AND ?`, values: [...values, ...months], order: newest }];
  }
  const found = isEnd.test(number) ? await numbersEndingIn(number, table, column) : [];
  const periods = [...new Set(found.map((one) => periodIn(one) ?? 0))];
  return found.length === 0
    ? []
    : [{ sql: `${column} IN (?) AND ${period} IN (?)`, values: [found, periods], order: newest }];
}

/** Characters of ULIDs, which all numbers end in. */
const isEnd = new RegExp(`^[0-9A-HJKMNP-TV-Z]{${minEnd},26}$`);

async function numbersEndingIn(end: string, table: NumberedTable, column: string): Promise<string[]> {
  const name = column.split('.')[1] ?? '';
  const current = periodOf(now());
  const rows = await reports.select<{ number: string }>(
    `SELECT ${name} AS number FROM ${table} WHERE period BETWEEN ? AND ? AND ${name} LIKE ? LIMIT ${maxHits}`,
    [shiftPeriod(current, -monthsOfEnds), current, `%${end}`],
  );
  return rows.map(({ number }) => number);
}

const exact = (column: string, value: string): Condition => ({
  sql: `${column} = ?`,
  values: [value],
  order: column,
});

const startsWith = (column: string, text: string): Condition => ({
  sql: `${column} LIKE ?`,
  values: [`${escapeLike(text)}%`],
  order: column,
});

/** A payment that was paid twice shows its first number only. */
const paidAlsoAs = (thirdPartyNo: string): Condition => ({
  sql: `p.payment_no IN
    (SELECT payment_no FROM third_party_numbers WHERE type IN (?) AND third_party_no = ?)`,
  values: [allChannels.map(({ type }) => type), thirdPartyNo],
  order: 'p.payment_no',
});

const upper = (text: string): string => text.toUpperCase();
