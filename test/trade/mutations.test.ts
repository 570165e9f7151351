// A wrong amount or signature never pays (docs/promises.md R5): every mutation of a good callback is refused.
import '../support/shared-environment.js';
import test from 'ava';
import fc from 'fast-check';
import { select } from '../../src/lib/database/db.js';
import { makeMethod, makePayment, mockCallback, mockSign } from '../support/factories.js';
import type { MadePayment } from '../support/factories.js';
import { service } from '../support/shared-service.js';

let methodId: number;

test.before(async () => {
  methodId = (await makeMethod(service.admin)).id;
});

/** Sends the mutated callback, which must be refused and must leave payment and order as they were. */
async function isRefused(payment: MadePayment, mutation: object): Promise<boolean> {
  const body = { ...mockCallback(payment), ...mutation };
  const answer = await service.anonymous.post('//api/payment/notify/mock', body);
  const rows = await select<object>(
    `SELECT p.status, p.third_party_no, p.pay_time, p.notify_data, o.status AS order_status, o.paid_at, o.payment_no
     FROM payments p JOIN orders o ON o.order_no = p.order_no WHERE p.payment_no = ?`,
    [payment.payment_no],
  );
  const unpaid = { status: 'pending', third_party_no: null, pay_time: null, notify_data: null };
  const expected = { ...unpaid, order_status: 'pending', paid_at: null, payment_no: null };
  return answer.status === 400 && answer.data === null && JSON.stringify(rows) === JSON.stringify([expected]);
}

const pays = async (payment: MadePayment, mutation: object = {}) => {
  const answer = await service.anonymous.post('//api/payment/notify/mock', {
    ...mockCallback(payment),
    ...mutation,
  });
  return answer.data?.status === 'paid';
};

const cents = fc.bigInt(1n, 10n ** 15n);
const decimal = (amount: bigint): string => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;

test('no mutated signature pays', async (t) => {
  const payment = await makePayment(service.admin, methodId, '24.90');
  const good = mockCallback(payment).sign as string;
  const number = payment.payment_no;
  const fixed: unknown[] = [
    ...[undefined, null, '', ' ', 0, true, [], [good], {}, { sign: good }, [[good]]],
    ...[
      good.toUpperCase(),
      good.slice(0, 63),
      good.slice(1),
      `${good}0`,
      ` ${good}`,
      `${good}\n`,
      `0x${good.slice(2)}`,
    ],
    ...[Buffer.from(good, 'hex').toString('base64'), good.split('').reverse().join(''), '0'.repeat(64)],
    ...[
      mockSign(number, '24.9'),
      mockSign(number, '24.90', 'shared secret '),
      mockSign(number, '24.90', ''),
      mockSign(number, '2490'),
    ],
    ...[
      mockSign(payment.order_no, '24.90'),
      mockSign(`${number}|SUCCESS|24.90`, ''),
      good.replace(/[0-9]/, 'g'),
    ],
  ];
  for (const sign of fixed) t.true(await isRefused(payment, { sign }), `sign ${JSON.stringify(sign)}`);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 63 }), fc.integer({ min: 1, max: 15 }), (place, step) => {
      const digit = ((parseInt(good[place] as string, 16) + step) % 16).toString(16);
      return isRefused(payment, { sign: good.slice(0, place) + digit + good.slice(place + 1) });
    }),
    { numRuns: 40 },
  );
  t.true(await pays(payment), 'the unmutated one does');
});

test('no signature pays another amount', async (t) => {
  const payment = await makePayment(service.admin, methodId, '12.30');
  await fc.assert(
    fc.asyncProperty(
      cents.filter((amount) => amount !== 1230n),
      fc.constantFrom('amount', 'total_amount', 'pay_amount'),
      fc.boolean(),
      async (wrong, name, asNumber) => {
        const sign = mockSign(payment.payment_no, decimal(wrong));
        const given = asNumber ? Number(decimal(wrong)) : decimal(wrong);
        return (
          (await isRefused(payment, { sign })) &&
          (await isRefused(payment, { sign, [name]: given })) &&
          (await isRefused(payment, { [name]: given }))
        );
      },
    ),
    {
      numRuns: 30,
      examples: [
        [1229n, 'amount', true],
        [1231n, 'pay_amount', false],
        [123n, 'amount', true],
      ],
    },
  );
  for (const amount of [
    null,
    '',
    '12,30',
    '12.300',
    '12.3.0',
    '1.23e1',
    ' 12.30',
    '+12.30',
    [12.3],
    { value: 12.3 },
    true,
    -12.3,
    'NaN',
  ]) {
    t.true(await isRefused(payment, { amount }), `amount ${JSON.stringify(amount)}`);
  }
  t.true(
    await pays(payment, { amount: 12.3, total_amount: '12.30', pay_amount: '12.3' }),
    'the right amount does',
  );
});

test('the signature over the two decimals pays any amount', async (t) => {
  await fc.assert(
    fc.asyncProperty(cents, async (amount) => {
      const payment = await makePayment(service.admin, methodId, decimal(amount));
      const sign = mockSign(payment.payment_no, decimal(amount));
      t.true(await pays(payment, { sign, amount: decimal(amount) }), decimal(amount));
    }),
    { numRuns: 20, examples: [[1n], [10n], [100n], [10n ** 15n]] },
  );
});

test('no mutated number pays', async (t) => {
  const [payment, neighbour] = [
    await makePayment(service.admin, methodId),
    await makePayment(service.admin, methodId),
  ];
  const number = payment.payment_no;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: number.length - 1 }),
      fc.constantFrom('0', 'Z', 'z', '%', '_', ' '),
      (place, other) => {
        fc.pre(number[place] !== other);
        return isRefused(payment, { out_trade_no: number.slice(0, place) + other + number.slice(place + 1) });
      },
    ),
    { numRuns: 40 },
  );
  t.true(await isRefused(neighbour, { sign: mockCallback(payment).sign }), "another payment's signature");
  t.true(await isRefused(payment, { out_trade_no: neighbour.payment_no }));
  t.true(await isRefused(neighbour, { out_trade_no: number, sign: mockCallback(neighbour).sign }));
});
