// Stores the log entries of this process: in the outbox in batches, on the local disk while the database is unavailable.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../../config/index.js';
import { now } from '../lib/clock.js';
import { inNoContext } from '../lib/context.js';
import { isDatabaseDown } from '../lib/database/errors.js';
import { logger, onLogLine, type LogLine } from '../lib/logger.js';
import { newUlid } from '../lib/secrets/random-id.js';
import { throttled } from '../lib/log-throttle.js';
import { Spool } from '../lib/spool.js';
import { slowStatement } from '../lib/watch/statements.js';
import { moveLogs, storeItems, type LogItem } from '../models/logs/log-outbox.js';
import type { SystemEntry } from '../models/logs/system-log.js';
import { writeLogs } from './write-logs.js';

/** Wait for more entries of a batch. */
const gatherMs = 50;
const maxTogether = 200;
const retryMs = 5000;
const maxSpooledBytes = 256 * 1024 * 1024;

const spool = new Spool(join(config.storage.root, 'log-spool'), maxSpooledBytes);

let gathered: LogItem[] = [];
let gathering: Promise<void> | undefined;

/** Stores an entry; when this resolves it is in the outbox or on the local disk. Never throws. */
export function keepEntry(item: LogItem): Promise<void> {
  if (isClosed) return spoolItems([item]);
  gathered.push(item);
  if (gathered.length >= maxTogether) return inNoContext(store);
  gathering ??= inNoContext(() => sleep(gatherMs).then(store));
  return gathering;
}

let isClosed = false;

/** Stores the entries still gathered; later ones go to the disk for the next process. */
export async function closeLogs(): Promise<void> {
  isClosed = true;
  clearInterval(timer);
  await store();
  // Those begun before go on to the queue, which would be opened again once it is closed.
  await Promise.all(stores);
}

const timer = setInterval(() => {
  if (!spool.isEmpty) void readSpool();
}, retryMs).unref();

/** Stores the entries that an earlier process left on the disk of this machine. */
export async function recoverLogs(): Promise<void> {
  await readSpool();
}

/** What is being stored now. */
const stores = new Set<Promise<void>>();

function store(): Promise<void> {
  const items = gathered;
  gathered = [];
  gathering = undefined;
  const stored = keep(items).finally(() => stores.delete(stored));
  stores.add(stored);
  return stored;
}

async function keep(items: readonly LogItem[]): Promise<void> {
  if (items.length === 0) return;
  try {
    await storeItems(items);
  } catch (error) {
    throttled('log outbox', (count) =>
      logUnkept({ error, count }, 'log entries cannot be stored; they wait on the disk'),
    );
    await spoolItems(items);
    return;
  }
  await queueMove();
}

// While the queue is unavailable this process does it; the sweeper finds the rest.
async function queueMove(): Promise<void> {
  await writeLogs
    .enqueue({ batch: newUlid() })
    .catch(() => moveLogs(AbortSignal.timeout(writeLogs.timeoutMs)))
    .catch((error: unknown) =>
      throttled('log tables', () => logUnkept({ error }, 'log entries wait to be moved')),
    );
}

async function spoolItems(items: readonly LogItem[]): Promise<void> {
  const isKept = await spool.append(items.map((item) => JSON.stringify(item))).catch((error: unknown) => {
    throttled('log spool', () => logUnkept({ error }, 'writing log entries to the disk failed'));
    return false;
  });
  if (!isKept)
    throttled('lost log entries', (count) =>
      logUnkept({ count: count * items.length }, 'log entries were lost'),
    );
}

async function readSpool(): Promise<void> {
  await spool
    .takeAll(async (lines) => {
      await storeAgain(lines.flatMap(itemIn));
      await queueMove();
    })
    .catch((error: unknown) =>
      throttled('log spool reading', () => logUnkept({ error }, 'log entries still wait on the disk')),
    );
}

// One entry that cannot be stored must not keep the others here.
async function storeAgain(items: readonly LogItem[]): Promise<void> {
  if (items.length === 0) return;
  try {
    await storeItems(items);
  } catch (error) {
    if (isDatabaseDown(error)) throw error;
    if (items.length > 1) for (const item of items) await storeAgain([item]);
    else leaveOut(error);
  }
}

// A process that died or a full disk may have left an incomplete line.
function itemIn(line: string): LogItem[] {
  try {
    return [JSON.parse(line) as LogItem];
  } catch (error) {
    leaveOut(error);
    return [];
  }
}

function leaveOut(error: unknown): void {
  throttled('spooled log entries', (count) =>
    logUnkept({ error, count }, 'log entries on the disk that cannot be read or stored were left out'),
  );
}

// Failures of the system log are not stored in it: they would cause more of themselves.
function logUnkept(fields: object, message: string): void {
  isUnkept = true;
  logger.warn(fields, message);
  isUnkept = false;
}

let isUnkept = false;

const levels = { debug: 'debug', info: 'info', warn: 'warning', error: 'error', fatal: 'error' } as const;
const maxPerSecond = 50;
const maxContext = 20_000;

/**
 * Keeps the log lines of this process from SYSTEM_LOG_LEVEL on in the system log, at most 50 a second: a fault that
 * shows on every request must not become a flood of writes. Standard output has all of them.
 */
export function keepSystemLog(module: 'api' | 'worker'): void {
  let second = 0;
  let kept = 0;
  onLogLine((line) => {
    if (isUnkept || isOfStoring(line)) return;
    const current = Math.floor(Date.now() / 1000);
    if (current !== second) [second, kept] = [current, 0];
    if (++kept <= maxPerSecond) void keepEntry({ kind: 'system', entry: entryOf(line, module) });
  });
}

// What storing an entry logs would have to be stored as well; slow statements of the log tables are told as info.
const isOfStoring = ({ level, message, fields }: LogLine): boolean =>
  level === 'info' && (fields.job === writeLogs.name || message === slowStatement);

function entryOf({ level, message, fields, traceId }: LogLine, module: string): SystemEntry {
  // Callers never see installation paths; standard output has them, under the same trace id.
  const context = JSON.stringify(fields, (name, value: unknown) => (name === 'stack' ? undefined : value));
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
