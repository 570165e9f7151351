// Times at the boundary: UTC inside, the request's zone outside.
import moment from 'moment-timezone';
import { config } from '../../../config/index.js';

/** Response fields converted to the request zone (spec.md, Timezone rules), with the configured ones. */
const zonedFields = new Set([
  ...['created_at', 'updated_at', 'deleted_at', 'pay_time'].flatMap((field) => [field, camelCase(field)]),
  ...config.app.responseTimeFields.flatMap((field) => [field, camelCase(field)]),
]);

const localFormats = [
  'YYYY-MM-DD HH:mm:ss',
  'YYYY-MM-DDTHH:mm:ss',
  'YYYY-MM-DD HH:mm:ss.SSS',
  'YYYY-MM-DDTHH:mm:ss.SSS',
];
const offsetFormats = [
  'YYYY-MM-DDTHH:mmZ',
  'YYYY-MM-DDTHH:mm:ssZ',
  'YYYY-MM-DDTHH:mm:ss.SSSZ',
  'YYYY-MM-DD HH:mm:ssZ',
];

/** Whether it names an IANA time zone. */
export const isZone = (name: string): boolean => moment.tz.zone(name) !== null;

/**
 * Parses a time filter (docs/api.md, 2): a date, a date and time, or ISO 8601 with offset.
 *
 * @param edge what has no milliseconds means the first or the last one of that day, minute or second
 * @returns undefined when malformed, or before the year 1000, where DATETIME begins
 */
export function readTime(text: string, zone = 'UTC', edge: 'start' | 'end' = 'start'): Date | undefined {
  const at = parse(text, zone, edge);
  // Every form begins with the year. The last day of 9999 often means no end; in zones west of UTC it ends in the
  // year 10000 of UTC.
  return at && text >= '1000' ? new Date(Math.min(Math.max(at.getTime(), earliest), latest)) : undefined;
}

/** What a DATETIME can be. */
const earliest = Date.parse('1000-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

function parse(written: string, zone: string, edge: 'start' | 'end'): Date | undefined {
  // ISO 8601 has no limit of digits, a Date has milliseconds.
  const text = written.replace(/(?<=:\d\d\.)\d{1,9}/, (digits) => digits.slice(0, 3).padEnd(3, '0'));
  const day = moment.tz(text, 'YYYY-MM-DD', true, zone);
  if (day.isValid()) return (edge === 'end' ? beforeNext(day) : day).toDate();
  const local = moment.tz(text, localFormats, true, zone);
  const time = local.isValid()
    ? local
    : moment.utc(text.replace(/ (?=\d\d:\d\d$)/, '+'), offsetFormats, true);
  if (!time.isValid()) return undefined;
  // A month that ends at 23:59:59 has the payments of that second.
  const unit = text.includes('.') ? 'ms' : /:\d\d:\d\d/.test(text) ? 'second' : 'minute';
  return (edge === 'end' ? lastOf(time.endOf(unit)) : time).toDate();
}

// A day need not reach 24 o'clock: where clocks are put forward at 23 o'clock, as in Nuuk, it ends there.
const beforeNext = (day: moment.Moment): moment.Moment => day.add(1, 'day').startOf('day').subtract(1, 'ms');

// Where clocks are put back, an hour comes twice: the same time of day, at the other offset.
function lastOf(time: moment.Moment): moment.Moment {
  const backMinutes = time.utcOffset() - time.clone().add(3, 'hours').utcOffset();
  const again = time.clone().add(backMinutes, 'minutes');
  return backMinutes > 0 && again.utcOffset() < time.utcOffset() ? again : time;
}

/** The same instant written in that zone: 2026-11-21T16:00:00.000+08:00. */
export function inZone(value: Date | string, zone: string): string {
  return moment.tz(value, zone).format('YYYY-MM-DDTHH:mm:ss.SSSZ');
}

/** A copy of the data with its time fields, at any depth, in that zone. */
export function withZone(data: unknown, zone: string): unknown {
  if (Array.isArray(data)) return data.map((item) => withZone(item, zone));
  if (!isPlain(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      zonedFields.has(name) && isTime(value) ? inZone(value, zone) : withZone(value, zone),
    ]),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

function isTime(value: unknown): value is Date | string {
  if (value instanceof Date) return true;
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * A function that formats UTC times of DATETIME columns (2026-11-21 08:00:00.000) in that zone, to the second.
 * Optimised for millions of them: times of one minute share a zone lookup, and UTC needs none.
 */
export function localTimes(zone = 'UTC'): (utc: string) => string {
  if (zone === 'UTC') return (utc) => utc.slice(0, 19);
  const offsets = moment.tz.zone(zone);
  const minutes = new Map<string, string>();
  let [last, shown] = ['none yet', ''];
  return (utc) => {
    // Rows come in chronological order.
    if (!utc.startsWith(last)) {
      last = utc.slice(0, 16);
      shown = minutes.get(last) ?? '';
      if (shown === '') {
        if (minutes.size >= maxMinutes) minutes.clear();
        const at = Date.parse(`${last.replace(' ', 'T')}Z`);
        const shifted = new Date(at - (offsets?.utcOffset(at) ?? 0) * 60_000);
        shown = shifted.toISOString().slice(0, 16).replace('T', ' ');
        minutes.set(last, shown);
      }
    }
    return shown + utc.slice(16, 19);
  };
}

const maxMinutes = 4096;

export interface CalendarSpan {
  /** 2026-11-21, or 2026-11 for a month. */
  label: string;
  start: Date;
}

/** The last `count` days in that zone, including today, oldest first. */
export function daysBack(count: number, at: Date, zone = 'UTC'): CalendarSpan[] {
  return spansBack(count, at, zone, 'day', 'YYYY-MM-DD');
}

/** The last `count` months in that zone, including this one, oldest first. */
export function monthsBack(count: number, at: Date, zone = 'UTC'): CalendarSpan[] {
  return spansBack(count, at, zone, 'month', 'YYYY-MM');
}

function spansBack(
  count: number,
  at: Date,
  zone: string,
  unit: 'day' | 'month',
  format: string,
): CalendarSpan[] {
  // Counted without a zone: an hour that is skipped or comes twice leaves no day out and shortens none.
  const last = moment.utc(moment.tz(at, zone).format('YYYY-MM-DD')).startOf(unit);
  return Array.from({ length: count }, (_, index) => {
    const first = last.clone().subtract(count - 1 - index, unit);
    return { label: first.format(format), start: moment.tz(first.format('YYYY-MM-DD'), zone).toDate() };
  });
}

/** Wall-clock time in Beijing, which has no summer time, to the second: 2026-11-21T16:00:00. */
export function beijingTime(at: Date): string {
  return new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19);
}
