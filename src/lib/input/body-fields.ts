// The fields of a body, JSON or a form, and of a query string.
import { scan } from '@hapi/bourne';
import { fail } from '../errors/app-error.js';

/**
 * The fields of a body as its media type says; anything but a form is JSON.
 *
 * @throws body_not_json, body_not_object, body_key_reserved, body_too_deep
 */
export const fieldsOf = (text: string, mediaType = ''): unknown =>
  /^\s*application\/x-www-form-urlencoded\b/i.test(mediaType) ? formFields(text) : jsonFields(text);

// Numbers with too many digits for a double stay texts, and no key reaches a prototype.
function jsonFields(text: string): unknown {
  if (text === '') return {};
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail('body_not_object');
  try {
    scan(value);
  } catch (error) {
    fail('body_key_reserved', { cause: error });
  }
  assertShallow(value);
  return value;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(quoteLongNumbers(json.replace(/^\uFEFF/, '')));
  } catch (error) {
    return fail('body_not_json', { cause: error });
  }
}

// The names as they are, brackets and dots included: signatures cover them. Who reads the fields refuses a list.
function formFields(text: string): NamedValues {
  const fields = parametersOf(text);
  Reflect.deleteProperty(fields, '__proto__');
  return fields;
}

export type NamedValues = Record<string, string | string[]>;

/** The parameters of a form or a query string; repeated ones become arrays. */
export function parametersOf(text: string): NamedValues {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = values.get(name);
    if (known === undefined) values.set(name, value);
    else if (typeof known === 'string') values.set(name, [known, value]);
    else known.push(value);
  }
  return Object.fromEntries(values);
}

/** Schemas, masks and logs recurse into a body. */
const maxLevels = 32;

function assertShallow(value: unknown, level = 1): void {
  if (typeof value !== 'object' || value === null) return;
  if (level > maxLevels) fail('body_too_deep');
  for (const part of Object.values(value)) assertShallow(part, level + 1);
}

/** Matches strings, to skip them, and whole numbers. */
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A cheap first test. */
const suspicious = /\d[\d.]{15}|[eE]-\d{3}/;
/** Significant decimal digits of a double (IEEE 754-2008, 5.12.2). */
const exactDigits = 15;

// JSON.parse would round a number with more digits than a double holds, the least ones to 0; quoted, it is
// left to the schema.
function quoteLongNumbers(json: string): string {
  if (!suspicious.test(json)) return json;
  return json.replace(tokens, (token) =>
    token.startsWith('"') || !/[.eE]/.test(token) || isExact(token) ? token : `"${token}"`,
  );
}

function isExact(number: string): boolean {
  const digits = significant(number);
  return digits <= exactDigits && (digits === 0 || Number(number) !== 0);
}

function significant(number: string): number {
  const [mantissa = ''] = number.split(/[eE]/);
  return mantissa.replace(/^-|\./g, '').replace(/^0+/, '').length;
}
