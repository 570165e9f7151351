// Writes answers as JSON with amounts as exact numbers.
import { randomToken } from '../secrets/random-id.js';
import { Money } from './money.js';

// JSON.stringify cannot emit a number from its digits, so amounts are written as marked strings that are unquoted
// afterwards. The mark is random per process: no input can contain it.
const mark = `money:${randomToken(12)}:`;
const marked = new RegExp(`"${mark}(-?\\d+\\.\\d{2})"`, 'g');

/** The value as JSON, with every `Money` as a number with its digits. */
export function toJson(value: unknown): string {
  let found = false;
  Money.write = (money) => {
    found = true;
    return mark + money.toString();
  };
  try {
    const text = JSON.stringify(value);
    return found ? text.replace(marked, '$1') : text;
  } finally {
    Money.write = undefined;
  }
}
