// npm run bench -- months [ORDERS MONTHS]: lists over 24 months of 5,000,000 orders and 200,000 payments, first and deep pages.
//
// What is measured, and why that is fair:
// - One API process with its usual settings over one MariaDB with a buffer pool of 256 MB, a sixth of the tables, and one
//   Redis. Rows are made in the database by INSERT … SELECT.
// - "first" is the first request for a filter: nothing of it has been counted. "p50" and "p99" are of the requests after it, one
//   after the other over one connection; totals are then known until somebody writes.
// - Beside it, "by hand": the page and its COUNT(*) as one would write them, with OFFSET, at the same time over two mysql2
//   connections, over the same tables and indexes. The median of three.
// - Each answer must hold the same rows and the same total as those statements, or the exit code is 1.
// - Targets: 250 ms for any page whose total is known (p99); 3 s for the first request of an indexed filter. Where every text has to
//   be read, to count it and again to find a page's few rows in their months, 8 s. All leave room for a machine that is busy.
import { deepStrictEqual } from 'node:assert/strict';
import type { Connection } from 'mysql2/promise';
import { createConnection } from 'mysql2/promise';
import { periodOf, shiftPeriod } from '../src/lib/values/numbers.js';
import { percentiles } from './support/load.js';
import { fillOrders } from './support/orders.js';
import { fillMonthsOfPayments } from './support/payments.js';
import { startApi } from './support/processes.js';
import { median, printTable, say, type Row } from './support/report.js';
import { runBench } from './support/run.js';
import { call, signIn, type Page } from './support/session.js';
import { count, makeSite, rows, type Site } from './support/site.js';

const total = Number(process.argv[2] ?? 5_000_000);
const months = Number(process.argv[3] ?? 24);
const requests = 30;

/** A list as the API is asked for it, and as one would ask the database. */
interface Case {
  name: string;
  query: string;
  where?: string;
  order?: string;
  page?: number;
  /** Every row has to be read to count. */
  isSearch?: boolean;
}

await runBench(async () => {
  const site = await makeSite('months');
  await (await startApi(site)).stop();
  await fill(site);
  const api = await startApi(site);
  const headers = await signIn(api.url);
  const hands = [site.db, await secondConnection(site)] as const;
  const table: Row[] = [];
  for (const [list, cases] of [
    ['orders', await orderCases(site.db)],
    ['payments', await paymentCases(site.db)],
  ] as const) {
    for (const one of cases) table.push(await measure(list, one));
  }
  for (const one of freshCases()) table.push(await measureAfterWrites(one));
  table.push(await measureSales());
  printTable(
    `bench:months (${total.toLocaleString('en-US')} orders in ${months} months; one connection)`,
    table,
  );
  await hands[1].end();

  async function measure(list: 'orders' | 'payments', one: Case): Promise<Row> {
    const order = one.order ? `&order_by=${one.order}` : '';
    const url = `${api.url}/api/admin/${list}?page_size=10&page=${one.page ?? 1}${one.query}${order}`;
    const [first, answer] = await timed(() => call<Page>(url, headers));
    const byHand: number[] = [];
    for (let round = 0; round < 3; round++) {
      const [ms, [ids, matching]] = await timed(() => readByHand(hands, list, one));
      byHand.push(ms);
      deepStrictEqual(
        { ids: answer.list.map(({ id }) => id), total: answer.total },
        { ids, total: matching },
        url,
      );
    }
    const times: number[] = [];
    for (let request = 0; request < requests; request++)
      times.push((await timed(() => call(url, headers)))[0]);
    return rowOf(`${list}: ${one.name}`, first, times, median(byHand), one.isSearch);
  }

  // Each list after a new order, in turn with one after none.
  async function measureAfterWrites({ name, query }: Case): Promise<Row> {
    const body = { user_id: 1, details: [{ product_name: 'Tea', price: '2.50', quantity: 1 }] };
    const path = `${api.url}/api/admin/orders`;
    const list = async () => (await timed(() => call(`${path}?page_size=10${query}`, headers)))[0];
    const [written, unwritten]: [number[], number[]] = [[], []];
    await list();
    for (let request = 0; request < requests; request++) {
      await call(path, headers, body);
      written.push(await list());
      unwritten.push(await list());
    }
    const ratio = median(written) / median(unwritten);
    const figures = { perSecond: 1000 / median(written), ...percentiles(written) };
    const value = `${ratio.toFixed(2)} × without an order`;
    say(`  ${name.padEnd(44)} p50 ${figures.p50.toFixed(1)} ms, ${value}`);
    return { name: `after an order: ${name}`, figures, value, target: '≤ 2', reached: ratio <= 2 };
  }

  async function measureSales(): Promise<Row> {
    const times: number[] = [];
    for (let request = 0; request < requests; request++)
      times.push((await timed(() => call(`${api.url}/api/admin/dashboard/monthly-sales`, headers)))[0]);
    const [first = 0, ...others] = times;
    const figures = { perSecond: 1000 / median(others), ...percentiles(others) };
    const reached = figures.p99 < 50;
    return {
      name: 'monthly sales',
      figures,
      value: `first ${first.toFixed(0)} ms`,
      target: 'p99 < 50 ms',
      reached,
    };
  }
}, 1_800_000);

async function fill({ db }: Site): Promise<void> {
  const [ms] = await timed(async () => {
    await fillOrders(db, total, months);
    await db.query(
      `INSERT INTO payment_methods (id, name, code, type, config, secrets, created_at, updated_at)
       VALUES (1, 'mock', 'mock', 'mock', '{}', '{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))`,
    );
    await fillMonthsOfPayments(db, 1, months);
  });
  say(`${total.toLocaleString('en-US')} orders inserted in ${(ms / 1000).toFixed(0)} s`);
}

async function orderCases(db: Connection): Promise<Case[]> {
  const matching = (where: string) =>
    count(db, `SELECT COUNT(*) FROM orders WHERE deleted_at IS NULL AND ${where}`);
  const [middle, recent] = [shiftPeriod(periodOf(new Date()), -8), shiftPeriod(periodOf(new Date()), -6)];
  const [sample] = await rows<{ order_no: string }>(db, 'SELECT order_no FROM orders WHERE id = ?', [
    total >> 1,
  ]);
  const number = sample?.order_no ?? '';
  const status = (state: string) => ({ query: `&status=${state}`, where: `status = '${state}'` });
  const user = { query: '&user_id=77', where: 'user_id = 77' };
  const amounts = { query: '&min_amount=50&max_amount=51', where: 'amount BETWEEN 50 AND 51' };
  const times = {
    query: `&start_time=${day(middle, 10)}&end_time=${day(recent, 20)}`,
    where: `created_at BETWEEN '${day(middle, 10)}' AND '${day(recent, 20)} 23:59:59.999' AND period BETWEEN ${middle} AND ${recent}`,
  };
  const all = { query: '', where: '1 = 1' };
  return [
    ...deep('all', all, total),
    { name: 'by created_at, page in the middle', ...all, order: 'created_at:desc', page: total / 20 },
    { name: 'by amount', ...all, order: 'amount:desc' },
    { name: 'by amount, page in the middle', ...all, order: 'amount:desc', page: total / 20 },
    ...deep('status pending', status('pending'), await matching(`status = 'pending'`)),
    ...deep('status cancelled', status('cancelled'), await matching(`status = 'cancelled'`)),
    ...deep('user_id', user, await matching(user.where)),
    ...deep('amount range', amounts, await matching(amounts.where)),
    ...deep('time range of 70 days', times, await matching(times.where)),
    {
      name: 'status, user_id and time range',
      query: `&status=paid&user_id=78${times.query}`,
      where: `status = 'paid' AND user_id = 78 AND ${times.where}`,
    },
    { name: 'order_no', query: `&order_no=${number}`, where: `order_no = '${number}'` },
    {
      name: 'beginning of order_no',
      query: `&order_no=${number.slice(0, 16)}`,
      where: `order_no LIKE '${number.slice(0, 16)}%'`,
    },
    {
      name: 'end of order_no',
      query: `&order_no=${number.slice(-6)}`,
      where: `order_no LIKE '%${number.slice(-6)}%'`,
      isSearch: true,
    },
    { name: 'keyword', query: '&keyword=order%20777', where: `remark LIKE '%order 777%'`, isSearch: true },
    {
      name: 'keyword found nowhere',
      query: '&keyword=nowhere',
      where: `remark LIKE '%nowhere%'`,
      isSearch: true,
    },
  ];
}

/** Lists that new orders belong to. */
function freshCases(): Case[] {
  const since = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  return [
    { name: 'all', query: '' },
    { name: 'status pending', query: '&status=pending' },
    { name: '30 days', query: `&start_time=${since}` },
  ];
}

async function paymentCases(db: Connection): Promise<Case[]> {
  const current = periodOf(new Date());
  const [from, to] = [day(shiftPeriod(current, -5), 1), day(shiftPeriod(current, -4), 15)];
  const matching = (where: string) => count(db, `SELECT COUNT(*) FROM payments WHERE ${where}`);
  const paidBetween = {
    query: `&time_field=pay_time&start_time=${from}&end_time=${to}`,
    where: `pay_time BETWEEN '${from}' AND '${to} 23:59:59.999'`,
  };
  return [
    ...deep('all', { query: '', where: '1 = 1' }, await matching('1 = 1')),
    ...deep(
      'status paid',
      { query: '&status=paid', where: `status = 'paid'` },
      await matching(`status = 'paid'`),
    ),
    { name: 'user_id', query: '&user_id=76', where: 'user_id = 76' },
    ...deep('pay_time range', paidBetween, await matching(paidBetween.where)),
    {
      name: 'pending for more than a day',
      query: '&pending_longer_than=1440',
      where: `status = 'pending' AND created_at < DATE_FORMAT(UTC_TIMESTAMP() - INTERVAL 1440 MINUTE, '%Y-%m-%d %H:%i:00')`,
    },
    {
      name: 'third_party_no',
      query: '&third_party_no=T1000',
      where: `third_party_no LIKE '%T1000%'`,
      isSearch: true,
    },
  ];
}

/** First page, pages 1,000 and 100,000 as far as there are so many, and the last one. */
function deep(name: string, filter: Pick<Case, 'query' | 'where'>, matching: number): Case[] {
  const last = Math.max(1, Math.ceil(matching / 10));
  const pages = [1000, 100_000].filter((page) => page < last);
  return [
    { name, ...filter },
    ...pages.map((page) => ({ name: `${name}, page ${page.toLocaleString('en-US')}`, ...filter, page })),
    { name: `${name}, last page`, ...filter, page: last },
  ];
}

async function readByHand(
  [one, other]: readonly [Connection, Connection],
  list: 'orders' | 'payments',
  { where = '1 = 1', order = 'id:desc', page = 1 }: Case,
): Promise<[ids: number[], total: number]> {
  const filter = list === 'orders' ? `deleted_at IS NULL AND ${where}` : where;
  const by = [...new Set([order, 'id:desc'])].map((term) => term.replace(':', ' ')).join(', ');
  const [found, matching] = await Promise.all([
    rows<{ id: number }>(
      one,
      `SELECT * FROM ${list} WHERE ${filter} ORDER BY ${by} LIMIT 10 OFFSET ${(page - 1) * 10}`,
    ),
    count(other, `SELECT COUNT(*) FROM ${list} WHERE ${filter}`),
  ]);
  return [found.map(({ id }) => id), matching];
}

function rowOf(name: string, first: number, times: number[], byHand: number, isSearch = false): Row {
  const perSecond = (1000 * times.length) / times.reduce((sum, ms) => sum + ms, 0);
  const figures = { perSecond, ...percentiles(times) };
  const [maxFirst, longest] = isSearch ? [8000, 8000] : [3000, 250];
  const value = `first ${first.toFixed(0)} ms, by hand ${byHand.toFixed(0)} ms`;
  const target = `first < ${maxFirst / 1000} s, p99 < ${longest} ms`;
  const reached = first < maxFirst && figures.p99 < longest;
  say(`  ${name.padEnd(44)} p50 ${figures.p50.toFixed(1)} ms, p99 ${figures.p99.toFixed(1)} ms, ${value}`);
  return { name, figures, value, target, reached };
}

async function secondConnection({ env }: Site): Promise<Connection> {
  const { DB_HOST: host, DB_PORT: port, DB_USER: user, DB_PASSWORD: password, DB_NAME: database } = env;
  return createConnection({ host, port: Number(port), user, password, database, timezone: 'Z' });
}

async function timed<T>(work: () => Promise<T>): Promise<[ms: number, result: T]> {
  const begun = performance.now();
  const result = await work();
  return [performance.now() - begun, result];
}

function day(period: number, of: number): string {
  const month = String(period % 100).padStart(2, '0');
  return `${Math.floor(period / 100)}-${month}-${String(of).padStart(2, '0')}`;
}
