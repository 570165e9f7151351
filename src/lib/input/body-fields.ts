// The fields of a body: JSON, or a form.
import { parse as parseSafely } from '@hapi/bourne';
import { fail } from '../errors/app-error.js';
import { quoteLongNumbers } from './exact-json.js';

/**
 * The fields of a body as its media type says; anything but a form is JSON.
 *
 * @throws bad_request unless it can be read, payload_too_large when JSON is nested too deeply
 */
export const fieldsOf = (text: string, mediaType = ''): unknown =>
  /^\s*application\/x-www-form-urlencoded\b/i.test(mediaType) ? formFields(text) : jsonFields(text);

// Numbers with too many digits for a double stay texts, and no key reaches a prototype.
function jsonFields(text: string): unknown {
  if (text === '') return {};
  if (!/^[ \t\n\r]*[[{]/.test(text)) fail('bad_request');
  let value: unknown;
  try {
    value = parseSafely(quoteLongNumbers(text) ?? text);
  } catch (error) {
    fail('bad_request', { cause: error });
  }
  assertShallow(value);
  return value;
}

// The names as they are, brackets and dots included: signatures cover them. Who reads the fields refuses a list.
function formFields(text: string): Record<string, string | string[]> {
  const given = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = given.get(name);
    if (values) values.push(value);
    else given.set(name, [value]);
  }
  given.delete('__proto__');
  return Object.fromEntries(
    [...given].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]),
  );
}

/** Schemas, masks and logs recurse into a body. */
const maxLevels = 32;

function assertShallow(value: unknown, level = 1): void {
  if (typeof value !== 'object' || value === null) return;
  if (level > maxLevels) fail('payload_too_large');
  for (const part of Object.values(value)) assertShallow(part, level + 1);
}
