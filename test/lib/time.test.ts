// Times in and out of zones, where clocks are put forward and back.
// How lists read them is in test/http/lists.test.ts.
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import { daysBack, inZone, monthsBack, readTime } from '../../src/lib/values/time.js';

test('a time with an offset or in its zone is read as its instant', (t) => {
  const zones = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia'];
  const [min, max] = [new Date('2000-01-01T00:00:00Z'), new Date('2099-12-31T23:59:59.999Z')];
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), fc.constantFrom(...zones), (at, zone) => {
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

test('the first and the last day of a DATETIME are read in every zone', (t) => {
  const [first, last] = ['1000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  for (const zone of ['America/New_York', 'UTC', 'Asia/Shanghai'])
    t.true((readTime('1000-01-01', zone)?.toISOString() ?? '') >= first, zone);
  t.is(readTime('1000-01-01', 'Asia/Shanghai')?.toISOString(), first);
  t.is(readTime('9999-12-31', 'America/New_York', 'end')?.toISOString(), last);
  t.is(readTime('9999-12-31T23:59:59-01:00')?.toISOString(), last);
  t.is(readTime('9999-12-31', 'Asia/Shanghai', 'end')?.toISOString(), '9999-12-31T15:59:59.999Z');
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
