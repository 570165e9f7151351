// Writes answers as JSON with amounts as exact numbers.
import { randomToken } from './random-id.js';
import { Money } from './money.js';

// JSON.stringify has no way to emit a number from its digits, so amounts leave it as marked texts that become
// bare numbers afterwards. The mark is random per process: no input can carry it.
const mark = `money:${randomToken(12)}:`;
const marked = new RegExp(`"${mark}(-?\\d+\\.\\d{2})"`, 'g');

/** JSON text of a value in which every `Money` is a number with the digits of its decimal text. */
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
