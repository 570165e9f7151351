// Sends spans to a collector in batches in the background; spans that cannot be sent are dropped.
import { hostname } from 'node:os';
import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { config } from '../../../config/index.js';
import { withTimeout } from '../process/timers.js';
import { logger, throttled } from './logger.js';

/** Max spans in the buffer; more are dropped. About 1 KiB each. */
const maxQueueSize = 4096;
const maxExportBatchSize = 512;
const sendEveryMs = 2000;
/** At the end of the process. */
const lastSendMs = 2000;

/** Connects to the collector. @returns a factory of spans, and a function that sends the rest within 2 s */
export function openExport(process: 'api' | 'worker'): { tracer: Tracer; close: () => Promise<void> } {
  logFailures();
  const batches = { maxQueueSize, maxExportBatchSize, scheduledDelayMillis: sendEveryMs };
  const provider = new BasicTracerProvider({
    // What the operator sets wins.
    resource: resourceFromAttributes(describe(process)).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(), batches)],
  });
  const { version } = config;
  return {
    tracer: provider.getTracer('back-office', version),
    close: () => withTimeout(provider.shutdown(), lastSendMs, (resolve: () => void) => resolve()),
  };
}

function describe(process: 'api' | 'worker'): Record<string, string> {
  return {
    'service.name': 'back-office',
    'service.version': config.version,
    'service.instance.id': `${hostname()}-${globalThis.process.pid}`,
    'deployment.environment.name': config.app.production ? 'production' : 'development',
    'back_office.process': process,
    ...(config.app.tenant && { 'back_office.tenant': config.app.tenant }),
  };
}

function logFailures(): void {
  const warn = (message: string): void =>
    throttled('spans', (count) =>
      logger.warn({ count, reason: message.slice(0, 500) }, 'spans could not be sent'),
    );
  const ignore = (): void => undefined;
  const levels = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(levels, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
