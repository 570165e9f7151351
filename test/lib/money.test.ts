// Exact amounts: added and written. How they are read and answered, test/trade/orders.test.ts says.
import test from 'ava';
import fc from 'fast-check';
import { toJson } from '../../src/lib/values/json.js';
import { Money } from '../../src/lib/values/money.js';

const limit = 10n ** 15n;
const cents = () => fc.bigInt({ min: -limit, max: limit });

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
  t.is(Money.zero.minus(Money.from('0.05')).toString(), '-0.05');
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
