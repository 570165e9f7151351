// The header that propagates a trace between processes (W3C Trace Context, traceparent).
import type { Span, SpanContext } from '@opentelemetry/api';

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The span named by a header; undefined when malformed. */
export function spanNamed(traceparent = ''): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(traceparent.trim()) ?? [];
  const isUsable = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isUsable || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** The header for a span. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
