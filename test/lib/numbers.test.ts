// Order and payment numbers with the month they name, and times in and out of zones.
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import {
  newOrderNumber,
  newPaymentNumber,
  orderPeriod,
  paymentPeriod,
  periodOf,
  shiftPeriod,
} from '../../src/lib/values/numbers.js';
import { daysBack, inZone, isZone, monthsBack, readTime, withZone } from '../../src/lib/values/time.js';

const instant = () =>
  fc.date({
    min: new Date('2000-01-01T00:00:00Z'),
    max: new Date('2099-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });

test('a number carries its date and its period in UTC', (t) => {
  fc.assert(
    fc.property(instant(), (at) => {
      const order = newOrderNumber(at);
      const payment = newPaymentNumber(at);
      const day = at.toISOString().slice(0, 10).replaceAll('-', '');
      const period = Number(day.slice(0, 6));
      return (
        /^ORD\d{6}[0-9A-HJKMNP-TV-Z]{26}$/.test(order) &&
        /^PAY\d{8}[0-9A-HJKMNP-TV-Z]{26}$/.test(payment) &&
        order.startsWith(`ORD${day.slice(0, 6)}`) &&
        payment.startsWith(`PAY${day}`) &&
        orderPeriod(order) === period &&
        paymentPeriod(payment) === period &&
        periodOf(at) === period
      );
    }),
  );
  t.is(periodOf(new Date('2027-12-31T23:59:59.999Z')), 202712);
});

test('numbers made at one instant differ', (t) => {
  const at = new Date();
  t.is(new Set(Array.from({ length: 10_000 }, () => newPaymentNumber(at))).size, 10_000);
});

test('a malformed number has no period', (t) => {
  const good = newOrderNumber(new Date('2026-11-21T00:00:00Z'));
  const wrong = [
    '',
    good.toLowerCase(),
    good.slice(0, -1),
    `${good}0`,
    ` ${good}`,
    `${good}\n`,
    good.replace('202611', '202613'),
    good.replace('202611', '202600'),
  ];
  for (const number of [...wrong, `PAY${good.slice(3)}`, good.replace(/.$/, 'U'), good.replace(/.$/, "'")])
    t.is(orderPeriod(number), undefined, number);
  t.is(paymentPeriod(good), undefined);
  t.is(paymentPeriod(`PAY20261132${'0'.repeat(26)}`), undefined);
});

test('periods move across years in both directions', (t) => {
  t.deepEqual(
    [shiftPeriod(202611, 2), shiftPeriod(202601, -1), shiftPeriod(202612, 13), shiftPeriod(202602, 0)],
    [202701, 202512, 202801, 202602],
  );
  const period = fc
    .tuple(fc.integer({ min: 1000, max: 9000 }), fc.integer({ min: 1, max: 12 }))
    .map(([year, month]) => year * 100 + month);
  fc.assert(
    fc.property(
      period,
      fc.integer({ min: -400, max: 400 }),
      (from, months) => shiftPeriod(shiftPeriod(from, months), -months) === from,
    ),
  );
});

test('a time with an offset or in its zone is read as its instant', (t) => {
  const zones = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia'];
  fc.assert(
    fc.property(instant(), fc.constantFrom(...zones), (at, zone) => {
      const written = inZone(at, zone);
      return (
        readTime(written, 'Europe/Paris')?.getTime() === at.getTime() &&
        new Date(written).getTime() === at.getTime()
      );
    }),
  );
  t.is(readTime('2026-11-21 08:00:00', 'Asia/Shanghai')?.toISOString(), '2026-11-21T00:00:00.000Z');
  t.is(readTime('2026-11-21T08:00:00.5Z')?.toISOString(), '2026-11-21T08:00:00.500Z');
  t.is(readTime('2026-11-21T08:00:00.123456789+08:00')?.toISOString(), '2026-11-21T00:00:00.123Z');
  t.is(readTime('2026-11-21T08:00:00.Z'), undefined);
  t.is(readTime('2026-11-21T08:00:00.1234567890Z'), undefined);
});

test('a bare date is the first or last millisecond of its day', (t) => {
  const hours = (day: string, zone: string): number =>
    ((readTime(day, zone, 'end') as Date).getTime() + 1 - (readTime(day, zone, 'start') as Date).getTime()) /
    3_600_000;
  t.is(hours('2026-11-21', 'UTC'), 24);
  t.is(hours('2026-03-08', 'America/New_York'), 23);
  t.is(hours('2026-11-01', 'America/New_York'), 25);
  // Clocks are put back from midnight.
  t.is(hours('2026-10-29', 'Africa/Cairo'), 25);
  t.is(hours('2026-04-04', 'America/Santiago'), 25);
  // They are put forward to midnight.
  t.is(hours('2026-03-28', 'America/Nuuk'), 23);
});

test('an end in an hour that comes twice is its last one', (t) => {
  const ofNewYork = (text: string, edge: 'start' | 'end') =>
    readTime(text, 'America/New_York', edge)?.toISOString();
  t.is(ofNewYork('2026-11-01 00:59:59', 'end'), '2026-11-01T04:59:59.999Z');
  t.is(ofNewYork('2026-11-01 01:00:00', 'start'), '2026-11-01T05:00:00.000Z');
  t.is(ofNewYork('2026-11-01 01:59:59', 'end'), '2026-11-01T06:59:59.999Z');
  t.is(ofNewYork('2026-11-01 02:00:00', 'start'), '2026-11-01T07:00:00.000Z');
  t.is(ofNewYork('2026-11-01 01:59:59-04:00', 'end'), '2026-11-01T05:59:59.999Z');
});

test('times that no DATETIME can hold are invalid', (t) => {
  for (const text of [
    '0999-12-31',
    '0000-00-00',
    '2026-02-29',
    '2026-11-21T24:30:00',
    '',
    'now',
    '20261121',
  ]) {
    t.is(readTime(text), undefined, text);
  }
});

test('the first and the last day of a DATETIME are read in every zone', (t) => {
  const [first, last] = ['1000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  for (const zone of ['America/New_York', 'UTC', 'Asia/Shanghai'])
    t.true((readTime('1000-01-01', zone)?.toISOString() ?? '') >= first, zone);
  t.is(readTime('1000-01-01', 'Asia/Shanghai')?.toISOString(), first);
  t.is(readTime('9999-12-31', 'America/New_York', 'end')?.toISOString(), last);
  t.is(readTime('9999-12-31T23:59:59-01:00')?.toISOString(), last);
  t.is(readTime('9999-12-31', 'Asia/Shanghai', 'end')?.toISOString(), '9999-12-31T15:59:59.999Z');
});

test('zones are those of the time zone database', (t) => {
  for (const zone of ['UTC', 'Asia/Shanghai', 'asia/shanghai', 'Etc/GMT+8', 'EST'])
    t.true(isZone(zone), zone);
  for (const zone of ['', 'Nowhere', '+08:00', 'constructor', '__proto__', 'toString', 'Asia/Shanghai '])
    t.false(isZone(zone), zone);
});

test('only the listed fields are converted', (t) => {
  const at = '2026-11-21T00:00:00.000Z';
  const local = '2026-11-21T08:00:00.000+08:00';
  const data = {
    created_at: new Date(at),
    other: new Date(at),
    list: [{ updatedAt: at, deep: { pay_time: new Date(at), deleted_at: null, paid_at: at } }],
    updated_at: 'not a time',
    createdAt: 5,
  };
  t.deepEqual(withZone(data, 'Asia/Shanghai'), {
    ...{ created_at: local, other: new Date(at), updated_at: 'not a time', createdAt: 5 },
    list: [{ updatedAt: local, deep: { pay_time: local, deleted_at: null, paid_at: at } }],
  });
  t.deepEqual(data.created_at, new Date(at), 'the data itself stays as it is');
});

test('days begin at their midnight, also those before a day that begins at one', (t) => {
  const days = daysBack(3, new Date('2026-04-24T10:00:00Z'), 'Africa/Cairo');
  t.deepEqual(
    days.map(({ start }) => start.toISOString()),
    ['2026-04-21T22:00:00.000Z', '2026-04-22T22:00:00.000Z', '2026-04-23T22:00:00.000Z'],
  );
});

test('no day is left out or shortened where clocks are put forward to midnight, or back to it', (t) => {
  const nuuk = daysBack(2, new Date('2026-03-30T00:30:00Z'), 'America/Nuuk');
  t.deepEqual(nuuk, [
    { label: '2026-03-28', start: new Date('2026-03-28T02:00:00Z') },
    { label: '2026-03-29', start: new Date('2026-03-29T01:00:00Z') },
  ]);
  const [today] = daysBack(1, new Date('2026-11-01T12:00:00Z'), 'America/Havana');
  t.deepEqual(today, { label: '2026-11-01', start: new Date('2026-11-01T04:00:00Z') });
});

test('the months before a 31st begin at their first midnight', (t) => {
  const months = monthsBack(3, new Date('2026-05-31T10:00:00Z'), 'Asia/Shanghai');
  t.deepEqual(
    months.map(({ label, start }) => [label, start.toISOString()]),
    [
      ['2026-03', '2026-02-28T16:00:00.000Z'],
      ['2026-04', '2026-03-31T16:00:00.000Z'],
      ['2026-05', '2026-04-30T16:00:00.000Z'],
    ],
  );
});
