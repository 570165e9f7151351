// Sends spans to a collector in batches in the background; spans that cannot be sent are dropped.
import { hostname } from 'node:os';
import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';
import { config } from '../../../config/index.js';
import { logger } from '../logger.js';
import { throttled } from '../log-throttle.js';
import { withTimeout } from '../with-timeout.js';

type Settings = NonNullable<typeof config.tracing>;

/** Max spans in the buffer; more are dropped. About 1 KiB each. */
const maxQueueSize = 4096;
const maxExportBatchSize = 512;
const sendEveryMs = 2000;
/** At the end of the process. */
const lastSendMs = 2000;

/** Connects to the collector. @returns a factory of spans, and a function that sends the rest within 2 s */
export function openExport(
  settings: Settings,
  process: 'api' | 'worker',
): { tracer: Tracer; close: () => Promise<void> } {
  logFailures();
  const { url, headers, timeoutMs: timeoutMillis } = settings;
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(describe(settings, process)),
    sampler: samplerOf(settings),
    spanProcessors: [
      new BatchSpanProcessor(exporter, {
        maxQueueSize,
        maxExportBatchSize,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: timeoutMillis,
      }),
    ],
  });
  const { version } = config;
  return {
    tracer: provider.getTracer('back-office', version),
    close: () => withTimeout(provider.shutdown(), lastSendMs, (resolve: () => void) => resolve()),
  };
}

function describe({ service, attributes }: Settings, process: 'api' | 'worker'): Record<string, string> {
  return {
    'service.name': service,
    'service.version': config.version,
    'service.instance.id': `${hostname()}-${globalThis.process.pid}`,
    'deployment.environment.name': config.app.production ? 'production' : 'development',
    'back_office.process': process,
    ...(config.app.tenant && { 'back_office.tenant': config.app.tenant }),
    ...attributes,
  };
}

function samplerOf({ sampler, ratio }: Settings): Sampler {
  const own = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const name = sampler.replace('parentbased_', '') as keyof typeof own;
  const root = own[name]();
  return name === sampler ? root : new ParentBasedSampler({ root });
}

function logFailures(): void {
  const tell = (message: string): void =>
    throttled('spans', (count) =>
      logger.warn({ count, reason: reasonOf(message) }, 'spans could not be sent'),
    );
  const ignore = (): void => undefined;
  const levels = { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(levels, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

// Errors arrive as JSON with their stack.
function reasonOf(message: string): string {
  try {
    const { name, code, message: words } = JSON.parse(message) as Record<string, unknown>;
    return [code ?? name, words].filter((part) => typeof part === 'string').join(': ');
  } catch {
    return message.slice(0, 500);
  }
}
