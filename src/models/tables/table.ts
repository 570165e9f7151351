// A table is declared once, as a class. Column lists, records, typed writes and answers follow from the class.
import type {
  Attributes,
  CreationAttributes,
  InferAttributes,
  InferCreationAttributes,
  Model,
} from 'sequelize';
import { Column as sequelizeColumn, Table as sequelizeTable } from 'sequelize-typescript';
import type { ColumnType, IsUnlisted, Plain } from './column.js';

type IsAny<T> = 0 extends 1 & T ? true : false;

// sequelize-typescript declares some columns of every model as `any`.
type Declared<T> = { [K in keyof T as IsAny<T[K]> extends true ? never : K]: T[K] };

/** The columns of a class. */
export type Row<M extends Model> = Declared<InferAttributes<M>>;

/** The required and optional columns of a new row. */
export type NewRow<M extends Model> = Declared<InferCreationAttributes<M>>;

/** The columns a caller sets; key and times follow. */
export type Fields<M extends Model, Without extends keyof CreationAttributes<M> = never> = Omit<
  CreationAttributes<M>,
  'id' | 'created_at' | 'updated_at' | Without
>;

/** The columns that need not be named to be read and answered. */
export type Listed<M extends Model> = {
  [K in keyof Attributes<M> as IsUnlisted<Attributes<M>[K]> extends true ? never : K]: Plain<
    Attributes<M>[K]
  >;
};

export type { Attributes, Model } from 'sequelize';

/** Any class of a table's rows. */
export interface TableClass<M extends Model = Model> {
  new (): M;
  prototype: M;
  name: string;
}

type Same<A, B> = [A, IsUnlisted<A>] extends [B, IsUnlisted<B>] ? ([B] extends [A] ? unknown : never) : never;

/** Declares a column; its field must be of the type that the column holds. */
export function Column<V>(type: ColumnType<V>) {
  return <K extends string, T extends Record<K, unknown>>(prototype: T & Same<T[K], V>, name: K): void => {
    const columns = declared.get(prototype) ?? new Map<string, ColumnType<unknown>>();
    declared.set(prototype, columns.set(name, type));
    const annotate = sequelizeColumn(type.attribute(name)) as PropertyDecorator;
    annotate(prototype, name);
  };
}

const declared = new Map<object, Map<string, ColumnType<unknown>>>();

export interface TableDeclaration {
  name: string;
  columns: ReadonlyMap<string, ColumnType<unknown>>;
  /** Unique keys beside the primary one, by their names. */
  unique: Record<string, readonly string[]>;
}

const tables = new Map<object, TableDeclaration>();

export const allTables = (): TableDeclaration[] => [...tables.values()];

/** Declares a table. @param unique its unique keys beside the primary one */
export function Table<K extends string = never>(name: string, unique: Record<string, readonly K[]> = {}) {
  return <M extends Record<K, unknown> & Model>(target: TableClass<M>): void => {
    const columns = declared.get(target.prototype) ?? new Map<string, ColumnType<unknown>>();
    tables.set(target, { name, columns, unique });
    const timed = (column: string): string | false => (columns.has(column) ? column : false);
    const hidden = [...columns].flatMap(([column, { is }]) => (is.unlisted === 'secret' ? [column] : []));
    const annotate = sequelizeTable({
      tableName: name,
      createdAt: timed('created_at'),
      updatedAt: timed('updated_at'),
      defaultScope: { attributes: { exclude: hidden } },
    }) as ClassDecorator;
    annotate(target);
  };
}

/** The columns of an instance that need not be named. */
export function listed<M extends Model>(row: M): Listed<M> {
  const { columns } = declarationOf(row.constructor as unknown as TableClass<M>);
  const names = [...columns].flatMap(([name, { is }]) => (is.unlisted ? [] : [name]));
  return Object.fromEntries(names.map((name) => [name, row.get(name)])) as Listed<M>;
}

/** NULL for every listed column that may be NULL. */
export function blank<M extends Model>(table: TableClass<M>): Blank<M> {
  const { columns } = declarationOf(table);
  const names = [...columns].flatMap(([name, { is }]) => (is.isNullable && !is.unlisted ? [name] : []));
  return Object.fromEntries(names.map((name) => [name, null])) as Blank<M>;
}

type Blank<M extends Model> = {
  [K in keyof Listed<M> as null extends Listed<M>[K] ? K : never]: null;
};

export function declarationOf(table: TableClass): TableDeclaration {
  // A class with a scope is a subclass.
  for (let own: object | null = table; own; own = Object.getPrototypeOf(own) as object | null) {
    const known = tables.get(own);
    if (known) return known;
  }
  throw new Error(`${table.name} is no table`);
}
