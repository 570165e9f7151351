// Column types: the SQL type, the value in code, and whether the column is listed without being named.
import type { CreationOptional, Model, ModelAttributeColumnOptions } from 'sequelize';
import { DataType } from 'sequelize-typescript';
import { now } from '../../lib/values/clock.js';
import type { SqlValue } from '../../lib/database/db.js';
import type { Text } from '../../lib/values/language.js';
import { Money } from '../../lib/values/money.js';

/** What an answer says of a value. */
export type ValueKind = 'integer' | 'text' | 'boolean' | 'amount' | 'time' | 'any';

declare const unlisted: unique symbol;

/** A field that is neither read nor answered unless it is named. */
export type Unlisted<T> = T extends null | undefined ? T : T & { [unlisted]?: true };

/** Whether a field is declared so. */
export type IsUnlisted<T> = typeof unlisted extends keyof NonNullable<T> ? true : false;

type CreationBrand = Exclude<keyof CreationOptional<string>, keyof string>;

type Unbranded<V, Brand extends PropertyKey> = V extends infer Own & { [K in Brand]?: true } ? Own : V;

/** The type of a column's value without what the declaration says of the column. */
export type Plain<V> = Unbranded<Unbranded<V, typeof unlisted>, CreationBrand>;

/** Fills a column with the time of its row. */
export const rowTime = Symbol('the time of the row');

interface Description {
  kind: ValueKind;
  /** As information_schema spells it. */
  sqlType: string;
  type: ModelAttributeColumnOptions['type'];
  isAscii?: boolean;
  isNullable?: boolean;
  isPrimary?: boolean;
  isGenerated?: boolean;
  unlisted?: 'secret' | 'internal';
  /** What the database fills in. */
  preset?: SqlValue | typeof rowTime;
  /** Its header in exports. */
  title?: Text;
  isFiltered?: boolean;
  /** The only values there are. */
  values?: readonly (string | number)[];
  /** The driver's value as ours, and ours as the driver's. Null stays null. */
  read?: (stored: unknown) => unknown;
  write?: (value: unknown) => SqlValue;
}

/** The type of a column that holds a `V`. */
export class ColumnType<V> {
  declare readonly holds: V;
  readonly is: Readonly<Description>;

  constructor(is: Description) {
    this.is = is;
  }

  nullable(): ColumnType<V | null> {
    return new ColumnType({ ...this.is, isNullable: true });
  }

  /** Filled in by the database where it is not given. */
  default(preset: V | typeof rowTime): ColumnType<V> {
    return new ColumnType({ ...this.is, preset: preset === rowTime ? rowTime : this.write(preset) });
  }

  /** Part of the primary key. */
  primary(): ColumnType<V> {
    return new ColumnType({ ...this.is, isPrimary: true });
  }

  /** Its header in exports that take the titled columns of a class (`otherTitled`); others name each column. */
  titled(zh: string, en: string): ColumnType<V> {
    return new ColumnType({ ...this.is, title: { zh, en } });
  }

  /** Lists and exports can be filtered by it: a text by a part, any other by its value (filters.ts). */
  filtered(): ColumnType<V> {
    return new ColumnType({ ...this.is, isFiltered: true });
  }

  /** Never shown. */
  secret(): ColumnType<Unlisted<V>> {
    return new ColumnType({ ...this.is, unlisted: 'secret' });
  }

  /** For the service's own use. */
  internal(): ColumnType<Unlisted<V>> {
    return new ColumnType({ ...this.is, unlisted: 'internal' });
  }

  /** Our value as a statement takes it. */
  write(value: unknown): SqlValue {
    return value === null || !this.is.write ? (value as SqlValue) : this.is.write(value);
  }

  /** The attribute for Sequelize: its instances keep the driver's values and return ours. */
  attribute(name: string): Partial<ModelAttributeColumnOptions> {
    const { type, isNullable, isPrimary, isGenerated, preset, read } = this.is;
    const accessors = {
      get(this: Model): unknown {
        const stored: unknown = this.getDataValue(name);
        return stored === null || stored === undefined || !read ? stored : read(stored);
      },
      set: setter(name, (value) => this.write(value)),
    };
    return {
      type,
      // Columns with a preset may be omitted.
      allowNull: isNullable || isGenerated || preset !== undefined,
      primaryKey: isPrimary,
      autoIncrement: isGenerated,
      // Sequelize would fill them from another clock.
      ...(timestamps.includes(name) ? { defaultValue: now } : {}),
      ...(read ? accessors : {}),
    };
  }
}

const timestamps = ['created_at', 'updated_at'];

const setter = (name: string, write: (value: unknown) => SqlValue) =>
  function set(this: Model, value: unknown): void {
    this.setDataValue(name, value === undefined ? value : write(value));
  };

const column = <V>(kind: ValueKind, sqlType: string, more: Omit<Description, 'kind' | 'sqlType'>) =>
  new ColumnType<V>({ kind, sqlType, ...more });

const integerColumn = (sqlType: string, type: Description['type']) =>
  column<number>('integer', sqlType, { type });

/** The generated key of a row. */
export const id = () =>
  column<number>('integer', 'bigint unsigned', { type: DataType.BIGINT, isPrimary: true, isGenerated: true });

/** The key of another row, a size or a count. */
export const big = () => integerColumn('bigint unsigned', DataType.BIGINT);

export const unsigned = () => integerColumn('int unsigned', DataType.INTEGER.UNSIGNED);

export const integer = () => integerColumn('int', DataType.INTEGER);

export const small = () => integerColumn('smallint unsigned', DataType.SMALLINT.UNSIGNED);

export const percentage = () => integerColumn('tinyint unsigned', DataType.TINYINT.UNSIGNED);

/** A small number, or one of these. */
export const tiny = <const V extends number = number>(...values: V[]) =>
  column<V>('integer', 'tinyint', { type: DataType.TINYINT, values: values.length > 0 ? values : undefined });

/** Stored as 0 and 1. */
export const flag = () =>
  column<boolean>('boolean', 'tinyint', {
    type: DataType.TINYINT,
    read: (stored) => stored === 1,
    write: Number,
  });

/** An exact amount with two decimals; the driver hands over its text. */
export const money = () =>
  column<Money>('amount', 'decimal(18,2)', {
    type: DataType.DECIMAL(18, 2),
    read: (stored) => Money.from(stored as string),
    write: String,
  });

/** A time in UTC, to the millisecond. */
export const instant = () => column<Date>('time', 'datetime(3)', { type: DataType.DATE(3) });

/** A text of up to so many characters. */
export const text = (max: number) =>
  column<string>('text', `varchar(${max})`, { type: DataType.STRING(max) });

/** A text of up to 64 KiB. */
export const longText = () => column<string>('text', 'text', { type: DataType.TEXT });

/** A text of ASCII characters, compared byte by byte; or one of these. */
export const ascii = <const V extends string = string>(max: number, values?: readonly V[]) =>
  column<V>('text', `varchar(${max})`, { type: DataType.STRING(max), isAscii: true, values });

/** ASCII characters of a fixed number: an order number, a hash. */
export const code = (length: number) =>
  column<string>('text', `char(${length})`, { type: DataType.CHAR(length), isAscii: true });

/** Bytes of a fixed number. */
export const bytes = (length: number) => column<Buffer>('any', `binary(${length})`, { type: DataType.BLOB });

/** A value stored as JSON text of up to 16 MiB. */
export const json = <V = unknown>() =>
  column<V>('any', 'mediumtext', {
    type: DataType.TEXT,
    read: (stored) => JSON.parse(stored as string) as unknown,
    write: (value) => JSON.stringify(value),
  });

/** JSON text that may be cut off; it is then read as that text. Written as text. */
export const cutJson = (sqlType: 'text' | 'mediumtext' = 'text') =>
  column<unknown>('any', sqlType, { type: DataType.TEXT, read: parsedOrText });

function parsedOrText(stored: unknown): unknown {
  try {
    return JSON.parse(stored as string);
  } catch {
    return stored;
  }
}
