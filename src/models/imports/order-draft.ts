// An order as the rows of a sheet describe it, and the rules that rows of one order obey together.
import { Money } from '../../lib/values/money.js';
import type { OrderLine } from '../trade/order-placement.js';
import type { Problem, SheetColumn, SheetRow } from './order-sheet.js';

export interface OrderDraft {
  /** The order_ref of its rows; empty for none. */
  ref: string;
  /** Its row numbers in the file. */
  rows: number[];
  /** Not empty: the order is not made. */
  problems: Problem[];
  /** The user by number, by name, or by both. */
  userId?: number;
  username?: string;
  /** The row that names the user; 0 without one. */
  userRow: number;
  amount: Money;
  remark: string | null;
  lines: OrderLine[];
}

/** As many as POST /orders takes. */
export const maxLines = 200;

/**
 * Puts an order together. Columns of the whole order (user, amount, remark) may be filled in each of its rows
 * or in some of them, with the same value. A single row with an amount and no price is an order of one line.
 *
 * @param unnamed name of the only line of an order that gives nothing but its amount
 */
export function draftOrder(rows: readonly SheetRow[], unnamed: string): OrderDraft {
  const problems: Problem[] = [];
  for (const row of rows) problems.push(...row.problems);
  const userRow = agreed(rows, 'user_id', (row) => row.userId, problems);
  const nameRow = agreed(rows, 'username', (row) => row.username, problems);
  const amountRow = agreed(rows, 'amount', (row) => row.amount?.toString(), problems);
  const remarkRow = agreed(rows, 'remark', (row) => row.remark, problems);
  if (!userRow && !nameRow && !rows.some((row) => isRefused(row, 'user_id', 'username')))
    demand(rows[0] as SheetRow, 'user_id', problems);
  const given = rows.map((row) => lineOf(row, rows.length === 1, unnamed, problems));
  const lines = given.every((line) => line !== undefined) ? given : [];
  const amount = lines.reduce((sum, { price, quantity }) => sum.plus(price.times(quantity)), Money.zero);
  if (lines.length > 0) checkAmount(amount, amountRow, rows[0] as SheetRow, problems);
  return {
    ref: (rows[0] as SheetRow).ref,
    rows: rows.map(({ row }) => row),
    problems,
    userId: userRow?.userId,
    username: nameRow?.username,
    userRow: (userRow ?? nameRow)?.row ?? 0,
    amount,
    remark: remarkRow?.remark ?? null,
    lines,
  };
}

/** A row of an order that has too many of them. */
export function oversizedDraft({ row, ref, problems }: SheetRow): OrderDraft {
  const tooMany: Problem = {
    row,
    column: 'order_ref',
    value: ref,
    reason: 'too_many_lines',
    detail: maxLines,
  };
  const nothing = { userRow: 0, amount: Money.zero, remark: null, lines: [] };
  return { ref, rows: [row], problems: [tooMany, ...problems], ...nothing };
}

/** Problems of a rejected order, by row. A row that is valid by itself points to the first invalid one. */
export function problemsByRow({ ref, rows, problems }: OrderDraft): Problem[] {
  const culprit = Math.min(...problems.map(({ row }) => row));
  return rows.flatMap((row) => {
    const own = problems.filter((problem) => problem.row === row);
    const innocent = {
      row,
      column: 'order_ref',
      value: ref,
      reason: 'order_rejected',
      detail: culprit,
    } as const;
    return own.length > 0 ? own : [innocent];
  });
}

/** The first row that gives the value; rows that give another one are problems. */
function agreed(
  rows: readonly SheetRow[],
  column: SheetColumn,
  valueOf: (row: SheetRow) => string | number | undefined,
  problems: Problem[],
): SheetRow | undefined {
  const first = rows.find((row) => valueOf(row) !== undefined);
  if (!first || rows.length === 1) return first;
  for (const row of rows) {
    const value = valueOf(row);
    if (value !== undefined && value !== valueOf(first))
      problems.push({ row: row.row, column, value: String(value), reason: 'differs', detail: first.row });
  }
  return first;
}

function lineOf(row: SheetRow, isOnly: boolean, unnamed: string, problems: Problem[]): OrderLine | undefined {
  const { price, quantity, amount, productName, productId = null } = row;
  const saysNothing =
    [price, quantity].every((value) => value === undefined) && !isRefused(row, 'price', 'quantity');
  if (isOnly && saysNothing && (amount || isRefused(row, 'amount') || !row.hasPrices)) {
    if (!amount && !isRefused(row, 'amount')) demand(row, 'amount', problems);
    return (
      amount && { product_id: productId, product_name: productName ?? unnamed, price: amount, quantity: 1 }
    );
  }
  if (!productName && !isRefused(row, 'product_name')) demand(row, 'product_name', problems);
  if (!price && !isRefused(row, 'price')) demand(row, 'price', problems);
  if (!quantity && !isRefused(row, 'quantity')) demand(row, 'quantity', problems);
  if (!productName || !price || !quantity || isRefused(row, 'product_id')) return undefined;
  return { product_id: productId, product_name: productName, price, quantity };
}

function checkAmount(sum: Money, given: SheetRow | undefined, first: SheetRow, problems: Problem[]): void {
  const row = (given ?? first).row;
  const value = given?.amount?.toString() ?? '';
  if (!sum.withinLimit) problems.push({ row, column: 'amount', value, reason: 'amount_too_large' });
  else if (given?.amount && !given.amount.equals(sum))
    problems.push({ row, column: 'amount', value, reason: 'amount_mismatch', detail: sum.toString() });
}

function demand({ row }: SheetRow, column: SheetColumn, problems: Problem[]): void {
  problems.push({ row, column, value: '', reason: 'required' });
}

const isRefused = ({ problems }: SheetRow, ...columns: SheetColumn[]): boolean =>
  problems.some(({ column }) => column !== '' && columns.includes(column));
