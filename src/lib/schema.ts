// The Joi building blocks of every request: what an id, a text, an amount, a time is here.
import Joi from 'joi';
import { maxAmount, Money } from './money.js';
import { readTime } from './time.js';
import { currentZone } from './context.js';
import { keywords } from './schema-notes.js';

/** A positive integer key. */
export const id = () => Joi.number().integer().min(1).max(Number.MAX_SAFE_INTEGER);

const idOrZero = () => Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER);

/** A parent in a tree: 0 and '' mean none (`noneToZero`). */
export const parent = () => idOrZero().allow('');

/** A filter by parent; 0 for those that have none. */
export const parentFilter = idOrZero;

/** A reference that may be left open: 0 and '' mean none, as null does (`noneToNull`). */
export const idOrNone = () => idOrZero().allow(null, '');

/**
 * A list of different keys, at most `max` of them. The first problem ends the check: comparing and reporting each of
 * a million items would take long.
 */
export const ids = (max = 1000) => Joi.array().items(id()).max(max).unique().prefs({ abortEarly: true });

/** A text of 1 to `max` characters. */
export const text = (max: number) => Joi.string().min(1).max(max);

/** A text of up to `max` characters; an empty one clears the field. */
export const optionalText = (max: number) => Joi.string().allow('', null).max(max);

/**
 * An address that a page may follow: http, https, or relative to the page; an empty one clears the field. Other schemes run
 * scripts (`javascript:`, `data:`), also with blanks and control characters before them.
 */
export const webAddress = (max: number) =>
  optionalText(max).custom((value: string | null, helpers) => {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec((value ?? '').replace(/[\p{C}\p{Z}]/gu, ''))?.[1];
    return scheme === undefined || /^https?$/i.test(scheme) ? value : helpers.error('string.uri');
  });

/** 0 disabled, 1 enabled. */
export const status = () => Joi.number().valid(0, 1);

/** An integer that is brought within its bounds instead of being refused. */
export const clamped = ({ fallback, min, max, tooSmall = min }: Bounds) =>
  keywords(
    Joi.number()
      .integer()
      .default(fallback)
      .custom((value: number) => (value < min ? tooSmall : Math.min(value, max))),
    { minimum: min, maximum: max },
  );

interface Bounds {
  /** When none is given. */
  fallback: number;
  min: number;
  max: number;
  /** What stands for a value below the least. */
  tooSmall?: number;
}

/** Where an entry stands among its siblings. */
export const sort = () => Joi.number().integer().min(-1_000_000).max(1_000_000);

export const email = () => Joi.string().allow('', null).max(100).email({ tlds: false });

export const phone = () =>
  Joi.string()
    .allow('', null)
    .max(30)
    .pattern(/^\+?[0-9 ()-]{3,30}$/);

/** The name of a new administrator. */
export const username = () =>
  Joi.string()
    .min(3)
    .max(50)
    .pattern(/^[A-Za-z0-9_.@-]+$/);

export const slug = (max = 100) =>
  Joi.string()
    .min(1)
    .max(max)
    .pattern(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/);

/** An amount as a JSON number: at most two decimals. */
export const exactAmount = () => keywords(Joi.number().unsafe(), { multipleOf: 0.01 });

const amountBetween = (least: bigint) =>
  keywords(Joi.number().unsafe(), { multipleOf: 0.01, minimum: Number(least) / 100, maximum: maxAmount });

/**
 * An exact amount, as a number or a decimal text; the handler receives a `Money`.
 *
 * @param least smallest accepted number of cents
 */
export const money = (least: bigint) =>
  Joi.alternatives()
    .try(
      amountBetween(least),
      keywords(Joi.string(), { format: 'decimal', pattern: '^-?\\d{1,14}(\\.\\d{1,2})?$' }),
    )
    .custom((value: unknown, helpers) => {
      const amount = Money.parse(value);
      if (!amount) return helpers.error('money.format');
      return amount.cents < least ? helpers.error('money.least') : amount;
    }) as unknown as Joi.ObjectSchema<Money>;

/** A time filter (contract.md §2) in the request zone; the handler receives a `Date`. */
export const time = (edge: 'start' | 'end') =>
  Joi.string().custom(
    (value: string, helpers) => readTime(value, currentZone(), edge) ?? helpers.error('time.format'),
  ) as unknown as Joi.DateSchema;

/** A path parameter that is a key. */
export const idParam = Joi.object<{ id: number }, true>({ id: id().required() });
