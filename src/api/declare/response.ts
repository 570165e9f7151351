// Joi building blocks of answers, for the OpenAPI document, the tests that validate every answer, and the compiler: a
// schema of type Answer<T> describes the JSON of a T.
import Joi from 'joi';
import { maxDepth } from '../../lib/secrets/mask.js';
import { exactAmount, keywords, named } from '../../lib/input/schema.js';
import type { Money } from '../../lib/values/money.js';
import type { Page } from '../../lib/input/list-query.js';
import type { Tree } from '../../models/tables/tree.js';
import type { ColumnType, ValueKind } from '../../models/tables/column.js';
import {
  declarationOf,
  type Attributes,
  type Listed,
  type Model,
  type TableClass,
} from '../../models/tables/table.js';

/** The schema of answers with a `T`. */
export type Answer<T> = Joi.AnySchema<T>;

/** The members of such answers. */
export type Answered<S> = S extends Answer<infer T> ? T : never;

type Keys = Record<string, Joi.Schema>;

type Values<K> = { -readonly [P in keyof K]: Answered<K[P]> };

const as = <T>(schema: Joi.Schema): Answer<T> => schema as Answer<T>;

export const integer = () => Joi.number().integer().required();
export const integerOrNull = () => as<number | null>(integer().allow(null));
export const text = () => Joi.string().allow('').required();
export const textOrNull = () => as<string | null>(text().allow(null));
export const flag = () => Joi.boolean().required();
export const timestamp = () => as<Date>(Joi.string().isoDate().required());
export const timestampOrNull = () => as<Date | null>(timestamp().allow(null));
export const amount = () => as<Money>(exactAmount().required());
export const amountOrNull = () => as<Money | null>(amount().allow(null));
export const date = () => keywords(text(), { format: 'date' });
export const month = () => keywords(text(), { pattern: '^\\d{4}-\\d{2}$' });

/** 0 disabled, 1 enabled. */
export const enabled = () =>
  as<number>(Joi.number().valid(0, 1).required().description('0 disabled, 1 enabled').example(1));

const plain = ['string', 'number', 'boolean', 'null'].map((type) => ({ type }));
const object = { type: 'object', additionalProperties: { $ref: '#/components/schemas/Json' } };
const value = (items?: object) => ({
  anyOf: [...plain, object, ...(items ? [{ type: 'array', items }] : [])],
});

/** As deep as logs store it; TypeScript cannot express unbounded nesting. */
const anyValue = Array.from({ length: maxDepth }).reduce<Record<string, unknown>>(
  (items) => value(items),
  value(),
);

/** Any JSON value. */
export const json = () => as<unknown>(named('Json', keywords(Joi.any(), anyValue)).required());

/** One of these texts. */
export const oneOf = <const V extends string | number>(...values: readonly V[]) =>
  as<V>((typeof values[0] === 'string' ? Joi.string() : Joi.number()).valid(...values).required());

const kinds: Record<ValueKind, () => Joi.Schema> = {
  integer,
  text,
  boolean: flag,
  amount,
  time: timestamp,
  any: json,
};

/** The columns of a table in answers: the named ones, or all but those to be named. */
export function keysOf<M extends Model>(
  table: TableClass<M>,
): { [K in keyof Listed<M>]: Answer<Listed<M>[K]> };
export function keysOf<M extends Model, K extends keyof Attributes<M>>(
  table: TableClass<M>,
  ...names: K[]
): { [P in K]: Answer<Attributes<M>[P]> };
export function keysOf(table: TableClass, ...names: string[]): object {
  const { columns } = declarationOf(table);
  const shown = [...columns].filter(([name, { is }]) =>
    names.length > 0 ? names.includes(name) : !is.unlisted,
  );
  return Object.fromEntries(shown.map(([name, type]) => [name, columnAnswer(type)]));
}

function columnAnswer({ is: { kind, values, isNullable } }: ColumnType<unknown>): Joi.Schema {
  const schema = values ? oneOf(...values) : kinds[kind]();
  return isNullable ? schema.allow(null) : schema;
}

/** Words of the document about one field. */
export type Words = readonly [description: string, example?: unknown];

/** The keys with what they mean here, where their names alone do not say it. */
export function described<K extends Keys>(keys: K, words: { [P in keyof K]?: Words }): K {
  const documented = Object.entries<Words>(words as Record<string, Words>).map(
    ([key, [description, example]]) => {
      const schema = (keys[key] as Joi.Schema).description(description);
      return [key, example === undefined ? schema : schema.example(example)];
    },
  );
  return { ...keys, ...Object.fromEntries(documented) } as K;
}

/** An object with every member required. */
export const record = <K extends Keys>(keys: K) => as<Values<K>>(Joi.object(keys).required());

/** A record named in the document; generated clients use it as the type name. */
export const resource = <K extends Keys>(name: string, keys: K) => named(name, record(keys));

/** {id, …} or null. */
export const recordOrNull = <K extends Keys>(keys: K) => as<Values<K> | null>(record(keys).allow(null));

export const listOf = <T>(item: Answer<T>) => Joi.array().items(item).required();

/** The page of docs/spec.md, Conventions, with more members. */
export const pageOf = <T, K extends Keys = Record<never, never>>(item: Answer<T>, more?: K) =>
  as<Page<T> & Values<K>>(
    record({ list: listOf(item), page: integer(), page_size: integer(), total: integer(), ...more }),
  );

/** The query of a list that may also ask for the sum of its amounts. */
export const withSum = <Q extends object>(query: Joi.ObjectSchema<Q>) =>
  query.append<Q & { with_sum: boolean }>({
    with_sum: Joi.boolean().default(false).description('Also returns `amount_sum`'),
  });

/** A page of a list, with the sum of its amounts if the query asks for it. */
export async function summedPage<Q extends { with_sum: boolean }, T>(
  query: Q,
  list: (query: Q) => Promise<Page<T>>,
  sum: (query: Q) => Promise<Money | undefined>,
): Promise<Page<T> & { amount_sum: Money | undefined }> {
  const [page, amount_sum] = await Promise.all([list(query), query.with_sum ? sum(query) : undefined]);
  return { ...page, amount_sum };
}

/** The answers of `summedPage`. */
export const summedPageOf = <T>(item: Answer<T>) =>
  pageOf(item, {
    amount_sum: as<Money | undefined>(
      amount().optional().description('The sum of the amounts of the whole list, with `with_sum`'),
    ),
  });

/** A list of trees: nodes with these keys, and children of the same shape. */
export function forestOf<K extends Keys>(name: string, keys: K): Answer<Tree<Values<K>>[]> {
  const children = Joi.array().items(Joi.link(`#${name}`));
  const node = Joi.object({ ...keys, children: children.required() }).id(name);
  return as(children.required().shared(node));
}
