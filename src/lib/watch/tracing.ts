// Spans of requests, jobs and statements (docs/operations.md, Spans). Without a collector address tracing is off and
// its code is not loaded.
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { config } from '../../../config/index.js';

/** Only a name, never the message of an error, which may contain values. */
const unnamed = '_OTHER';

let tracer: Tracer | undefined;

/** Starts tracing if an address is set. @returns a function that sends the rest within 2 s */
export async function startTracing(process: 'api' | 'worker'): Promise<() => Promise<void>> {
  if (!config.watching.tracing) return () => Promise.resolve();
  const { openExport } = await import('./span-export.js');
  const { close, ...opened } = openExport(process);
  tracer = opened.tracer;
  return () => {
    tracer = undefined;
    return close();
  };
}

export const isTracing = (): boolean => tracer !== undefined;

interface SpanOptions {
  kind: SpanKind;
  /** The parent span, here or in another process; without one it starts a trace. */
  parent?: Span | SpanContext;
  attributes?: Attributes;
}

/** Starts a span, which must be ended; undefined when tracing is off. */
export function startSpan(name: string, { parent, ...options }: SpanOptions): Span | undefined {
  return tracer?.startSpan(name, options, parent ? around(parent) : ROOT_CONTEXT);
}

const around = (parent: Span | SpanContext) =>
  'spanContext' in parent ? trace.setSpan(ROOT_CONTEXT, parent) : trace.setSpanContext(ROOT_CONTEXT, parent);

/**
 * Marks a span as failed.
 *
 * @param error only its name is recorded
 */
export function failSpan(span: Span | undefined, error: unknown): void {
  if (!span?.isRecording()) return;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', typeof error === 'string' ? error : nameOf(error));
}

function nameOf(error: unknown): string {
  const { code, name, cause } = (error ?? {}) as { code?: unknown; name?: string; cause?: unknown };
  if (typeof code === 'string') return code;
  const inner = (cause as { code?: unknown } | undefined)?.code;
  return typeof inner === 'string' ? inner : (name ?? unnamed);
}

/** A traceparent header, which propagates a trace between processes (W3C Trace Context). */
const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The span named by a traceparent header; undefined when malformed. */
export function spanNamed(traceparent = ''): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(traceparent.trim()) ?? [];
  const isUsable = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isUsable || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** The traceparent header for a span. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
