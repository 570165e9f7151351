// Texts written into a spreadsheet and read back.
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import { neutralise, restore } from '../../src/lib/sheets/sheet.js';

test('every text is written harmlessly and read back unchanged', (t) => {
  const pieces = fc.constantFrom(
    ...['=', '+', '-', '@', '＝', '＋', '－', '＠', "'", ' ', '\t', '\r', '\n', 'a', '1', '\u3000'],
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (cell) => {
      const shown = neutralise(cell);
      return !/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(shown) && restore(shown) === restore(cell);
    }),
    { numRuns: 2000 },
  );
  t.is(restore("'=1"), '=1');
  t.is(restore("'tis"), "'tis");
});
