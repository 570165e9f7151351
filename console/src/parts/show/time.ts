// Times: UTC in the API, shown and entered in the chosen zone.
import dayjs, { type Dayjs } from 'dayjs';
import 'dayjs/locale/zh-cn';
import relativeTime from 'dayjs/plugin/relativeTime';
import timezone from 'dayjs/plugin/timezone';
import utc from 'dayjs/plugin/utc';
import { currentSettings } from '../../contract/settings.ts';

dayjs.extend(utc);
dayjs.extend(timezone);
dayjs.extend(relativeTime);

const formats = new Map<string, Intl.DateTimeFormat>();

// Not by dayjs, which takes the hour that the clocks of the browser skip for the next one in every zone.
function written(time: string | number): string {
  const { zone } = currentSettings();
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...toTheSecond });
  formats.set(zone, format);
  return format.format(new Date(time));
}

/** In Swedish: 2026-11-22 14:03:07 */
const toTheSecond = { dateStyle: 'short', timeStyle: 'medium' } as const;

/** The offset of the chosen zone at that time, by default now: UTC+8. */
export function showZone(time: string | number = Date.now()): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: currentSettings().zone,
    timeZoneName: 'shortOffset',
  }).formatToParts(new Date(time));
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? '').replace('GMT', 'UTC');
}

/** 2026-11-22 14:03:07 */
export const showTime = (time: string): string => written(time);

export const showDay = (time: string | number): string => written(time).slice(0, 10);

/** The day it is in the chosen zone. */
export const today = (): string => showDay(Date.now());

/** Hours and minutes, for events of one day. */
export const showClock = (time: string | number): string => written(time).slice(11);

/** 3 minutes ago */
export const showAgo = (time: string): string =>
  dayjs(time)
    .locale(currentSettings().language === 'zh-CN' ? 'zh-cn' : 'en')
    .fromNow();

const hourMs = 3_600_000;

/** In milliseconds since 1970. */
function startOf(day: Dayjs): number {
  const date = day.format('YYYY-MM-DD');
  const at = dayjs.tz(date, currentSettings().zone).valueOf();
  // Of a midnight that comes twice, as in Havana, dayjs takes the second.
  return showDay(at - hourMs) === date ? at - hourMs : at;
}

/** The first or last moment of a day in the chosen zone, as the API takes it. `endOf` would take the clocks of the browser. */
export const dayToInstant = (day: Dayjs, edge: 'start' | 'end'): string =>
  new Date(edge === 'start' ? startOf(day) : startOf(day.add(1, 'day')) - 1).toISOString();

export const instantToDay = (time: string): Dayjs | null => (isInstant(time) ? dayjs(showDay(time)) : null);

export const isInstant = (text: string): boolean => dayjs(text).isValid() && /^\d{4}-\d\d-\d\dT/.test(text);

/** The units of durations, in seconds. */
const spans = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The two largest units: 3d 4h. */
export function showDuration(seconds: number): string {
  let left = Math.max(0, Math.round(seconds));
  const parts = spans.map(([unit, length]) => {
    const count = Math.floor(left / length);
    left %= length;
    return { unit, count };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  return (first < 0 ? parts.slice(-1) : parts.slice(first, first + 2))
    .map(({ unit, count }) =>
      Intl.NumberFormat(currentSettings().language, { style: 'unit', unit, unitDisplay: 'narrow' }).format(
        count,
      ),
    )
    .join(' ')
    .replace(/(\d)(\p{Script=Han})/gu, '$1 $2');
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function showBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power] ?? ''}`;
}
