// Groups of rows, each with its number of rows and the sum of their amounts.
import { Money } from '../../lib/money.js';

export interface Group {
  rows: number;
  amount: Money;
}

/** By month, by `all` where a table has no months, or by what the question says. */
export type Groups = Map<string, Group>;

/** As the database says it: NULL is the sum of nothing. */
export const toGroup = (rows: string | number | null, amount: string | number | null): Group => ({
  rows: Number(rows),
  amount: Money.from(String(amount ?? 0)),
});

export const plus = (one: Group, other: Group): Group => ({
  rows: one.rows + other.rows,
  amount: one.amount.plus(other.amount),
});

export const minus = (one: Group, other: Group): Group => ({
  rows: one.rows - other.rows,
  amount: one.amount.minus(other.amount),
});

/** Adds to the group of that name, which may be new. */
export function addTo(groups: Groups, part: string, group: Group): void {
  const known = groups.get(part);
  groups.set(part, known ? plus(known, group) : group);
}
