// Spans of requests, jobs and statements (docs/operations.md, Spans). Without a collector address tracing is off and
// its code is not loaded.
import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type SpanContext,
  type SpanKind,
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

export interface SpanOptions {
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
