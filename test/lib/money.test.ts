// Exact amounts: read, added, written, and never touched by floating point.
import test from 'ava';
import fc from 'fast-check';
import { toJson } from '../../src/lib/values/json.js';
import { Money } from '../../src/lib/values/money.js';

const limit = 10n ** 15n;
const cents = () => fc.bigInt({ min: -limit, max: limit });

const text = (amount: bigint): string => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

test('every amount within the limit is read and written without loss', (t) => {
  fc.assert(
    fc.property(
      cents(),
      (amount) =>
        Money.parse(text(amount))?.cents === amount && new Money(amount).toString() === text(amount),
    ),
  );
  t.is(Money.from('0.00').toString(), '0.00');
  t.is(Money.parse('-0.05')?.toString(), '-0.05');
});

test('a JSON number is read with up to two decimals', (t) => {
  const dollars = fc.integer({ min: 0, max: 10 ** 11 });
  fc.assert(
    fc.property(dollars, fc.integer({ min: 0, max: 99 }), (units, rest) => {
      const written = `${units}.${String(rest).padStart(2, '0')}`;
      return Money.parse(JSON.parse(written))?.toString() === written;
    }),
  );
  for (const [given, expected] of [
    [12.3, '12.30'],
    [0.1, '0.10'],
    [1e13, '10000000000000.00'],
    ['007.5', '7.50'],
    [-1, '-1.00'],
  ] as const) {
    t.is(Money.parse(given)?.toString(), expected);
  }
});

test('inexact amounts and amounts beyond the limit are invalid', (t) => {
  const wrong = [
    ...[10.005, 0.001, 1e-7, 1e21, NaN, Infinity, 0.1 + 0.2, 10_000_000_000_000.01, 1.1e13],
    ...[
      '',
      ' ',
      '1.',
      '.5',
      '1.005',
      '1e3',
      '0x10',
      '+1',
      '--1',
      '1,00',
      '1 ',
      '１',
      '10000000000000.01',
      '9'.repeat(40),
    ],
    ...[null, undefined, true, [], ['1'], {}, { cents: 1n }, new Date(0), 5n],
  ];
  for (const [index, value] of wrong.entries()) t.is(Money.parse(value), undefined, `value ${index}`);
  t.throws(() => Money.from('1.005'), { instanceOf: RangeError });
});

test('sums and multiples are exact', (t) => {
  fc.assert(
    fc.property(
      fc.array(cents(), { maxLength: 50 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (amounts, count) => {
        const sum = amounts
          .map((amount) => new Money(amount))
          .reduce((total, amount) => total.plus(amount), new Money(0n));
        const expected = amounts.reduce((total, amount) => total + amount, 0n);
        return (
          sum.cents === expected &&
          sum.times(count).cents === expected * BigInt(count) &&
          sum.equals(new Money(expected))
        );
      },
    ),
  );
  t.true(new Money(limit).withinLimit);
  t.false(new Money(limit + 1n).withinLimit);
});

test('amounts are written as JSON numbers with their digits', (t) => {
  fc.assert(
    fc.property(fc.array(cents(), { minLength: 1, maxLength: 5 }), (amounts) => {
      const json = toJson({ list: amounts.map((amount) => ({ amount: new Money(amount) })) });
      return json === `{"list":[${amounts.map((amount) => `{"amount":${text(amount)}}`).join(',')}]}`;
    }),
  );
  t.is(JSON.stringify({ amount: new Money(1230n) }), '{"amount":"12.30"}', 'elsewhere it is a text');
});

test('no text of a caller becomes a bare number', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify({ value }));
      return (
        JSON.stringify(JSON.parse(toJson({ value, amount: new Money(5n) }))) ===
        JSON.stringify({ ...(plain as object), amount: 0.05 })
      );
    }),
  );
  t.is(toJson({ text: 'money:x:1.00', amount: new Money(100n) }), '{"text":"money:x:1.00","amount":1.00}');
});
