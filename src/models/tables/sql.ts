// Plain SQL over declared tables, with its values by name: sql('… WHERE o.order_no = :number', { number }). The compiler
// refuses a statement that names another column, table or value.
import type { Attributes, Model, Transaction } from 'sequelize';
import { change, type Database, type SqlValue, type Statement } from '../../lib/database/db.js';
import { declarationOf, type TableClass } from './table.js';

/** Classes by the names of their tables, each with the alias it has in the statements, if any: `orders o`. */
type Tables = Record<string, TableClass>;

/**
 * Statements, or parts of statements, over these tables. Keywords and functions are upper case, texts in quotes.
 *
 * @example const sql = over({ 'orders o': Order });
 */
export function over<const T extends Tables>(tables: T) {
  for (const [name, table] of Object.entries(tables))
    if (name.split(' ')[0] !== declarationOf(table).name) throw new Error(`${name} is not ${table.name}`);
  return <const S extends string>(text: Checked<S, T>, values: ValuesOf<S>): Statement => named(text, values);
}

/** Runs a statement. @returns how many rows it changed or made */
export function execute(
  { sql, values }: Statement,
  { t, on }: { t?: Transaction; on?: Pick<Database, 'change'> } = {},
): Promise<number> {
  return on ? on.change(sql, [...values], t) : change(sql, [...values], t);
}

// Ignores colons of times in quotes.
const valueName = /(?<=[\s(,]):([a-zA-Z]\w*)/g;

interface Parsed {
  sql: string;
  names: readonly string[];
}

/** Statements by their texts, which stand in the code; those that are put together at run time must not fill the memory. */
const parsed = new Map<string, Parsed>();
const maxParsed = 1000;

function named(text: string, values: Record<string, SqlValue>): Statement {
  const { sql, names } = parsed.get(text) ?? parse(text);
  return { sql, values: names.map((name) => values[name] as SqlValue) };
}

function parse(text: string): Parsed {
  const names: string[] = [];
  const sql = text.replace(valueName, (_, name: string) => {
    names.push(name);
    return '?';
  });
  if (parsed.size >= maxParsed) parsed.clear();
  parsed.set(text, { sql, names });
  return { sql, names };
}

// The check: every word is a keyword, a text, a column, a table, an alias or a value.

type Checked<S extends string, T extends Tables> = [Fault<Words<S>, T>] extends [never]
  ? S
  : Fault<Words<S>, T>;

type ValuesOf<S extends string> = { readonly [N in ValueName<Words<S>>]: SqlValue };

type ValueName<W extends string> = W extends `:${infer Name}` ? Name : never;

type Fault<W extends string, T extends Tables> = W extends `${Letter}${string}`
  ? W extends `${infer A}.${infer C}`
    ? C extends ColumnAt<T, A>
      ? never
      : `there is no column ${W}`
    : W extends Lowercase<W>
      ? W extends ColumnOf<T[keyof T]> | NamesOf<keyof T & string>
        ? never
        : `there is no column ${W}`
      : never
  : never;

type ColumnOf<C> = C extends TableClass<infer M extends Model> ? keyof Attributes<M> & string : never;

/** The columns of the table that goes by that name. */
type ColumnAt<T extends Tables, A extends string> = ColumnOf<T[keyof T & (A | `${string} ${A}`)]>;

type NamesOf<N extends string> = N extends `${infer Table} ${infer Alias}` ? Table | Alias : N;

type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | LaterLetter;
type LaterLetter = 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z';

/** What stands between spaces, brackets and commas. */
type Words<S extends string> = Split<Split<Split<Split<Split<S, '\n'>, '('>, ')'>, ','>, ' '>;

type Split<S extends string, Mark extends string, Found extends string = never> = S extends string
  ? S extends `${infer First}${Mark}${infer Rest}`
    ? Split<Rest, Mark, Found | First>
    : Found | S
  : never;
