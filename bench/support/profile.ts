// CPU profiles of measured processes (--profile) and what is worth reading in them.
import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Profiler } from 'node:inspector';
import type { Process } from './processes.js';
import { say } from './report.js';

/** Whether --profile was asked for: profiles are then taken instead of figures, which profiling would slow. */
export const isProfiling = process.argv.includes('--profile');

const folder = resolve(import.meta.dirname, '../profiles');

/** Profiles the processes while the work runs; prints a summary of each and where the whole profile is. */
export async function profiled(
  processes: Record<string, Process>,
  work: () => Promise<{ requests: number }>,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const process of Object.values(processes)) await process.ask({ profile: 'start' });
  const { requests } = await work();
  for (const [name, process] of Object.entries(processes)) {
    const file = resolve(folder, `${name}.cpuprofile`);
    await process.ask({ profile: 'stop', file });
    summarise(name, requests, JSON.parse(readFileSync(file, 'utf8')) as Profiler.Profile);
    say(`whole profile: ${file}`);
  }
}

interface Frame {
  name: string;
  place: string;
  group: string;
  /** Microseconds of its own. */
  self: number;
  parent?: Frame;
}

function summarise(name: string, requests: number, profile: Profiler.Profile): void {
  const frames = framesOf(profile);
  const all = [...frames.values()].reduce((sum, { self }) => sum + self, 0);
  const idle = [...frames.values()]
    .filter((frame) => frame.name === '(idle)')
    .reduce((sum, { self }) => sum + self, 0);
  const busy = all - idle;
  const line = ([what, time]: [string, number]): void =>
    say(
      `  ${((time / busy) * 100).toFixed(1).padStart(5)} %  ${(time / requests).toFixed(1).padStart(7)} µs  ${what}`,
    );
  const working = [...frames.values()].filter((frame) => frame.name !== '(idle)');
  say(
    `\n${name}: ${requests} requests, busy ${((busy / all) * 100).toFixed(0)} % of the time, ${(busy / requests).toFixed(0)} µs each`,
  );
  say(' self time by package (native functions count for their callers)');
  top(working, ({ group }) => group, 30).forEach(line);
  say(' self time by function');
  top(working, ({ name: title, place }) => `${title} ${place}`, 40).forEach(line);
  say(' time within own and package functions, callees included');
  inclusive(working, 40).forEach(line);
}

function framesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<number, Frame> {
  const frames = new Map<number, Frame>();
  for (const { id, callFrame } of nodes) {
    const { functionName, url, lineNumber } = callFrame;
    const place = url ? `${shortUrl(url)}:${lineNumber + 1}` : '';
    frames.set(id, {
      name: functionName || '(anonymous)',
      place,
      group: groupOf(url, functionName),
      self: 0,
    });
  }
  for (const { id, children = [] } of nodes) {
    for (const child of children) (frames.get(child) as Frame).parent = frames.get(id);
  }
  for (const frame of frames.values()) {
    let from: Frame | undefined = frame;
    while (from && from.group === '') from = from.parent;
    if (frame.group === '') frame.group = from?.group ?? 'native';
    if (frame.place === '' && !frame.name.startsWith('('))
      frame.place = `(native) in ${from?.name ?? '?'} ${from?.place ?? ''}`;
  }
  samples.forEach((id, index) => ((frames.get(id) as Frame).self += timeDeltas[index] ?? 0));
  return frames;
}

function top(frames: Frame[], nameOf: (frame: Frame) => string, most: number): [string, number][] {
  const sums = new Map<string, number>();
  for (const frame of frames) sums.set(nameOf(frame), (sums.get(nameOf(frame)) ?? 0) + frame.self);
  return [...sums].sort(([, one], [, other]) => other - one).slice(0, most);
}

// A function counts once per stack, however often it occurs in it.
function inclusive(frames: Frame[], most: number): [string, number][] {
  const sums = new Map<string, number>();
  for (const frame of frames) {
    const seen = new Set<string>();
    for (let at: Frame | undefined = frame; at; at = at.parent)
      if (at.place && !at.place.startsWith('(native)')) seen.add(`${at.name} ${at.place}`);
    for (const title of seen) sums.set(title, (sums.get(title) ?? 0) + frame.self);
  }
  return [...sums]
    .filter(([title]) => !title.includes(' node:'))
    .sort(([, one], [, other]) => other - one)
    .slice(0, most);
}

function groupOf(url: string, functionName: string): string {
  if (/^\((garbage collector|program|root|idle)\)$/.test(functionName)) return functionName;
  if (url === '') return '';
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url);
  if (inPackage) return inPackage[1] as string;
  if (url.startsWith('node:')) return url.replace(/^(node:(?:internal\/)?[^/]+).*/, '$1');
  return shortUrl(url);
}

const shortUrl = (url: string): string =>
  url.replace(/^file:\/\//, '').replace(/^.*\/(?:node_modules|build)\//, '');
