// Writes an entry of the system log; entries that arrive together are written together.
import Joi from 'joi';
import { now } from '../lib/clock.js';
import { onLogLine, type LogLine } from '../lib/logger.js';
import { newUlid } from '../lib/random-id.js';
import { writeSystemEntries, type SystemEntry } from '../models/system-log.js';
import { batched } from './batch.js';
import { job } from './job.js';

const write = batched(writeSystemEntries, 50, 100);

export const writeSystemLog = job<SystemEntry>({
  name: 'write-system-log',
  queue: 'logs',
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 15_000,
  payload: Joi.object<SystemEntry, true>({
    log_key: Joi.string().required(),
    level: Joi.string().valid('debug', 'info', 'warning', 'error').required(),
    module: Joi.string().required(),
    message: Joi.string().allow('').required(),
    context: Joi.string().allow(null).required(),
    trace_id: Joi.string().allow('').required(),
    created_at: Joi.string().required(),
  }),
  key: ({ log_key }) => log_key,
  run: (entry) => write(entry),
});

const levels = { debug: 'debug', info: 'info', warn: 'warning', error: 'error', fatal: 'error' } as const;
const mostPerSecond = 50;
const longestContext = 20_000;

/**
 * Keeps the log lines of this process from SYSTEM_LOG_LEVEL on in the system log, at most 50 a second: a fault that
 * shows on every request must not become a flood of writes. Standard output has all of them.
 */
export function keepSystemLog(module: 'api' | 'worker'): void {
  let second = 0;
  let kept = 0;
  onLogLine((line) => {
    const current = Math.floor(Date.now() / 1000);
    if (current !== second) [second, kept] = [current, 0];
    if (++kept <= mostPerSecond) void keep(entryOf(line, module));
  });
}

// What goes wrong here is not logged, or it would come back.
async function keep(entry: SystemEntry): Promise<void> {
  await writeSystemLog.enqueue(entry).catch(() => writeSystemEntries([entry]).catch(() => undefined));
}

function entryOf({ level, message, fields, traceId }: LogLine, module: string): SystemEntry {
  const context = JSON.stringify(fields);
  return {
    log_key: newUlid(),
    level: levels[level],
    module,
    message: message.slice(0, 1000),
    context: context === '{}' ? null : context.slice(0, longestContext),
    trace_id: traceId.slice(0, 64),
    created_at: now().toISOString(),
  };
}
