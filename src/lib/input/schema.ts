// The Joi building blocks of requests: ids, texts, amounts, times; and notes on schemas for the OpenAPI document.
import Joi from 'joi';
import { maxAmount, Money } from '../values/money.js';
import { readTime } from '../values/time.js';
import { currentZone } from '../process/context.js';
import { arePrintableLines, isBlank, isPrintable } from './printable.js';

export interface Notes {
  /** Name of the schema in the document. */
  name?: string;
  /** JSON Schema keywords that Joi rules cannot express. */
  keywords?: Record<string, unknown>;
  /** Documents another schema instead; lazy, because Joi describes schemas in notes. */
  documented?: () => Joi.Schema;
}

/** Names a schema in the document; generated clients use it as the type name. */
export const named = <T extends Joi.Schema>(name: string, schema: T): T =>
  schema.meta({ name } satisfies Notes) as T;

/** Adds JSON Schema keywords, such as `format`, for checks made by a function. */
export const keywords = <T extends Joi.Schema>(schema: T, keywords: Notes['keywords']): T =>
  schema.meta({ keywords } satisfies Notes) as T;

/** Documents a schema as another, more specific one when the check is elsewhere. */
export const documentedAs = <T extends Joi.Schema>(schema: T, documented: Joi.Schema): T =>
  schema.meta({ documented: () => documented } satisfies Notes) as T;

/** A positive integer key. */
export const id = () => Joi.number().integer().min(1).max(Number.MAX_SAFE_INTEGER);

const idOrZero = () => Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER);

/** The parent in a tree: 0 and '' mean none (`noneToZero`). */
export const parent = () => idOrZero().allow('');

/** A filter by parent; 0 for roots. */
export const parentFilter = idOrZero;

/** An optional reference: 0 and '' mean none, like null (`noneToNull`). */
export const idOrNone = () => idOrZero().allow(null, '');

/**
 * A list of unique keys, at most `max`. The first problem ends the check: reporting each of a million items
 * would take long.
 */
export const ids = (max: number) => Joi.array().items(id()).max(max).unique().prefs({ abortEarly: true });

const checked = (schema: Joi.StringSchema, isFit: (text: string) => boolean) =>
  schema.custom((value: string, helpers) => (isFit(value) ? value : helpers.error('text.control')));

const notBlank = (schema: Joi.StringSchema) =>
  schema.custom((value: string, helpers) => (isBlank(value) ? helpers.error('string.empty') : value));

/** A line of 1 to `max` printable characters, not only blanks. */
export const nonEmptyText = (max: number) => notBlank(checked(Joi.string().min(1).max(max), isPrintable));

/** A line of up to `max` printable characters; an empty one clears the field. */
export const optionalText = (max: number) => checked(Joi.string().allow('', null).max(max), isPrintable);

/** A text of 1 to `max` characters with line breaks, not only blanks. */
export const nonEmptyMultiline = (max: number) =>
  notBlank(checked(Joi.string().min(1).max(max), arePrintableLines));

/** A text of up to `max` characters with line breaks; an empty one clears the field. */
export const optionalMultiline = (max: number) =>
  checked(Joi.string().allow('', null).max(max), arePrintableLines);

/** A filter by a text of up to `max` characters; an empty one filters nothing. */
export const textFilter = (max: number) => Joi.string().allow('').max(max);

/**
 * A URL that a page may follow: http, https, or relative; an empty one clears the field. Other schemes run
 * scripts (`javascript:`, `data:`), even after blanks, and `//host` or `/\host` leads to another host.
 */
export const webAddress = (max: number) =>
  optionalText(max).custom((value: string | null, helpers) => {
    const seen = (value ?? '').replace(/[\p{C}\p{Z}]/gu, '');
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(seen)?.[1];
    const isForeign = scheme === undefined ? /^[/\\]{2}/.test(seen) : !/^https?$/i.test(scheme);
    return isForeign ? helpers.error('string.uri') : value;
  });

/** 0 disabled, 1 enabled. */
export const status = () => Joi.number().valid(0, 1).description('0 disabled, 1 enabled').example(1);

/** An integer clamped to its range instead of refused. */
export const clamped = ({ fallback, min, max, tooSmall = min }: Bounds) =>
  keywords(
    Joi.number()
      .integer()
      .default(fallback)
      .custom((value: number) => (value < min ? tooSmall : Math.min(value, max))),
    { minimum: min, maximum: max },
  );

interface Bounds {
  fallback: number;
  min: number;
  max: number;
  /** Value for anything below the minimum. */
  tooSmall?: number;
}

export const sort = () => Joi.number().integer().min(-1_000_000).max(1_000_000);

/** A text that is too long is refused first: Joi normalises an e-mail address, which takes a second for a long one. */
export const email = () =>
  Joi.string().allow('', null).max(100).email({ tlds: false }).prefs({ abortEarly: true });

export const phone = () =>
  Joi.string()
    .allow('', null)
    .max(30)
    .pattern(/^(?=.*[0-9])\+?[0-9 ()-]{3,30}$/);

/** The name of a new administrator or user. */
export const username = () =>
  Joi.string()
    .min(3)
    .max(50)
    .pattern(/^[A-Za-z0-9_.@-]+$/);

const reserved = new Set(Object.getOwnPropertyNames(Object.prototype));

/** A name by which clients look things up: none that every object has, such as `constructor`. */
export const lookupName = (schema: Joi.StringSchema) =>
  schema.custom((value: string, helpers) => (reserved.has(value) ? helpers.error('name.reserved') : value));

export const slug = (max = 100) =>
  lookupName(
    Joi.string()
      .min(1)
      .max(max)
      .pattern(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/),
  );

/** An amount as a JSON number with at most two decimals. */
export const exactAmount = () => keywords(Joi.number().unsafe(), { multipleOf: 0.01 });

const amountFrom = (minCents: bigint) =>
  keywords(Joi.number().unsafe(), { multipleOf: 0.01, minimum: Number(minCents) / 100, maximum: maxAmount });

/** An exact amount, as a number or a decimal text; the handler receives a `Money`. */
export const money = (minCents: bigint) =>
  Joi.alternatives()
    .try(
      amountFrom(minCents),
      keywords(Joi.string(), { format: 'decimal', pattern: '^-?\\d{1,14}(\\.\\d{1,2})?$' }),
    )
    .custom((value: unknown, helpers) => {
      const amount = Money.parse(value);
      if (Number(value) > maxAmount) return helpers.error('money.max', { limit: String(maxAmount) });
      if (!amount) return helpers.error('money.format');
      const limit = String(Number(minCents) / 100);
      return amount.cents < minCents ? helpers.error('money.min', { limit }) : amount;
    }) as unknown as Joi.ObjectSchema<Money>;

/** A time filter (docs/api.md, 2) in the request zone; the handler receives a `Date`. */
export const time = (edge: 'start' | 'end') =>
  Joi.string().custom(
    (value: string, helpers) => readTime(value, currentZone(), edge) ?? helpers.error('time.format'),
  ) as unknown as Joi.DateSchema;

/** A path parameter that is a key. */
export const idParam = Joi.object<{ id: number }, true>({ id: id().required() });

/** The number of an order, payment or refund in a path. */
export const recordNumber = () => Joi.string().max(64).required();

/** A path parameter that is such a number; the numeric id works too. */
export const referenceParam = Joi.object<{ id: string }, true>({ id: recordNumber() });

/** A body that names up to `max` rows. */
export const idsBody = (max: number) =>
  Joi.object<{ ids: number[] }, true>({ ids: ids(max).min(1).required() });

/** Empty texts become NULL. */
export function blankToNull<T extends object>(fields: T): T {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === '' ? null : value]),
  ) as T;
}

/** A reference sent as 0 or an empty text becomes NULL. */
export function noneToNull<T extends object, K extends keyof T>(fields: T, name: K): T {
  return fields[name] === undefined ? fields : { ...fields, [name]: fields[name] || null };
}

/** The same for parent_id, where the database stores 0 for none. */
export function noneToZero<T extends { parent_id?: number }>(fields: T): T {
  return fields.parent_id === undefined ? fields : { ...fields, parent_id: fields.parent_id || 0 };
}
