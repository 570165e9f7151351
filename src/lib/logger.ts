// JSON log lines on standard output, each with the trace id of what it belongs to, none with a secret.
import { pino } from 'pino';
import { config } from '../../config/index.js';
import { currentTraceId } from './context.js';
import { mask, maskText } from './mask.js';

// Lines leave in blocks (at most 4 KiB or one second late); a crash flushes them.
const destination = pino.destination({ dest: 1, sync: false, minLength: 4096 });
setInterval(() => destination.flush(), 1000).unref();

export const logger = pino(
  {
    level: config.logging.level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: () => {
      const trace_id = currentTraceId();
      return trace_id ? { trace_id } : {};
    },
    hooks: {
      logMethod(input, method) {
        method.apply(this, input.map((part) => maskLogged(part)) as Parameters<typeof method>);
      },
    },
    serializers: { error: describe },
  },
  destination,
);

/** Writes out what is still buffered; the last thing a process does. */
export function flushLogs(): void {
  try {
    destination.flushSync();
  } catch {
    // The stream was never written to, or is gone: nothing is left to say.
  }
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

function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  const cause = error.cause instanceof Error ? describe(error.cause) : undefined;
  return {
    type: error.name,
    message: maskText(error.message),
    code,
    stack: maskText(error.stack ?? ''),
    cause,
  };
}
