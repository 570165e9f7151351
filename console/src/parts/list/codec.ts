// The state of a list in the URL: the API's names, without defaults and invalid values.
import { pasted } from '../show/typed.ts';

export interface ListState {
  page: number;
  /** `field:asc` or `field:desc`; empty for the API's default. */
  order: string;
  filters: Readonly<Record<string, string>>;
}

/** Whether a text is a value of that filter. */
export type Checks = Readonly<Record<string, (text: string) => boolean>>;

const orders = /^(\w+):(asc|desc)$/;

/**
 * Parses the query of a URL.
 *
 * @param sortable columns that may be sorted by
 */
export function decode(search: URLSearchParams, checks: Checks, sortable: readonly string[]): ListState {
  const page = Number(search.get('page') ?? 1);
  const order = search.get('order_by') ?? '';
  const field = orders.exec(order)?.[1];
  // What is pasted often has spaces around it.
  const given = Object.keys(checks).map((name) => [name, pasted(search.get(name) ?? '')] as const);
  return {
    page: Number.isInteger(page) && page > 0 && page < 1e9 ? page : 1,
    order: field !== undefined && sortable.includes(field) ? order : '',
    filters: Object.fromEntries(given.filter(([name, text]) => text !== '' && checks[name]?.(text))),
  };
}

/** Writes it; `decode` returns the same state. */
export function encode({ page, order, filters }: ListState): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, text] of Object.entries(filters)) if (text !== '') search.set(name, text);
  if (order) search.set('order_by', order);
  if (page > 1) search.set('page', String(page));
  return search;
}
