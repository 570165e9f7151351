// Periods as people say them, in the chosen zone.
import dayjs, { type Dayjs } from 'dayjs';
import type { Both } from '../../contract/texts.ts';
import { dayToInstant, today } from '../show/time.ts';

export const periodNames = {
  today: ['今天', 'Today'],
  yesterday: ['昨天', 'Yesterday'],
  last7: ['最近 7 天', 'Last 7 days'],
  last30: ['最近 30 天', 'Last 30 days'],
  month: ['本月', 'This month'],
  lastMonth: ['上月', 'Last month'],
} as const satisfies Record<string, Both>;

export type PeriodName = keyof typeof periodNames;

export const isPeriod = (text: string): text is PeriodName => Object.hasOwn(periodNames, text);

const days: Record<PeriodName, (day: Dayjs) => [first: Dayjs, last: Dayjs]> = {
  today: (day) => [day, day],
  yesterday: (day) => [day.subtract(1, 'day'), day.subtract(1, 'day')],
  last7: (day) => [day.subtract(6, 'day'), day],
  last30: (day) => [day.subtract(29, 'day'), day],
  month: (day) => [day.startOf('month'), day.endOf('month')],
  lastMonth: (day) => {
    const before = day.subtract(1, 'month');
    return [before.startOf('month'), before.endOf('month')];
  },
};

/** Its first and last instant, as the API takes them. */
export function periodBounds(name: PeriodName): { start_time: string; end_time: string } {
  const [first, last] = days[name](dayjs(today()));
  return { start_time: dayToInstant(first, 'start'), end_time: dayToInstant(last, 'end') };
}

/** The period with those bounds. Several may have them today: the one that was chosen, if it is among them. */
export function periodOf(start: string, end: string, chosen: string): PeriodName | undefined {
  if (!start || !end) return undefined;
  const names = [chosen, ...Object.keys(days)].filter(isPeriod);
  return names.find((name) => {
    const bounds = periodBounds(name);
    return bounds.start_time === start && bounds.end_time === end;
  });
}
