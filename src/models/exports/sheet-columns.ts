// How columns of an exported sheet are declared.
import type { Text } from '../../lib/values/language.js';
import type { ValueKind } from '../tables/column.js';
import type { Expression } from '../tables/selection.js';
import type { SourceColumn } from './export-sheet.js';

export const text = (zh: string, en: string): Text => ({ zh, en });

/** A column of the sheet. @param texts of a column with few values */
export function column(
  shown: Expression<unknown>,
  zh: string,
  en: string,
  texts?: SourceColumn['texts'],
): SourceColumn {
  return titled({ ...shown, title: text(zh, en) }, texts);
}

/** The same under the title that its class gives it. */
export function titled(shown: Expression<unknown>, texts?: SourceColumn['texts']): SourceColumn {
  if (!shown.title) throw new Error(`${shown.sql} has no title`);
  return {
    sql: shown.sql,
    kind: shown.kind && !texts ? kinds[shown.kind] : 'text',
    title: shown.title,
    texts,
  };
}

/** The titled columns that are not among these. */
export const otherTitled = (
  columns: Record<string, Expression<unknown>>,
  shown: readonly SourceColumn[],
): SourceColumn[] =>
  Object.values(columns)
    .filter(({ title, sql }) => title && !shown.some((one) => one.sql === sql))
    .map((one) => titled(one));

const kinds: Record<ValueKind, SourceColumn['kind']> = {
  integer: 'integer',
  text: 'text',
  boolean: 'text',
  amount: 'amount',
  time: 'time',
  any: 'text',
};

export const yesNo = { 0: text('否', 'No'), 1: text('是', 'Yes') };
