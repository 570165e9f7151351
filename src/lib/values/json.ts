// Writes answers as JSON with amounts as exact numbers, and nothing that a strict reader refuses.
import { randomToken } from '../secrets/random-id.js';
import { Money } from './money.js';

// JSON.stringify cannot emit a number from its digits, so amounts are written as marked strings that are unquoted
// afterwards. The mark is random per process: no input can contain it.
const mark = `money:${randomToken(12)}:`;
const marked = new RegExp(`"${mark}(-?\\d+\\.\\d{2})"`, 'g');

// A text that was sent by others or cut may contain half of a character. JSON.stringify writes it as an escape for which
// many readers refuse the whole answer.
const half = /(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/g;

/** The value as JSON, with every `Money` as a number with its digits, and U+FFFD for half of a character. */
export function toJson(value: unknown): string {
  let found = false;
  Money.write = (money) => {
    found = true;
    return mark + money.toString();
  };
  try {
    const text = JSON.stringify(value);
    const whole = text.includes('\\ud') ? text.replace(half, '$1\ufffd') : text;
    return found ? whole.replace(marked, '$1') : whole;
  } finally {
    Money.write = undefined;
  }
}
