// JSON log lines on standard output, with the trace id and without secrets.
import cluster from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { config } from '../../../config/index.js';
import { currentSpan, currentTraceId } from '../process/context.js';
import { mask, maskText } from '../secrets/mask.js';

// Lines are written in the background; a crash flushes them. Cluster workers write through process.stdout, which PM2
// intercepts.
const destination = cluster.isWorker
  ? undefined
  : pino.destination({ dest: 1, sync: false, maxLength: 16 * 1024 * 1024 });
/** The last lines are on their way; a closed destination throws at later ones. */
let isEnding = false;
// On a full disk lines wait, up to that length. flushSync, also called at exit, would block the process until
// there is room.
const stopFlushing = (): void => {
  if (destination) destination.flushSync = () => undefined;
};
destination?.on('error', stopFlushing);
/** Max wait for a reader that has stopped reading. */
const flushMs = 1000;

/** A line as listeners receive it, masked. */
export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  message: string;
  fields: Record<string, unknown>;
  traceId: string;
}

type LineListener = (line: LogLine) => void;

let listener: LineListener | undefined;

/** Pino's number of `warn`. */
const warning = 40;

/** Passes warnings and errors on to the listener; one per process. */
export function onLogLine(listen: LineListener): void {
  listener = listen;
}

export const logger = pino(
  {
    level: config.watching.logLevel,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: () => {
      const trace_id = currentTraceId();
      const span = currentSpan();
      return {
        ...(trace_id && { trace_id }),
        ...(span && { otel_trace_id: span.spanContext().traceId }),
      };
    },
    hooks: {
      logMethod(input, method, level) {
        const parts = input.map((part) => maskLogged(part)) as Parameters<typeof method>;
        method.apply(this, parts);
        if (listener && level >= warning) notifyListener(parts, level);
      },
    },
  },
  // Without flushSync, which pino calls after a fatal line.
  destination ? { write: (line) => isEnding || destination.write(line) } : process.stdout,
);

/** Writes what is still buffered if the output is read; the last action of a process. */
export async function flushLogs(): Promise<void> {
  if (!destination) return;
  stopFlushing();
  isEnding = true;
  try {
    destination.end();
    await Promise.race([once(destination, 'close'), sleep(flushMs)]);
  } catch {
    // Nobody reads it, the disk is full, or it is closed: the process exits anyway.
  }
}

function notifyListener(parts: readonly unknown[], level: number): void {
  const [first, second] = parts;
  const fields = typeof first === 'object' && first !== null ? (first as Record<string, unknown>) : {};
  const message = typeof first === 'string' ? first : typeof second === 'string' ? second : '';
  const own = typeof fields.trace_id === 'string' ? fields.trace_id : undefined;
  const label = pino.levels.labels[level] as LogLine['level'];
  listener?.({ level: label, message, fields, traceId: own ?? currentTraceId() ?? '' });
}

function maskLogged(part: unknown): unknown {
  if (typeof part === 'string') return maskText(part);
  if (part instanceof Error) return { error: describe(part) };
  if (typeof part !== 'object' || part === null) return part;
  const fields = part as Record<string, unknown>;
  return fields.error instanceof Error
    ? { ...(mask({ ...fields, error: undefined }) as object), error: describe(fields.error) }
    : mask(fields);
}

function describe(error: NodeJS.ErrnoException): object {
  return {
    type: error.name,
    message: maskText(error.message),
    code: error.code,
    stack: maskText(error.stack ?? ''),
    cause: error.cause instanceof Error ? describe(error.cause) : undefined,
  };
}

const throttleMs = 60_000;

interface Silence {
  since: number;
  count: number;
}

const silences = new Map<string, Silence>();

/**
 * Throttles the lines of a repeated failure: calls `say` the first time, then at most once a minute per subject.
 *
 * @param say receives the number of occurrences since the last call, including this one
 */
export function throttled(subject: string, say: (count: number) => void): void {
  const known = silences.get(subject);
  const at = Date.now();
  if (known && at - known.since < throttleMs) {
    known.count++;
    return;
  }
  silences.set(subject, { since: at, count: 0 });
  say((known?.count ?? 0) + 1);
}
