// Times every statement and makes its span; slow statements are logged under the trace id of their
// caller.
import { SpanKind, type Span } from '@opentelemetry/api';
import { config } from '../../../config/index.js';
import { currentSpan, currentTraceId } from '../process/context.js';
import { logger } from './logger.js';
import { statementSeconds } from './metrics.js';
import { failSpan, startSpan } from './tracing.js';

const { slowStatementMs } = config.watching;
const maxLogged = 2000;

const slowStatement = 'slow statement';

/** Times a statement. @returns a function to call at its end, with its error if it failed */
export function recordStatement(pool: string, query: unknown): (error: unknown) => void {
  const sentAt = performance.now();
  // The reply arrives in the context that opened the connection.
  const trace = { trace_id: currentTraceId(), otel_trace_id: currentSpan()?.spanContext().traceId };
  const span = beginSpan(pool, query);
  return (error) => {
    const tookMs = performance.now() - sentAt;
    statementSeconds.observe({ pool, outcome: error ? 'failed' : 'done' }, tookMs / 1000);
    if (slowStatementMs > 0 && tookMs >= slowStatementMs)
      logSlow(textOf(query), { took_ms: Math.round(tookMs), pool, ...trace });
    if (error) failSpan(span, error);
    span?.end();
  };
}

function logSlow(sql: string, more: object): void {
  const line = { sql: withoutValues(sql), ...more };
  // A statement that writes the log must not add to it.
  if (/\b(operation|login|system)_logs\b/.test(sql)) logger.info(line, slowStatement);
  else logger.warn(line, slowStatement);
}

// A statement outside any request or job, such as session settings, starts no trace.
function beginSpan(pool: string, query: unknown): Span | undefined {
  const parent = currentSpan();
  if (!parent?.isRecording()) return undefined;
  const text = withoutValues(textOf(query));
  const summary = summaryOf(text);
  const { host, port, name } = config.database;
  const attributes = {
    'db.system.name': 'mysql',
    'db.namespace': name,
    'db.query.text': text,
    'db.query.summary': summary,
    'server.address': host,
    'server.port': port,
    'back_office.pool': pool,
  };
  return startSpan(summary || 'statement', { kind: SpanKind.CLIENT, parent, attributes });
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  const { sql } = (query ?? {}) as { sql?: unknown };
  return typeof sql === 'string' ? sql : '';
}

/** The operation and table of a statement: `UPDATE orders`. */
export function summaryOf(sql: string): string {
  const verb = /^\w+/.exec(sql)?.[0].toUpperCase();
  const table = /^(?:UPDATE|.*?\b(?:FROM|INTO))\s+`?(\w+)/i.exec(sql)?.[1];
  return [verb, verb && table].filter(Boolean).join(' ');
}

/** The statement on one line, with `?` for texts and numbers. */
export function withoutValues(sql: string): string {
  return sql
    .slice(0, 4 * maxLogged)
    .replace(/'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?/gs, '?')
    .replace(/\b(?:0x[0-9a-f]+|\d+(?:\.\d+)?)\b/gi, '?')
    .replace(/(\?\s*,\s*){3,}\?/g, '?, …')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxLogged);
}
