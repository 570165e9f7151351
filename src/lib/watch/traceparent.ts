// The header by which a trace goes from one process to the next (W3C Trace Context, traceparent).
import type { Span, SpanContext } from '@opentelemetry/api';

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The span that a header names; undefined when it names none. */
export function spanNamed(traceparent = ''): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(traceparent.trim()) ?? [];
  const isUsable = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isUsable || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** The header that names a span. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
