// The conventions of every list (docs/api.md, 2): page, page_size, order_by, and WHERE clauses from validated
// filters.
import Joi from 'joi';
import type { SqlValue } from '../database/db.js';
import { isId, periodOf, periodsOf } from '../values/numbers.js';
import { clamped, keywords, time } from './schema.js';

export interface TimeRange {
  start_time?: Date;
  end_time?: Date;
  start_date?: Date;
  end_date?: Date;
}

/** A time range, and values of filters with these schemas. */
export type Criteria<K> = TimeRange & { [P in keyof K]?: K[P] extends Joi.AnySchema<infer T> ? T : never };

export interface ListQuery extends TimeRange {
  page: number;
  page_size: number;
  order_by: Sort[];
}

export interface Sort {
  field: string;
  direction: 'ASC' | 'DESC';
}

export interface Page<T> {
  list: T[];
  page: number;
  page_size: number;
  total: number;
}

const defaultSize = 10;
const maxSize = 100;
const lastPage = 1_000_000_000;

const defaultOrder = 'id:desc';

/** By so much our clock may be ahead of a company's. */
const maxClockLeadMs = 3_600_000;

/** The query of a list: page, order and time range, then its filters. @param sortable columns a caller may sort by */
export const listQuery = <Q extends ListQuery>(
  sortable: readonly string[],
  filters: Record<string, Joi.Schema>,
): Joi.ObjectSchema<Q> => Joi.object<Q>({ ...pageKeys(), ...orderKeys(sortable), ...timeKeys(), ...filters });

/** The parameters of a page. */
export const pageKeys = () => ({
  page: clamped({ fallback: 1, min: 1, max: lastPage }),
  page_size: clamped({ fallback: defaultSize, min: 1, max: maxSize, tooSmall: defaultSize }),
});

function orderKeys(sortable: readonly string[]) {
  return {
    order_by: keywords(
      Joi.string()
        .default(() => readSorts(defaultOrder, sortable))
        .custom((value: string, helpers) => {
          const sorts = readSorts(value, sortable);
          return typeof sorts === 'string' ? helpers.error(sorts) : sorts;
        }),
      sortKeywords(sortable),
    ) as unknown as Joi.ArraySchema<Sort[]>,
  };
}

// As parsed by `readSorts`.
function sortKeywords(sortable: readonly string[]) {
  const column = `(${sortable.join('|')})(:(asc|desc))?`;
  return { pattern: `^${column}(,${column})*$`, default: defaultOrder, examples: [defaultOrder] };
}

/** The time range of a list, without paging. */
export const timeKeys = () => ({
  start_time: time('start'),
  end_time: time('end'),
  start_date: time('start'),
  end_date: time('end'),
});

function readSorts(text: string, sortable: readonly string[]): Sort[] | string {
  const sorts: Sort[] = [];
  for (const part of text.split(',')) {
    const match = /^\s*(\w+)(?::(asc|desc))?\s*$/i.exec(part);
    if (!match) return 'order_by.format';
    const [, field, direction = 'asc'] = match as unknown as [string, string, string?];
    if (!sortable.includes(field)) return 'order_by.field';
    // A column that repeats changes nothing, and thousands of them would make a statement of megabytes.
    if (sorts.some((sort) => sort.field === field)) continue;
    sorts.push({ field, direction: direction.toLowerCase() === 'desc' ? 'DESC' : 'ASC' });
  }
  return sorts;
}

/** A WHERE clause built from filters; missing filters add nothing. */
export class Where {
  readonly values: SqlValue[] = [];
  readonly #terms: string[] = [];

  /** A fixed or hand-written condition with its values. */
  and(term: string, ...values: SqlValue[]): this {
    this.#terms.push(term);
    this.values.push(...values);
    return this;
  }

  equals(column: string, value: string | number | boolean | undefined): this {
    return value === undefined || value === '' ? this : this.and(`${column} = ?`, value);
  }

  /** Literal substring: `%`, `_` and `\` are escaped. */
  contains(column: string, value: string | undefined): this {
    if (!value) return this;
    return this.and(`${column} LIKE ?`, `%${escapeLike(value)}%`);
  }

  /** As `equals`, for an ASCII column, which cannot be compared with other characters: those match nothing. */
  equalsAscii(column: string, value: string | undefined): this {
    return isAscii(value) ? this.equals(column, value) : this.and('FALSE');
  }

  /** As `contains`, for an ASCII column. */
  containsAscii(column: string, value: string | undefined): this {
    return isAscii(value) ? this.contains(column, value) : this.and('FALSE');
  }

  /**
   * Part of an order or payment number, which may be pasted with spaces or typed in small letters. A prefix uses the
   * index, anything else a search.
   *
   * @param period the partition column, if it is the number's month
   */
  numbered(column: string, given: string | undefined, period?: string): this {
    const typed = given?.trim();
    const value = isAscii(typed) ? typed?.toUpperCase() : typed;
    const months = value && periodsOf(value);
    if (!months || !isAscii(value)) return this.containsAscii(column, value);
    this.and(`${column} LIKE ?`, `${escapeLike(value)}%`);
    return period ? this.between(period, ...months) : this;
  }

  /** The row of that number, whose month is given, or numeric id. @returns undefined for any other text */
  byReference(alias: string, column: string, reference: string, period?: number): this | undefined {
    if (period !== undefined)
      return this.and(`${alias}.${column} = ? AND ${alias}.period = ?`, reference, period);
    return isId(reference) ? this.and(`${alias}.id = ?`, Number(reference)) : undefined;
  }

  /** An inclusive range; either end may be missing. */
  between(column: string, from: SqlValue | undefined, to: SqlValue | undefined): this {
    if (from !== undefined) this.and(`${column} >= ?`, from);
    return to === undefined ? this : this.and(`${column} <= ?`, to);
  }

  /**
   * start_time and end_time (or their aliases) over a column.
   *
   * @param period the partition column, if it is the column's month
   */
  during(column: string, query: TimeRange, period?: string): this {
    const [from, to] = rangeOf(query);
    this.between(column, from, to);
    return period ? this.between(period, from && periodOf(from), to && periodOf(to)) : this;
  }

  /**
   * The time range of records with a number, over their `time_field`. Their period is the month they were created in;
   * they may be paid or finished in that month or any later one, by the clock of a company also just before it.
   */
  duringField(alias: string, query: TimeRange & { time_field: string }): this {
    const column = `${alias}.${query.time_field}`;
    if (query.time_field === 'created_at') return this.during(column, query, `${alias}.period`);
    const [, to] = rangeOf(query);
    const last = to && periodOf(new Date(to.getTime() + maxClockLeadMs));
    return this.during(column, query).between(`${alias}.period`, undefined, last);
  }

  /** The clause with its keyword, or nothing. */
  get sql(): string {
    return this.#terms.length === 0 ? '' : `WHERE ${this.#terms.join(' AND ')}`;
  }
}

/** The newest so many of a list. */
export const newest = (page_size: number): ListQuery => ({
  page: 1,
  page_size,
  order_by: [{ field: 'id', direction: 'DESC' }],
});

/** The ends of a time range under either of their names. */
export const rangeOf = (query: TimeRange) =>
  [query.start_time ?? query.start_date, query.end_time ?? query.end_date] as const;

export const isAscii = (value = ''): boolean => /^\p{ASCII}*$/u.test(value);

/** A text as LIKE takes it literally. */
export const escapeLike = (value: string): string => value.replace(/[\\%_]/g, '\\$&');

/** ORDER BY of a list, or of its reverse; the key makes the order of equal rows deterministic. */
export function orderSql({ order_by }: ListQuery, alias: string, isReversed = false): string {
  const hasKey = order_by.some(({ field }) => field === 'id');
  const sorts: Sort[] = hasKey ? order_by : [...order_by, { field: 'id', direction: 'DESC' }];
  const terms = sorts.map(({ field, direction }) => {
    const isDescending = (direction === 'DESC') !== isReversed;
    return `${alias}.${field} ${isDescending ? 'DESC' : 'ASC'}`;
  });
  return `ORDER BY ${terms.join(', ')}`;
}

/** The page envelope of docs/spec.md, Conventions. */
export function toPage<T>(query: ListQuery, list: T[], total: number): Page<T> {
  return { list, page: query.page, page_size: query.page_size, total };
}
