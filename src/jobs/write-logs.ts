// Log entries of this process on their way into the logs: a job writes them, and waits in the queue while the
// database is unavailable; without the queue this process writes them, without both standard output is the
// record.
import { setTimeout as sleep } from 'node:timers/promises';
import Joi from 'joi';
import { inNoContext, isStoringEntries, storingEntries } from '../lib/process/context.js';
import { newUlid } from '../lib/secrets/random-id.js';
import { now } from '../lib/values/clock.js';
import { logger, onLogLine, type LogLine } from '../lib/watch/logger.js';
import { writeEntries, type LogItem } from '../models/logs/log-entries.js';
import type { SystemEntry } from '../models/logs/system-log.js';
import { job } from './job.js';

interface WriteLogs {
  /** ULID of the batch. */
  batch: string;
  items: LogItem[];
}

/** Entries of a job at most. */
const maxItems = 200;

const item = Joi.object<LogItem, true>({
  kind: Joi.string().valid('operation', 'login', 'system').required(),
  entry: Joi.object().unknown(true).required(),
});

export const writeLogs = job({
  name: 'write-logs',
  queue: 'logs',
  attempts: 8,
  backoffMs: 1000,
  timeoutMs: 60_000,
  payload: Joi.object<WriteLogs, true>({
    batch: Joi.string().required(),
    // Jobs of earlier releases name only their batch; a migration has moved their entries.
    items: Joi.array().items(item).max(maxItems).default([]),
  }),
  key: ({ batch }) => batch,
  run: ({ items }) => writeEntries(items),
});

/** Wait for more entries of a batch. */
const gatherMs = 50;

let gathered: LogItem[] = [];
let gathering: Promise<void> | undefined;
const passing = new Set<Promise<void>>();

/** Passes an entry on to its log; when this resolves the queue or the log has it. Never throws. */
export function keepEntry(item: LogItem): Promise<void> {
  gathered.push(item);
  if (gathered.length >= maxItems) return inNoContext(passOn);
  gathering ??= inNoContext(() => sleep(gatherMs).then(passOn));
  return gathering;
}

/** Passes on what is still gathered. */
export async function closeLogs(): Promise<void> {
  await passOn();
  await Promise.all(passing);
}

function passOn(): Promise<void> {
  const items = gathered;
  gathered = [];
  gathering = undefined;
  const passed = items.length > 0 ? pass(items) : Promise.resolve();
  passing.add(passed);
  return passed.finally(() => passing.delete(passed));
}

async function pass(items: LogItem[]): Promise<void> {
  await writeLogs
    .enqueue({ batch: newUlid(), items })
    .catch(() => writeEntries(items))
    .catch((error: unknown) => {
      logUnkept(
        { error, count: items.length },
        'log entries could not be stored; these lines are their record',
      );
      for (const { kind, entry } of items) if (kind !== 'system') logUnkept({ kind, entry }, 'log entry');
    });
}

const logUnkept = (fields: object, message: string): void =>
  storingEntries(() => logger.warn(fields, message));

const levels = { debug: 'debug', info: 'info', warn: 'warning', error: 'error', fatal: 'error' } as const;
const maxPerSecond = 50;
const maxContext = 20_000;

/**
 * Keeps the warnings and errors of this process in the system log, at most 50 a second: a fault that
 * shows on every request must not become a flood of writes. Standard output has all of them.
 */
export function keepSystemLog(module: 'api' | 'worker'): void {
  let second = 0;
  let kept = 0;
  onLogLine((line) => {
    if (isStoringEntries()) return;
    const current = Math.floor(Date.now() / 1000);
    if (current !== second) [second, kept] = [current, 0];
    if (++kept <= maxPerSecond) void keepEntry({ kind: 'system', entry: entryOf(line, module) });
  });
}

// Callers see neither installation paths nor what the database is reached by; standard output has both, under the same
// trace id.
const isInternal = (name: string, value: unknown): boolean =>
  name === 'stack' || (name === 'type' && String(value).startsWith('Sequelize'));

function entryOf({ level, message, fields, traceId }: LogLine, module: string): SystemEntry {
  const context = JSON.stringify(fields, (name, value: unknown) =>
    isInternal(name, value) ? undefined : value,
  );
  return {
    log_key: newUlid(),
    level: levels[level],
    module,
    message: message.slice(0, 1000),
    context: context === '{}' ? null : context.slice(0, maxContext),
    trace_id: traceId.slice(0, 64),
    created_at: now().toISOString(),
  };
}
