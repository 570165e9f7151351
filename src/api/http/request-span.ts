// The span of a request: its operation and outcome. Client, address and input are in the log under the same trace id;
// a span has no personal data.
import { SpanKind, type Span } from '@opentelemetry/api';
import type { Context } from 'koa';
import { failSpan, isTracing, startSpan } from '../../lib/watch/tracing.js';
import { spanNamed } from '../../lib/watch/traceparent.js';

/** Health checks and static files have no span. */
const traced = /^\/api\//;

/** Starts the span of a request, in the trace it brings (`traceparent`) or in a new one. */
export function beginRequestSpan(ctx: Context, traceId: string): Span | undefined {
  if (!isTracing() || !traced.test(ctx.path)) return undefined;
  const attributes = { 'http.request.method': ctx.method, 'back_office.trace_id': traceId };
  const parent = spanNamed(ctx.get('traceparent'));
  return startSpan(ctx.method, { kind: SpanKind.SERVER, parent, attributes });
}

/**
 * @param route method and path of the matched route; undefined when there is none
 */
export function endRequestSpan(span: Span | undefined, { status }: Context, route: string | undefined): void {
  if (!span) return;
  if (route !== undefined) {
    span.updateName(route);
    span.setAttribute('http.route', route.slice(route.indexOf(' ') + 1));
  }
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) failSpan(span, String(status));
  span.end();
}
