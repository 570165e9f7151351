// Validates request parts with their Joi schemas and reports problems per field in the caller's language.
import Joi from 'joi';
import type { ErrorSlug } from '../errors/catalogue.js';
import { AppError, fail, type FieldErrors } from '../errors/app-error.js';
import { currentLanguage } from '../process/context.js';
import type { Language } from '../values/language.js';
import { findOversized } from './size-limits.js';

const texts = {
  'zh-CN': {
    'any.required': '必填',
    'any.only': '取值不在允许范围内',
    'any.invalid': '取值不允许',
    'string.base': '必须是字符串',
    'string.empty': '不能为空',
    'string.min': '长度不能少于 {#limit} 个字符',
    'string.max': '长度不能超过 {#limit} 个字符',
    'string.length': '长度必须为 {#limit} 个字符',
    'string.pattern.base': '格式不正确',
    'string.email': '邮箱格式不正确',
    'string.uri': '地址格式不正确',
    'number.base': '必须是数字',
    'number.integer': '必须是整数',
    'number.min': '不能小于 {#limit}',
    'number.max': '不能大于 {#limit}',
    'number.unsafe': '数值超出范围',
    'number.infinity': '数值超出范围',
    'boolean.base': '必须是布尔值',
    'array.base': '必须是数组',
    'array.min': '至少需要 {#limit} 项',
    'array.max': '不能超过 {#limit} 项',
    'array.unique': '存在重复项',
    'array.sparse': '不能包含空项',
    'array.includesRequiredUnknowns': '不能为空',
    'object.base': '必须是对象',
    'object.unknown': '不允许的字段',
    'object.max': '不能超过 {#limit} 项',
    'alternatives.types': '必须是数字或字符串',
    'alternatives.match': '必须是数字或字符串',
    'name.reserved': '是保留名称，不能使用',
    'text.control': '不能包含控制字符、方向控制符或不完整的字符',
    'money.format': '必须是最多两位小数的金额',
    'money.min': '不能小于 {#limit}',
    'money.max': '不能大于 {#limit}',
    'time.format': '时间格式不正确',
    'order_by.format': '排序格式应为 字段:asc|desc',
    'order_by.field': '不支持按该字段排序',
    'password.weak': '必须同时包含字母和数字',
    'password.common': '过于常见，容易被猜到',
    'password.same': '不能与原密码相同',
    'password.username': '不能与用户名相同',
    'password.confirmation': '两次输入的密码不一致',
    'key.private': '必须是至少 2048 位的 RSA 私钥（PEM）',
    'key.public': '必须是至少 2048 位的 RSA 公钥（PEM）',
    'key.gateway': '必须是公网 https 地址',
    'file.single': '只能上传一个文件',
    'file.max': '不能超过 {#limit} MB',
    'query.repeated': '只能出现一次',
  },
  'en-US': {
    'any.required': 'is required',
    'any.only': 'is not one of the allowed values',
    'any.invalid': 'is not allowed',
    'string.base': 'must be a string',
    'string.empty': 'must not be empty',
    'string.min': 'must be at least {#limit} characters long',
    'string.max': 'must be at most {#limit} characters long',
    'string.length': 'must be {#limit} characters long',
    'string.pattern.base': 'has an invalid format',
    'string.email': 'must be an e-mail address',
    'string.uri': 'must be a URL',
    'number.base': 'must be a number',
    'number.integer': 'must be an integer',
    'number.min': 'must be at least {#limit}',
    'number.max': 'must be at most {#limit}',
    'number.unsafe': 'is out of range',
    'number.infinity': 'is out of range',
    'boolean.base': 'must be true or false',
    'array.base': 'must be an array',
    'array.min': 'must contain {#limit} or more items',
    'array.max': 'must contain at most {#limit} items',
    'array.unique': 'contains a duplicate',
    'array.sparse': 'must not contain empty items',
    'array.includesRequiredUnknowns': 'must not be empty',
    'object.base': 'must be an object',
    'object.unknown': 'is not allowed',
    'object.max': 'must contain at most {#limit} items',
    'alternatives.types': 'must be a number or a string',
    'alternatives.match': 'must be a number or a string',
    'name.reserved': 'is a reserved name',
    'text.control': 'must not contain control characters, direction overrides or halves of characters',
    'money.format': 'must be an amount with at most two decimals',
    'money.min': 'must be at least {#limit}',
    'money.max': 'must be at most {#limit}',
    'time.format': 'is not a valid time',
    'order_by.format': 'must look like field:asc|desc',
    'order_by.field': 'names a field that cannot be sorted by',
    'password.weak': 'must contain a letter and a digit',
    'password.common': 'is too common and easily guessed',
    'password.same': 'must differ from the old password',
    'password.username': 'must differ from the username',
    'password.confirmation': 'must equal the password',
    'key.private': 'must be an RSA private key (PEM) of 2048 bits or more',
    'key.public': 'must be an RSA public key (PEM) of 2048 bits or more',
    'key.gateway': 'must be a public https address',
    'file.single': 'must be one file only',
    'file.max': 'must be at most {#limit} MB',
    'query.repeated': 'must be given only once',
  },
} satisfies Record<Language, Record<string, string>>;

type Problem = keyof (typeof texts)['en-US'];

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
  (Object.keys(texts) as Language[]).map((language) => [language, preferencesFor(language)]),
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
  return texts[currentLanguage()][type].replace('{#limit}', String(limit));
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
    messages: texts[language],
    errors: { label: false },
  };
}
