// BullMQ's telemetry interface over the spans of this service (watch/tracing.ts). Adding and running a job are spans;
// BullMQ's housekeeping, such as the check for stalled jobs every 5 s, is not.
import type { Attributes, Span } from '@opentelemetry/api';
import type { Span as QueueSpan, Telemetry } from 'bullmq';
import { currentSpan, inNoContext, inSpan } from '../process/context.js';
import { failSpan, isTracing, spanNamed, startSpan, traceparentOf } from '../watch/tracing.js';

/** Name of the empty job that proves a worker alive; it gets no span. */
export const canaryName = 'canary';

/** The context BullMQ passes around: the span stored in a job, or the current one. */
interface Held {
  parent?: ReturnType<typeof spanNamed>;
  span?: Span;
}

type Kind = NonNullable<Parameters<Telemetry['tracer']['startSpan']>[1]>['kind'];

/** BullMQ's span kinds, numbered as those of OpenTelemetry. */
const producing: Kind = 3;
const consuming: Kind = 4;

/** The attributes that are exported, by their OpenTelemetry names. */
const exported: Record<string, string> = {
  'bullmq.queue.name': 'messaging.destination.name',
  'bullmq.queue.operation': 'messaging.operation.name',
  'bullmq.job.name': 'back_office.job',
  'bullmq.job.id': 'messaging.message.id',
};

/** For queues and workers; undefined when spans are off. */
export const queueTelemetry = (): Telemetry<Held> | undefined => (isTracing() ? telemetry : undefined);

const telemetry: Telemetry<Held> = {
  contextManager: {
    active: () => ({ span: currentSpan() }),
    with: ({ span }: Held, run) => {
      if (span === currentSpan()) return run() as ReturnType<typeof run>;
      return (span ? inSpan(span, run) : inNoContext(run)) as ReturnType<typeof run>;
    },
    root: () => ({}),
    getMetadata: ({ span }: Held) => (span ? traceparentOf(span) : ''),
    fromMetadata: (_active, metadata) => ({ parent: spanNamed(metadata) }),
  },
  tracer: {
    startSpan: (name, options, held) => asQueueSpan(begin(name, options?.kind, held)),
  },
};

function begin(name: string, kind: Kind | undefined, held: Held | undefined): Span | undefined {
  const attributes = { 'messaging.system': 'bullmq' };
  if (kind === consuming) return startSpan(name, { kind: consuming, parent: held?.parent, attributes });
  const parent = currentSpan();
  return kind === producing && parent ? startSpan(name, { kind: producing, parent, attributes }) : undefined;
}

function asQueueSpan(span: Span | undefined): QueueSpan<Held> {
  let isCanary = false;
  const setAttributes = (attributes: Record<string, unknown>): void => {
    isCanary ||= attributes['bullmq.job.name'] === canaryName;
    const known = Object.entries(attributes).filter(([name]) => name in exported);
    span?.setAttributes(
      Object.fromEntries(known.map(([name, value]) => [exported[name], value])) as Attributes,
    );
  };
  return {
    setSpanOnContext: (held) => (span ? { ...held, span } : held),
    setAttribute: (name, value) => setAttributes({ [name]: value }),
    setAttributes,
    addEvent: () => undefined,
    recordException: (error) => failSpan(span, error),
    end: () => {
      // A span that never ends is not sent.
      if (!isCanary) span?.end();
    },
  };
}
