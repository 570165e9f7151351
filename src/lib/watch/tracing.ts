// Spans of requests, jobs and statements (docs/operations.md, Spans). Without an address to send them to none is made, and
// what makes and sends them is not even loaded.
import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Link,
  type Span,
  type SpanContext,
  type SpanKind,
  type Tracer,
} from '@opentelemetry/api';
import { config } from '../../../config/index.js';

/** Where nobody but the error log says what was wrong: a name, never the words of an error, which may hold values. */
const unnamed = '_OTHER';

let tracer: Tracer | undefined;

/** Begins to make spans if they have somewhere to go. @returns sends what is left; it takes 2 s at most */
export async function startTracing(process: 'api' | 'worker'): Promise<() => Promise<void>> {
  if (config.tracing === undefined) return () => Promise.resolve();
  const { openExport } = await import('./span-export.js');
  const { close, ...opened } = openExport(config.tracing, process);
  tracer = opened.tracer;
  return () => {
    tracer = undefined;
    return close();
  };
}

export const isTracing = (): boolean => tracer !== undefined;

export interface SpanOptions {
  kind: SpanKind;
  /** The span it is a part of, here or in another process; none: it begins a trace. */
  parent?: Span | SpanContext;
  attributes?: Attributes;
  links?: Link[];
}

/** Begins a span, which must be ended; undefined when none are made. */
export function startSpan(name: string, { parent, ...options }: SpanOptions): Span | undefined {
  return tracer?.startSpan(name, options, parent ? around(parent) : ROOT_CONTEXT);
}

const around = (parent: Span | SpanContext) =>
  'spanContext' in parent ? trace.setSpan(ROOT_CONTEXT, parent) : trace.setSpanContext(ROOT_CONTEXT, parent);

/** Marks a span as failed. @param error its name is told */
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
