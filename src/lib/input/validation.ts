// Validates request parts with their Joi schemas and reports problems per field in the caller's language.
import Joi from 'joi';
import type { ErrorSlug } from '../errors/catalogue.js';
import { AppError, fail, type FieldErrors } from '../errors/app-error.js';
import { currentLanguage } from '../process/context.js';
import { languages, say, type Language, type Text } from '../values/language.js';
import { findOversized } from './size-limits.js';

const texts = {
  'any.required': { zh: '必填', en: 'is required' },
  'any.only': { zh: '取值不在允许范围内', en: 'is not one of the allowed values' },
  'any.invalid': { zh: '取值不允许', en: 'is not allowed' },
  'string.base': { zh: '必须是字符串', en: 'must be a string' },
  'string.empty': { zh: '不能为空', en: 'must not be empty' },
  'string.min': { zh: '长度不能少于 {#limit} 个字符', en: 'must be at least {#limit} characters long' },
  'string.max': { zh: '长度不能超过 {#limit} 个字符', en: 'must be at most {#limit} characters long' },
  'string.length': { zh: '长度必须为 {#limit} 个字符', en: 'must be {#limit} characters long' },
  'string.pattern.base': { zh: '格式不正确', en: 'has an invalid format' },
  'string.email': { zh: '邮箱格式不正确', en: 'must be an e-mail address' },
  'string.uri': { zh: '地址格式不正确', en: 'must be a URL' },
  'number.base': { zh: '必须是数字', en: 'must be a number' },
  'number.integer': { zh: '必须是整数', en: 'must be an integer' },
  'number.min': { zh: '不能小于 {#limit}', en: 'must be at least {#limit}' },
  'number.max': { zh: '不能大于 {#limit}', en: 'must be at most {#limit}' },
  'number.unsafe': { zh: '数值超出范围', en: 'is out of range' },
  'number.infinity': { zh: '数值超出范围', en: 'is out of range' },
  'boolean.base': { zh: '必须是布尔值', en: 'must be true or false' },
  'array.base': { zh: '必须是数组', en: 'must be an array' },
  'array.min': { zh: '至少需要 {#limit} 项', en: 'must contain {#limit} or more items' },
  'array.max': { zh: '不能超过 {#limit} 项', en: 'must contain at most {#limit} items' },
  'array.unique': { zh: '存在重复项', en: 'contains a duplicate' },
  'array.sparse': { zh: '不能包含空项', en: 'must not contain empty items' },
  'array.includesRequiredUnknowns': { zh: '不能为空', en: 'must not be empty' },
  'object.base': { zh: '必须是对象', en: 'must be an object' },
  'object.unknown': { zh: '不允许的字段', en: 'is not allowed' },
  'object.max': { zh: '不能超过 {#limit} 项', en: 'must contain at most {#limit} items' },
  'alternatives.types': { zh: '必须是数字或字符串', en: 'must be a number or a string' },
  'alternatives.match': { zh: '必须是数字或字符串', en: 'must be a number or a string' },
  'name.reserved': { zh: '是保留名称，不能使用', en: 'is a reserved name' },
  'text.control': {
    zh: '不能包含控制字符、方向控制符或不完整的字符',
    en: 'must not contain control characters, direction overrides or halves of characters',
  },
  'money.format': { zh: '必须是最多两位小数的金额', en: 'must be an amount with at most two decimals' },
  'money.min': { zh: '不能小于 {#limit}', en: 'must be at least {#limit}' },
  'money.max': { zh: '不能大于 {#limit}', en: 'must be at most {#limit}' },
  'time.format': { zh: '时间格式不正确', en: 'is not a valid time' },
  'order_by.format': { zh: '排序格式应为 字段:asc|desc', en: 'must look like field:asc|desc' },
  'order_by.field': { zh: '不支持按该字段排序', en: 'names a field that cannot be sorted by' },
  'password.weak': { zh: '必须同时包含字母和数字', en: 'must contain a letter and a digit' },
  'password.common': { zh: '过于常见，容易被猜到', en: 'is too common and easily guessed' },
  'password.same': { zh: '不能与原密码相同', en: 'must differ from the old password' },
  'password.username': { zh: '不能与用户名相同', en: 'must differ from the username' },
  'password.confirmation': { zh: '两次输入的密码不一致', en: 'must equal the password' },
  'key.private': {
    zh: '必须是至少 2048 位的 RSA 私钥（PEM）',
    en: 'must be an RSA private key (PEM) of 2048 bits or more',
  },
  'key.public': {
    zh: '必须是至少 2048 位的 RSA 公钥（PEM）',
    en: 'must be an RSA public key (PEM) of 2048 bits or more',
  },
  'key.gateway': { zh: '必须是公网 https 地址', en: 'must be a public https address' },
  'file.single': { zh: '只能上传一个文件', en: 'must be one file only' },
  'file.max': { zh: '不能超过 {#limit} MB', en: 'must be at most {#limit} MB' },
  'query.repeated': { zh: '只能出现一次', en: 'must be given only once' },
} satisfies Record<string, Text>;

type Problem = keyof typeof texts;

const formats = new Set([
  'string.email',
  'string.uri',
  'key.private',
  'key.public',
  'key.gateway',
  'time.format',
  'order_by.format',
  'order_by.field',
]);

const preferences = Object.fromEntries(
  languages.map((language) => [language, preferencesFor(language)]),
) as Record<Language, Joi.ValidationOptions>;

/**
 * Validates a value. Unknown fields are dropped, nothing is converted.
 *
 * @throws validation_failed (400) when something is missing or has the wrong type; format_invalid (422, 30004)
 * when only formats are wrong; else value_not_acceptable (422, 30001); each with the texts per field
 */
export function validate<T>(schema: Joi.Schema<T>, value: unknown): T {
  const excess = findOversized(schema, value);
  if (excess) refuseField('value_not_acceptable', fieldOf(excess.path), excess.type, excess.limit);
  const result = localised(schema, currentLanguage()).validate(value) as Joi.ValidationResult<T>;
  if (!result.error) return result.value;
  throw new AppError(outcomeOf(result.error.details), { fields: textsByField(result.error.details) });
}

const known = new Map<Language, WeakMap<Joi.Schema, Joi.Schema>>();

// Joi compiles messages passed to a call on every call; messages of a schema are compiled once.
function localised(schema: Joi.Schema, language: Language): Joi.Schema {
  let schemas = known.get(language);
  if (!schemas) known.set(language, (schemas = new WeakMap()));
  let carrying = schemas.get(schema);
  if (!carrying) schemas.set(schema, (carrying = schema.prefs(preferences[language])));
  return carrying;
}

/** Texts of one problem in the caller's language, for checks no schema can express. */
export function problem(type: Problem, limit: number | string = ''): string {
  return say(texts[type], currentLanguage()).replace('{#limit}', String(limit));
}

/** Refuses a field with the text of such a problem. @throws the outcome with that slug */
export function refuseField(
  slug: 'validation_failed' | 'value_not_acceptable',
  field: string,
  ...what: Parameters<typeof problem>
): never {
  fail(slug, { fields: { [field]: [problem(...what)] } });
}

/** In place of a text of a query that cannot be the value asked for: why. */
class Unfit {
  readonly type: Problem;

  constructor(type: Problem) {
    this.type = type;
  }
}

/**
 * Query strings and multipart fields are texts: digits become integers and true/false/1/0 booleans where the
 * schema requires them; an empty one counts as missing, several of one name are unfit for a single value.
 */
export function coercer(schema: Joi.ObjectSchema): (raw: Record<string, unknown>) => Record<string, unknown> {
  let keys: [string, { type: string }][] | undefined;
  return (raw) => {
    // Lazy: most routes are not called soon after a start.
    keys ??= Object.entries((schema.describe().keys ?? {}) as Record<string, { type: string }>);
    const coerced = { ...raw };
    for (const [name, { type }] of keys) coerced[name] = coerce(type, raw[name]);
    return coerced;
  };
}

function coerce(type: string, value: unknown): unknown {
  if (Array.isArray(value) && type !== 'array') return new Unfit('query.repeated');
  if (typeof value !== 'string') return value;
  if (value === '') return undefined;
  if (type === 'number') return integerFrom(value);
  if (type !== 'boolean') return value;
  if (value === 'true' || value === '1') return true;
  return value === 'false' || value === '0' ? false : value;
}

function integerFrom(text: string): number | string | Unfit {
  if (/^-?\d+\.\d+$/.test(text)) return new Unfit('number.integer');
  if (!/^-?\d+$/.test(text)) return text;
  return Number.isSafeInteger(Number(text)) ? Number(text) : new Unfit('number.unsafe');
}

function outcomeOf(details: Joi.ValidationErrorItem[]): ErrorSlug {
  if (details.some(({ type }) => isTypeProblem(type))) return 'validation_failed';
  return details.every(({ type }) => formats.has(type)) ? 'format_invalid' : 'value_not_acceptable';
}

function isTypeProblem(type: string): boolean {
  return type === 'any.required' || type.endsWith('.base')
    ? type !== 'string.pattern.base'
    : type === 'alternatives.types';
}

function textsByField(details: Joi.ValidationErrorItem[]): FieldErrors {
  const mistyped = new Set(
    details.filter(({ type }) => isTypeProblem(type)).map(({ path }) => fieldOf(path)),
  );
  const fields = new Map<string, string[]>();
  for (const { path, type, message, context } of details.slice(0, maxProblems)) {
    const field = fieldOf(path);
    // What has the wrong type is none of the allowed values either.
    if (type === 'any.only' && mistyped.has(field)) continue;
    const text = context?.value instanceof Unfit ? problem(context.value.type) : message;
    fields.set(field, [...(fields.get(field) ?? []), text]);
  }
  return Object.fromEntries(fields);
}

/** Max number of reported problems; the rest are reported once these are fixed. */
const maxProblems = 50;

const fieldOf = (path: (string | number)[]): string => path.join('.') || 'body';

function preferencesFor(language: Language): Joi.ValidationOptions {
  return {
    abortEarly: false,
    convert: false,
    stripUnknown: { objects: true, arrays: false },
    messages: Object.fromEntries(Object.entries(texts).map(([type, text]) => [type, say(text, language)])),
    errors: { label: false },
  };
}
