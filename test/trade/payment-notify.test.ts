// {host}/api/payment/notify/{type}: which callbacks are accepted, refused and stored (docs/api.md, 13), also authentic ones
// that contradict the payment: amount, third-party number, state of the order. And none pays with a wrong signature.
import '../support/settings/shared-environment.js';
import test from 'ava';
import fc from 'fast-check';
import { change, select } from '../../src/lib/database/db.js';
import { paymentPeriod } from '../../src/lib/values/numbers.js';
import { outcome } from '../support/client.js';
import { trace as traceOf, untouched } from '../support/callbacks.js';
import {
  callBack,
  makeCompanyMethod,
  makeMethod,
  makePayment,
  makePaymentOf,
  mockCallback,
  mockSign,
  somePaymentNumber,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { alipayConfig } from '../support/companies/merchant.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';

const { id: methodId } = await makeMethod(service.admin);

const pending = () => makePayment(service.admin, methodId);

const notify = (body: unknown, type = 'mock', headers?: Record<string, string>) =>
  service.anonymous.post(`//api/payment/notify/${type}`, body, headers);

const trace = (payment: MadePayment) => traceOf(service.admin, payment);

test('a signed success pays payment and order once', async (t) => {
  const payment = await pending();
  const first = await notify(mockCallback(payment));
  t.is(first.status, 200);
  t.deepEqual(first.data, { payment_no: payment.payment_no, order_no: payment.order_no, status: 'paid' });
  const before = await trace(payment);
  t.like(before.payment, {
    status: 'paid',
    third_party_no: `MOCK-${payment.payment_no}`,
    needs_attention: false,
  });
  t.deepEqual(before.order, {
    status: 'paid',
    paid_at: new Date(before.payment.pay_time),
    payment_no: payment.payment_no,
  });
  for (let repeat = 0; repeat < 3; repeat++)
    t.deepEqual((await notify(mockCallback(payment))).data, first.data);
  const other = await notify({ ...mockCallback(payment), transaction_id: unique('T') });
  t.deepEqual(other.data, first.data);
  const after = await trace(payment);
  t.deepEqual({ ...after, verdicts: [], payment: {} }, { ...before, verdicts: [], payment: {} });
  // Charged under another number, the customer has paid twice.
  const flagged = { ...before.payment, needs_attention: true, fail_reason: 'paid_twice' };
  t.deepEqual({ ...after.payment, updated_at: 0 }, { ...flagged, updated_at: 0 });
  t.deepEqual(after.verdicts, ['paid_twice', 'already_paid', 'paid']);
});

test('a form body is read like JSON', async (t) => {
  const payment = await makePayment(service.admin, methodId, '1234.50');
  const form = new URLSearchParams({
    ...(mockCallback(payment) as Record<string, string>),
    amount: '1234.50',
    transaction_id: 'F-1',
  });
  const answer = await notify(form.toString(), 'mock', {
    'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8',
  });
  t.is(answer.data.status, 'paid');
  t.is((await trace(payment)).payment.third_party_no, 'F-1');
});

test('a callback that names an unknown time zone is judged like any other', async (t) => {
  for (const [query, headers] of [
    ['?timezone=nowhere', {}],
    ['', { 'X-Timezone': 'nowhere' }],
    ['', { Timezone: 'nowhere' }],
  ] as const) {
    const payment = await pending();
    t.is((await notify(mockCallback(payment), `mock${query}`, headers)).data?.status, 'paid');
    t.deepEqual((await trace(payment)).verdicts, ['paid']);
  }
});

test('a callback of an unknown type is refused', async (t) => {
  const payment = await pending();
  for (const type of ['paypal', '__proto__', 'constructor', 'Mock', 'x'.repeat(64)]) {
    t.deepEqual(outcome(await notify(mockCallback(payment), type)), [400, 400, 'invalid_payment_type'], type);
  }
  t.deepEqual(outcome(await notify(mockCallback(payment), 'mock/tenant')), [404, 404, 'route_not_found']);
  t.is((await service.anonymous.get('//api/payment/notify/mock')).status, 404);
  t.deepEqual(await trace(payment), { ...untouched, verdicts: [] });
});

test('wechat and alipay callbacks are not implemented', async (t) => {
  const payment = await pending();
  for (const type of ['wechat', 'alipay']) {
    t.deepEqual(outcome(await notify(mockCallback(payment), type)), [
      501,
      501,
      'payment_gateway_not_implemented',
    ]);
  }
  // Notices of another channel than the payment's say nothing about it.
  const kept = ['payment_gateway_not_implemented', 'payment_gateway_not_implemented'];
  t.deepEqual(await trace(payment), { ...untouched, verdicts: kept });
});

test('a notification without a payment number or SUCCESS is invalid', async (t) => {
  const payment = await pending();
  const good = mockCallback(payment);
  const mutations: object[] = [
    { out_trade_no: undefined },
    { out_trade_no: '' },
    { out_trade_no: null },
    { out_trade_no: [payment.payment_no] },
    { out_trade_no: payment.id },
    { out_trade_no: payment.order_no },
    { out_trade_no: ` ${payment.payment_no}` },
    { out_trade_no: payment.payment_no.toLowerCase() },
    { out_trade_no: `${payment.payment_no}\n` },
    { trade_status: undefined },
    { trade_status: 'success' },
    { trade_status: 'TRADE_CLOSED' },
    { trade_status: ['SUCCESS'] },
    { trade_status: true },
    { transaction_id: 12 },
    { transaction_id: 'x'.repeat(65) },
    { transaction_id: 'white space' },
    { amount: 'much' },
  ];
  for (const mutation of mutations) {
    t.deepEqual(
      outcome(await notify({ ...good, ...mutation })),
      [400, 30001, 'payment_notify_invalid'],
      JSON.stringify(mutation),
    );
  }
  t.deepEqual(outcome(await notify({})), [400, 30001, 'payment_notify_invalid']);
  const { verdicts, ...rest } = await trace(payment);
  t.deepEqual(rest, untouched);
  // Those that name the payment are shown with it.
  t.deepEqual(verdicts, Array(9).fill('payment_notify_invalid'));
  const kept = await select<{ body: string; verdict: string }>(
    `SELECT body, verdict FROM payment_callbacks WHERE body LIKE ?`,
    [`%${payment.payment_no}%`],
  );
  t.true(kept.length >= 10);
  t.deepEqual([...new Set(kept.map(({ verdict }) => verdict))], ['payment_notify_invalid']);
});

test('an unreadable body is refused', async (t) => {
  const payment = await pending();
  const good = mockCallback(payment);
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const twice = `${new URLSearchParams(good as Record<string, string>).toString()}&out_trade_no=${payment.payment_no}`;
  for (const [body, headers] of [
    ['{"out_trade_no":', undefined],
    ['[]', undefined],
    [[good], undefined],
    ['"text"', undefined],
    [twice, form],
    [`${new URLSearchParams(good as Record<string, string>).toString()}&sign=${good.sign as string}`, form],
    [JSON.stringify(good), { 'Content-Type': 'application/json; charset=utf-16' }],
    [JSON.stringify(good), { 'Content-Type': 'application/json; charset=gbk' }],
    [JSON.stringify(good), { 'Content-Type': 'text/plain' }],
  ] as [unknown, Record<string, string> | undefined][]) {
    t.is((await notify(body, 'mock', headers)).status, 400, JSON.stringify([body, headers]));
  }
  const packed = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
  t.is((await notify(JSON.stringify(good), 'mock', packed)).status, 415);
  const large = (size: number) => JSON.stringify({ ...good, sign: '', padding: 'x'.repeat(size) });
  t.is((await notify(large(64 * 1024))).status, 413);
  t.is((await notify(large(64 * 1024 - 200))).errorCode, 'payment_sign_invalid');
  t.is((await notify(`padding=${'x'.repeat(64 * 1024)}`, 'mock', form)).status, 413);
  const { payment: state, order } = await trace(payment);
  t.deepEqual({ payment: state, order }, untouched);
});

test('a number that was never issued is refused', async (t) => {
  const partitions = () =>
    select('SELECT PARTITION_NAME FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE()').then(
      ({ length }) => length,
    );
  const before = await partitions();
  for (const at of ['2031-05-05', '9998-12-31', '1999-01-01', new Date().toISOString()]) {
    const number = somePaymentNumber(new Date(at));
    const body = { out_trade_no: number, trade_status: 'SUCCESS', sign: mockSign(number, '1.00') };
    t.deepEqual(outcome(await notify(body)), [400, 30003, 'payment_not_found']);
    const rows = await select<object>('SELECT verdict, state FROM payment_callbacks WHERE payment_no = ?', [
      number,
    ]);
    t.deepEqual(rows, [{ verdict: 'payment_not_found', state: 'refused' }]);
  }
  t.is(await partitions(), before);
});

test('a payment of another type is not found', async (t) => {
  const { id } = await makeCompanyMethod(service.admin, 'alipay', alipayConfig);
  const payment = await makePayment(service.admin, id);
  t.deepEqual(outcome(await notify(mockCallback(payment))), [400, 30003, 'payment_not_found']);
  t.deepEqual(await trace(payment), { ...untouched, verdicts: ['payment_not_found'] });
});

test('a method without a secret needs no signature', async (t) => {
  const unsigned = await makeMethod(service.admin, '');
  for (const sign of [undefined, '', 'anything']) {
    const payment = await makePayment(service.admin, unsigned.id);
    t.is((await notify({ ...mockCallback(payment), sign })).data.status, 'paid');
  }
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
  const answer = await callBack(service.anonymous, payment, mutation);
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
  const [payment, neighbour] = [await pending(), await pending()];
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

test('a wrong amount is refused under each of its field names', async (t) => {
  for (const name of ['amount', 'total_amount', 'pay_amount']) {
    const payment = await makePayment(service.admin, methodId, '12.30');
    for (const wrong of ['12.31', 12.29, 0, '1230']) {
      const answer = outcome(await notify({ ...mockCallback(payment), [name]: wrong }));
      t.deepEqual(answer, [400, 40001, 'payment_amount_mismatch'], `${name} ${wrong}`);
    }
    const { payment: flagged, order, verdicts } = await trace(payment);
    t.deepEqual(flagged, {
      ...untouched.payment,
      needs_attention: true,
      fail_reason: 'payment_amount_mismatch',
    });
    t.deepEqual(order, untouched.order);
    t.deepEqual(verdicts, Array(4).fill('payment_amount_mismatch'));
    const sly = {
      ...mockCallback(payment),
      amount: '12.30',
      total_amount: '12.30',
      pay_amount: '12.30',
      [name]: '0.01',
    };
    t.is((await notify(sly)).errorCode, 'payment_amount_mismatch');
    t.is((await notify({ ...mockCallback(payment), [name]: 12.3 })).data.status, 'paid');
  }
});

test('the third-party number is read from each of its field names', async (t) => {
  for (const name of ['transaction_id', 'trade_no', 'third_party_no']) {
    const payment = await pending();
    const number = unique('T-');
    await notify({ ...mockCallback(payment), [name]: number });
    t.is((await trace(payment)).payment.third_party_no, number);
  }
});

test('one third-party number never pays two payments', async (t) => {
  for (let round = 0; round < 5; round++) {
    const payments = await Promise.all([pending(), pending()]);
    const transaction_id = unique('T-');
    const answers = await Promise.all(
      payments.map((payment) => notify({ ...mockCallback(payment), transaction_id })),
    );
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
    const loser = payments[answers.findIndex(({ status }) => status === 400)] as MadePayment;
    t.is(answers.find(({ status }) => status === 400)?.errorCode, 'payment_third_party_no_used');
    const { payment, order, verdicts } = await trace(loser);
    t.deepEqual(payment, { ...untouched.payment, needs_attention: true, fail_reason: 'third_party_no_used' });
    t.deepEqual([order, verdicts], [untouched.order, ['payment_third_party_no_used']]);
    t.is((await notify({ ...mockCallback(loser), transaction_id: unique('T-') })).data.status, 'paid');
  }
});

test('money for an order that can no longer be paid is flagged', async (t) => {
  const { admin } = service;
  const first = await pending();
  const second = await makePaymentOf(admin, first, methodId);
  t.is((await notify(mockCallback(first))).data.status, 'paid');
  t.is((await notify(mockCallback(second))).data.status, 'paid');
  t.like((await trace(second)).payment, {
    status: 'paid',
    needs_attention: true,
    fail_reason: 'order_not_payable',
  });
  t.like((await trace(second)).order, { status: 'paid', payment_no: first.payment_no });
  for (const end of ['cancelled', 'deleted'] as const) {
    const payment = await pending();
    if (end === 'cancelled') await admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
    else await admin.delete(`/orders/${payment.order_no}`);
    t.is((await notify(mockCallback(payment))).data.status, 'paid');
    const late = await trace(payment);
    t.like(late.payment, { status: 'paid', needs_attention: true });
    t.deepEqual(
      [late.order, late.verdicts],
      [{ ...untouched.order, status: 'cancelled' }, ['paid_needs_attention']],
    );
    t.is((await notify(mockCallback(payment))).data.status, 'paid');
  }
});

test('attempts are shown with their secrets masked', async (t) => {
  const payment = await pending();
  const note = { card: { cvv_token: 'canary-1' }, note: `Bearer ${'a'.repeat(64)}` };
  await notify({ ...mockCallback(payment), sign: 'canary-2', ...note });
  await notify({ ...mockCallback(payment), transaction_id: 'T-shown', ...note });
  const { data, text } = await service.admin.get(`/payments/${payment.payment_no}`);
  t.notRegex(text, /canary|a{64}/);
  t.notRegex(text, new RegExp(mockCallback(payment).sign as string));
  const [settled, refused] = data.callbacks;
  t.like(refused, {
    type: 'mock',
    state: 'refused',
    verdict: 'payment_sign_invalid',
    ip: '127.0.0.1',
    settled_at: null,
  });
  t.like(settled, { state: 'settled', verdict: 'paid', third_party_no: 'T-shown' });
  t.is(refused.body.out_trade_no, payment.payment_no);
  t.is(refused.body.sign, '***');
  const sql = 'SELECT notify_data FROM payments WHERE payment_no = ?';
  const { notify_data } = await selectRow<{ notify_data: string }>(sql, [payment.payment_no]);
  t.deepEqual(JSON.parse(notify_data), settled.body);
});

test('a late success pays an order whose payment had failed', async (t) => {
  const payment = await pending();
  await change(
    `UPDATE payments SET status = 'failed', fail_reason = 'closed' WHERE payment_no = ? AND period = ?`,
    [payment.payment_no, paymentPeriod(payment.payment_no) as number],
  );
  t.is((await notify(mockCallback(payment))).data.status, 'paid');
  const late = await trace(payment);
  t.like(late.payment, { status: 'paid', needs_attention: false, fail_reason: null });
  t.is(late.order.status, 'paid');
});

test('a finished callback does not prevent its order from ending', async (t) => {
  const { admin } = service;
  const refused = await pending();
  t.is((await notify({ ...mockCallback(refused), sign: 'x' })).errorCode, 'payment_sign_invalid');
  t.is((await admin.put(`/orders/${refused.order_no}`, { status: 'cancelled' })).status, 200);
  const late = await pending();
  await admin.put(`/orders/${late.order_no}`, { status: 'cancelled' });
  t.is((await notify(mockCallback(late))).data.status, 'paid');
  t.is((await admin.delete(`/orders/${late.order_no}`)).status, 200);
});
