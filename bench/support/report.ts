// What a benchmark prints at its end; docs/measurements.md has the aims.
import type { Measured } from './load.js';

/** The middle value; the mean of the two middle ones of an even number. */
export function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

/** The medians of several runs. */
export function rate(runs: Measured[]): string {
  const of = (pick: (run: Measured) => number): string => median(runs.map(pick)).toFixed(1);
  return `${of((run) => run.perSecond)}/s, p50 ${of((run) => run.p50)} ms, p99 ${of((run) => run.p99)} ms`;
}

/** Throughput against the run made next to it, so that a slower moment of the machine counts for both. */
export function ratio(runs: { perSecond: number }[], against: { perSecond: number }[]): string {
  return times(median(runs.map((run, round) => run.perSecond / (against[round]?.perSecond as number))));
}

export const times = (value: number): string => `${value.toFixed(2)} ×`;
export const ms = (value: number): string => `${value.toFixed(1)} ms`;
export const mb = (value: number): string => `${value.toFixed(0)} MB`;

export function printTable(title: string, rows: Record<string, string>): void {
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  console.log(`\n${title}`);
  for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(width)}  ${value}`);
}
