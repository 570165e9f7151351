// What a load made database and Redis do, by their own counters and processor time: figures that a slow machine cannot change.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { processorTicksMs } from './processes.js';
import { median, printColumns } from './report.js';
import { rows, withRedis, type Site } from './site.js';

/** Per request. */
export interface Counts {
  statements: number;
  commits: number;
  fsyncs: number;
  temporaryTables: number;
  temporaryFiles: number;
  /** Those that scripts run included. */
  redisCommands: number;
  /** Milliseconds of processor time. */
  databaseMs: number;
  redisMs: number;
}

const variables = {
  statements: 'Questions',
  commits: 'Com_commit',
  fsyncs: 'Innodb_data_fsyncs',
  temporaryTables: 'Created_tmp_tables',
  temporaryFiles: 'Created_tmp_disk_tables',
} as const;

/** Reads all counters now; subtract one reading from another. */
async function readCounters(site: Site): Promise<Counts> {
  const found = await rows<{ Variable_name: string; Value: string }>(
    site.db,
    `SHOW GLOBAL STATUS WHERE Variable_name IN (?)`,
    [Object.values(variables)],
  );
  const value = (name: string): number => Number(found.find((one) => one.Variable_name === name)?.Value);
  const [server] = await rows<{ pid_file: string; datadir: string }>(
    site.db,
    'SELECT @@pid_file AS pid_file, @@datadir AS datadir',
  );
  const { pid_file, datadir } = server as { pid_file: string; datadir: string };
  const databasePid = Number(readFileSync(resolve(datadir, pid_file), 'utf8'));
  const [stats, info] = await withRedis((redis) =>
    Promise.all([redis.info('commandstats'), redis.info('server')]),
  );
  const calls = [...stats.matchAll(/:calls=(\d+),/g)].map(([, count]) => Number(count));
  const redisPid = Number(/process_id:(\d+)/.exec(info)?.[1]);
  return {
    ...{ statements: value(variables.statements), commits: value(variables.commits) },
    ...{ fsyncs: value(variables.fsyncs), temporaryTables: value(variables.temporaryTables) },
    temporaryFiles: value(variables.temporaryFiles),
    redisCommands: calls.reduce((sum, one) => sum + one, 0),
    ...{ databaseMs: processorTicksMs(databasePid), redisMs: processorTicksMs(redisPid) },
  };
}

/** What happened between two readings, for each of that many requests. */
function perRequest(before: Counts, after: Counts, requests: number): Counts {
  const entries = Object.entries(after).map(([name, value]) => [
    name,
    (Number(value) - before[name as keyof Counts]) / requests,
  ]);
  return Object.fromEntries(entries);
}

/** Runs a load. @returns its result and what it counted for each request */
export async function counting<T extends { requests: number }>(
  site: Site,
  load: () => Promise<T>,
): Promise<T & { counts: Counts }> {
  const before = await readCounters(site);
  const result = await load();
  return { ...result, counts: perRequest(before, await readCounters(site), result.requests) };
}

const heads: Record<keyof Counts, string> = {
  ...{ statements: 'statements', commits: 'COMMIT', fsyncs: 'fsync', temporaryTables: 'tmp tables' },
  ...{
    temporaryFiles: 'tmp files',
    redisCommands: 'Redis commands',
    databaseMs: 'database ms',
    redisMs: 'Redis ms',
  },
};

/** A line of medians for each of several series of runs. */
export function printCounts(title: string, series: Record<string, { counts: Counts }[]>): void {
  const names = Object.keys(heads) as (keyof Counts)[];
  const lines = Object.entries(series).map(([name, runs]) => [
    name,
    ...names.map((count) => median(runs.map(({ counts }) => counts[count])).toFixed(2)),
  ]);
  printColumns(title, ['', ...Object.values(heads)], lines, [1, names.length]);
}
