// Every statement is timed; one that takes longer than SLOW_STATEMENT_MS is a log line, under the trace id of who sent it.
import { config } from '../../../config/index.js';
import { currentTraceId } from '../context.js';
import { logger } from '../logger.js';
import { statementSeconds } from './metrics.js';

const { slowStatementMs } = config.monitoring;
const maxLogged = 2000;

/** Takes the time of a statement. @returns what to call at its end, with its error if it has failed */
export function noteStatement(pool: string, query: unknown): (error: unknown) => void {
  const sentAt = performance.now();
  // Its answer arrives in the context that opened the connection.
  const traceId = currentTraceId();
  return (error) => {
    const tookMs = performance.now() - sentAt;
    statementSeconds.observe({ pool, outcome: error ? 'failed' : 'done' }, tookMs / 1000);
    if (slowStatementMs > 0 && tookMs >= slowStatementMs) tell(pool, textOf(query), tookMs, traceId);
  };
}

function tell(pool: string, sql: string, tookMs: number, traceId: string | undefined): void {
  const line = { sql: withoutValues(sql), took_ms: Math.round(tookMs), pool, trace_id: traceId };
  // One that writes the log must not make it longer.
  if (/\b(log_outbox|\w+_logs)\b/.test(sql)) logger.info(line, 'slow statement');
  else logger.warn(line, 'slow statement');
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  const { sql } = (query ?? {}) as { sql?: unknown };
  return typeof sql === 'string' ? sql : '';
}

/** The statement with `?` for texts and numbers that stand in it, on one line. */
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
