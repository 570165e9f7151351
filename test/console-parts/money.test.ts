// Amounts as the console reads, compares and shows them: decimal texts, never floats.
import test from 'ava';
import fc from 'fast-check';
import { consoleModule } from '../support/console-module.js';

const { fromCents, isAmount, showAmount, toCents, typedAmount } = await consoleModule<{
  fromCents: (cents: bigint) => string;
  isAmount: (text: string) => boolean;
  showAmount: (text: string) => string;
  toCents: (text: string) => bigint;
  typedAmount: (text: string) => string;
}>('parts/show/money.ts');

const largest = 10n ** 18n - 1n;
const cents = fc.bigInt({ min: -largest, max: largest });

test('an amount converted to text keeps every cent', (t) => {
  fc.assert(
    fc.property(cents, (value) => {
      t.is(toCents(fromCents(value)), value);
    }),
  );
  t.is(toCents('9007199254740993.01'), 900719925474099301n);
});

test('an amount is shown without rounding', (t) => {
  fc.assert(
    fc.property(cents, (value) => {
      const shown = showAmount(fromCents(value));
      t.is(shown.replace(/[^\d.]/g, ''), fromCents(value).replace('-', ''));
      t.is(shown.startsWith('−'), value < 0n);
    }),
  );
  t.is(showAmount('1234567.8'), '¥1,234,567.80');
  t.is(showAmount('-0.05'), '−¥0.05');
  t.is(showAmount('999'), '¥999.00');
});

test('an invalid amount is refused', (t) => {
  for (const text of ['', '1.234', '1,000.00', 'abc', '1e5', '.5', '--1', 'NaN', '１２']) {
    t.false(isAmount(text), text);
    t.throws(() => toCents(text), { instanceOf: SyntaxError }, text);
  }
  t.is(showAmount('unknown'), 'unknown');
  t.true(isAmount(' 12.30 '));
});

test('an amount is typed as it is shown, or with full-width digits', (t) => {
  fc.assert(
    fc.property(cents, (value) => {
      t.is(typedAmount(showAmount(fromCents(value))), fromCents(value));
    }),
  );
  for (const [text, amount] of [
    [' ￥1,234.50 ', '1234.50'],
    ['１２．３０', '12.30'],
    ['12。5', '12.5'],
    // Not a thousand: it stays for the person to put right.
    ['12,50', '12,50'],
    ['1,2345', '1,2345'],
    ['twelve', 'twelve'],
  ] as const)
    t.is(typedAmount(text), amount);
});
