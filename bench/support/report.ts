// What a benchmark prints: a line per run, and at the end a table with targets.
import type { Figures } from './load.js';

export interface Row {
  name: string;
  figures?: Figures;
  /** What is held against the target, as text with its unit. */
  value: string;
  target?: string;
  reached?: boolean;
}

export function row(name: string, value: string, target?: string, reached?: boolean): Row {
  return { name, value, target, reached };
}

/** A line of progress. */
export function say(text: string): void {
  console.log(text);
}

export function sayRun(name: string, { perSecond, p50, p99, processorMs }: Figures): void {
  const cost = processorMs === undefined ? '' : `   ${processorMs.toFixed(2)} ms of processor time each`;
  say(`  ${name.padEnd(44)} ${rate(perSecond)}   p50 ${ms(p50)}   p99 ${ms(p99)}${cost}`);
}

/** The middle value; the mean of the two middle ones of an even number. */
export function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

/** The median of each figure over several runs. */
export function medianOf(runs: Figures[]): Figures {
  const of = (pick: (run: Figures) => number): number => median(runs.map(pick));
  return {
    ...{ perSecond: of((run) => run.perSecond), p50: of((run) => run.p50), p99: of((run) => run.p99) },
    processorMs: runs.every((run) => run.processorMs) ? of((run) => run.processorMs as number) : undefined,
  };
}

/** Throughput against the run made next to it, round by round, so that a slower minute of the machine counts for both. */
export function ratioOf(runs: Figures[], against: Figures[]): number {
  return median(runs.map((run, round) => run.perSecond / (against[round] as Figures).perSecond));
}

/** A row whose ratio should reach a target, or is only shown. */
export function ratioRow(name: string, figures: Figures, ratio: number, of: string, least?: number): Row {
  const value = `${ratio.toFixed(2)} × ${of}`;
  return least === undefined
    ? { name, figures, value }
    : { name, figures, value, target: `≥ ${least}`, reached: ratio >= least };
}

export function printTable(title: string, rows: Row[]): void {
  const heads = ['', 'req/s', 'p50', 'p99', 'cpu each', 'result', 'target', ''];
  const lines = rows.map(({ name, figures, value, target = '', reached }) => [
    name,
    ...(figures ? cells(figures) : ['', '', '', '']),
    ...[value, target, reached === undefined ? '' : reached ? 'reached' : 'missed'],
  ]);
  printColumns(title, heads, lines, [1, 4]);
}

/** Lines under their heads; columns between those two are set to the right. */
export function printColumns(
  title: string,
  heads: string[],
  lines: string[][],
  [first, last] = [1, heads.length - 2] as [number, number],
): void {
  const widths = heads.map((head, column) =>
    Math.max(...[head, ...lines.map((line) => line[column] as string)].map((cell) => cell.length)),
  );
  say(`\n${title}`);
  for (const line of [heads, ...lines]) {
    const padded = line.map((cell, column) =>
      column >= first && column <= last
        ? cell.padStart(widths[column] as number)
        : cell.padEnd(widths[column] as number),
    );
    say(padded.join('  ').trimEnd());
  }
}

function cells({ perSecond, p50, p99, processorMs }: Figures): string[] {
  const cost = processorMs === undefined ? '' : `${processorMs.toFixed(2)} ms`;
  return [perSecond.toFixed(perSecond < 100 ? 1 : 0), ms(p50).trim(), ms(p99).trim(), cost];
}

const rate = (perSecond: number): string => `${perSecond.toFixed(perSecond < 100 ? 1 : 0).padStart(6)}/s`;
const ms = (value: number): string => `${value.toFixed(1).padStart(6)} ms`;
