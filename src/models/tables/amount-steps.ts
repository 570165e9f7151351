// Deep pages of lists sorted by amount: the number of rows per step of amounts gives the steps of a page.
import type { Statement } from '../../lib/database/db.js';
import type { ListQuery } from '../../lib/input/list-query.js';
import { narrowed, type Part } from './part.js';

/** Matching rows by step, which is named by its least amount, a decimal text. */
export type AmountSteps = ReadonlyMap<string, { rows: number }>;

/** The step of a row's amount: its first two digits, so that amounts of every size have some ninety steps to a power of ten. */
export const stepOf = (alias: string): Statement => ({
  sql: `TRUNCATE(${alias}.amount, 2 - LENGTH(FLOOR(${alias}.amount)))`,
  values: [],
});

/** The amounts that a page lies in, as a condition, and the page among them. @param whole the page among all */
export function narrowSteps(
  steps: AmountSteps,
  whole: Part,
  { order_by }: ListQuery,
  alias: string,
): { between: Statement; part: Part } {
  const sign = order_by[0]?.direction === 'DESC' ? -1 : 1;
  const ordered = [...steps]
    .map(([step, { rows }]) => [Number(step), rows] as const)
    .sort(([one], [other]) => sign * (one - other));
  const { touched, part } = narrowed(ordered, whole);
  // The counted rows were deleted meanwhile.
  if (touched.length === 0) return { between: { sql: 'TRUE', values: [] }, part: whole };
  const last = Math.max(...touched);
  const next = Math.min(...ordered.flatMap(([step]) => (step > last ? [step] : [])));
  const end: Statement =
    next === Infinity ? { sql: '', values: [] } : { sql: ` AND ${alias}.amount < ?`, values: [next] };
  const between = { sql: `${alias}.amount >= ?${end.sql}`, values: [Math.min(...touched), ...end.values] };
  return { between, part };
}
