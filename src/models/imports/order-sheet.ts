// The sheet that orders are imported from: its columns under their names in both languages, and what a row says.
import { currentLanguage } from '../../lib/process/context.js';
import { fail } from '../../lib/errors/app-error.js';
import { arePrintableLines, isBlank, isPrintable } from '../../lib/input/printable.js';
import { say, type Language, type Text } from '../../lib/values/language.js';
import { Money } from '../../lib/values/money.js';
import { isId } from '../../lib/values/numbers.js';
import { restore } from '../../lib/sheets/sheet.js';
import type { ImportReason } from './import-reason.js';

const heads = {
  user_id: '用户ID',
  username: '用户名',
  amount: '金额',
  remark: '备注',
  order_ref: '订单标识',
  product_id: '商品ID',
  product_name: '商品名称',
  price: '单价',
  quantity: '数量',
} as const;

/** What each column takes, as the second row of the template says; as an order that row is refused for its user. */
const rules: Record<SheetColumn, Text> = {
  user_id: {
    zh: '用户编号，与用户名至少填一项；导入前请删除本行',
    en: 'number of the user; required without a username; delete this row',
  },
  username: { zh: '用户名，可代替用户编号', en: 'in place of the user_id' },
  amount: {
    zh: '可选，等于明细合计；没有明细时必填',
    en: 'optional: sum of the lines; required without lines',
  },
  remark: { zh: '可选', en: 'optional' },
  order_ref: { zh: '可选，相同的行属于同一订单', en: 'optional: rows with the same one are one order' },
  product_id: { zh: '可选', en: 'optional' },
  product_name: { zh: '明细必填', en: 'required in a line' },
  price: { zh: '明细必填', en: 'required in a line' },
  quantity: { zh: '明细必填，1 到 1000000', en: 'required in a line: 1 to 1000000' },
};

export type SheetColumn = keyof typeof heads;

export const sheetColumns = Object.keys(heads) as SheetColumn[];

/** What an error file has as its last column; an import does not read it. */
export const reasonHead = 'reason';

/** Whether a column is the one that an error file has added. */
export const isReasonHead = (name: string): boolean =>
  [reasonHead, '失败原因'].includes(name.trim().toLowerCase());

export const columnHead = (column: SheetColumn, language: Language): string =>
  say({ zh: heads[column], en: column }, language);

export const columnRule = (column: SheetColumn, language: Language): string => say(rules[column], language);

/** The index of each column, from 0; -1 when the file lacks it. */
export type Layout = Record<SheetColumn, number> & { width: number };

/** What is wrong with a row. */
export interface Problem {
  row: number;
  /** Empty when it is about the row as a whole. */
  column: SheetColumn | '';
  value: string;
  reason: ImportReason;
  detail?: string | number;
}

/** A row of the file, checked by itself; what is undefined was left empty or is a problem. */
export interface SheetRow {
  row: number;
  /** Rows with the same one are one order; empty for an order of one row. */
  ref: string;
  userId?: number;
  username?: string;
  amount?: Money;
  remark?: string;
  productId?: number;
  productName?: string;
  price?: Money;
  quantity?: number;
  /** Whether its file has prices; without them an order is its amount. */
  hasPrices: boolean;
  problems: Problem[];
}

const maxQuantity = 1_000_000;
const longest = { order_ref: 64, username: 50, remark: 500, product_name: 200 } as const;
const maxNamed = 10;

/**
 * The layout that the header of a file gives. Names may be in either language, in any case and order; the
 * reasons of an error file are passed over.
 *
 * @throws import_head_invalid naming the columns that are unknown, missing or there twice
 */
export function layoutOf(head: readonly string[]): Layout {
  const names = head.map((name) => name.trim());
  while (names.at(-1) === '') names.pop();
  const found = names.map(columnNamed);
  const unknown = names
    .map((name, index) => (found[index] || isReasonHead(name) ? '' : name.slice(0, 50) || `#${index + 1}`))
    .filter(Boolean);
  const twice = sheetColumns.filter((column) => found.filter((one) => one === column).length > 1);
  const missing = missingFrom(new Set(found));
  const language = currentLanguage();
  const named = (columns: SheetColumn[]): string[] => columns.map((column) => columnHead(column, language));
  const parts = [
    ...listed(say({ zh: '未知列', en: 'unknown' }, language), unknown),
    ...listed(say({ zh: '缺少列', en: 'missing' }, language), named(missing)),
    ...listed(say({ zh: '重复列', en: 'repeated' }, language), named(twice)),
  ];
  if (parts.length > 0) fail('import_head_invalid', { field: 'file', params: { columns: parts.join('; ') } });
  const places = sheetColumns.map((column) => [column, found.indexOf(column)] as const);
  return { ...(Object.fromEntries(places) as Record<SheetColumn, number>), width: names.length };
}

/** The order reference of a row as rows are gathered by it; empty when there is none that could be one. */
export function refOf(cells: readonly string[], layout: Layout): string {
  const ref = cellText(cells, layout.order_ref);
  return ref.length > longest.order_ref || !isPrintable(ref) ? '' : ref;
}

export function readRow(cells: readonly string[], row: number, layout: Layout): SheetRow {
  const problems: Problem[] = [];
  const refuse = (
    column: SheetColumn | '',
    value: string,
    reason: ImportReason,
    detail?: number,
  ): undefined => {
    problems.push({ row, column, value, reason, detail });
  };
  const text = (column: keyof typeof longest): string | undefined => {
    const value = cellText(cells, layout[column]);
    if (value.length > longest[column]) return refuse(column, value, 'too_long', longest[column]);
    const isFit = column === 'order_ref' || column === 'username' ? isPrintable : arePrintableLines;
    if (!isFit(value)) return refuse(column, value, 'control');
    // Characters that show nothing are no name.
    const isEmpty = column === 'product_name' ? isBlank(value) : value === '';
    return isEmpty ? undefined : value;
  };
  const key = (column: SheetColumn): number | undefined => {
    const value = cellText(cells, layout[column]);
    if (value === '') return undefined;
    return isId(value) ? Number(value) : refuse(column, value, 'key');
  };
  const money = (column: SheetColumn): Money | undefined => {
    const value = cellText(cells, layout[column]);
    if (value === '') return undefined;
    const amount = Money.parse(value);
    return amount && amount.cents >= 0n ? amount : refuse(column, value, 'money');
  };
  const quantity = (): number | undefined => {
    const value = cellText(cells, layout.quantity);
    if (value === '') return undefined;
    const number = /^\d{1,7}$/.test(value) ? Number(value) : 0;
    return number >= 1 && number <= maxQuantity ? number : refuse('quantity', value, 'quantity', maxQuantity);
  };
  const surplus = cells.length > layout.width && cells.slice(layout.width).find((cell) => cell.trim() !== '');
  if (surplus) refuse('', surplus, 'too_many_cells');
  return {
    row,
    ref: text('order_ref') ?? '',
    userId: key('user_id'),
    username: text('username'),
    amount: money('amount'),
    remark: text('remark'),
    productId: key('product_id'),
    productName: text('product_name'),
    price: money('price'),
    quantity: quantity(),
    hasPrices: layout.price >= 0,
    problems,
  };
}

function columnNamed(name: string): SheetColumn | undefined {
  const wanted = name.toLowerCase();
  return sheetColumns.find((column) => column === wanted || heads[column].toLowerCase() === wanted);
}

// An order needs its user, and either its amount or lines that it is the sum of. A line says how many:
// nothing is no number.
function missingFrom(found: ReadonlySet<SheetColumn | undefined>): SheetColumn[] {
  const user: SheetColumn = found.has('username') ? 'username' : 'user_id';
  const needed: SheetColumn[] = found.has('price')
    ? [user, 'product_name', 'quantity']
    : found.has('amount')
      ? [user]
      : [user, 'product_name', 'price', 'quantity'];
  return needed.filter((column) => !found.has(column));
}

function listed(title: string, names: string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > maxNamed ? ', …' : '';
  return [`${title} ${names.slice(0, maxNamed).join(', ')}${more}`];
}

// Exports and error files put an apostrophe before what a spreadsheet would take for a formula.
function cellText(cells: readonly string[], place: number): string {
  const cell = (cells[place] ?? '').trim();
  return restore(cell).trim();
}
