// Consumes a lane of a queue over connections that can be replaced while its jobs run.
import { setMaxListeners } from 'node:events';
import { Worker } from 'bullmq';
import { config } from '../../config/index.js';
import { currentSpan, inContext } from '../lib/context.js';
import { defaultLanguage } from '../lib/language.js';
import { logger } from '../lib/logger.js';
import { queueTelemetry } from '../lib/queue/telemetry.js';
import type { Envelope } from '../lib/queue/queue.js';
import { queuePrefix, type Lane, type QueueName } from '../lib/queue/names.js';
import { closeConnection, openConnection } from '../lib/redis/connection.js';
import { newUlid } from '../lib/secrets/random-id.js';
import { processTime } from '../lib/process/process-time.js';
import { abandonLost, piecesOf } from './abandonment.js';
import { runOnce } from './run.js';

export interface RunningWorker {
  queue: QueueName;
  lane: Lane;
  concurrency: number;
  /** Jobs running in this process now. */
  active(): number;
  /** When a job last ended here, in `processTime()`. */
  lastEnd(): number;
  /** Resolves when it is connected and takes jobs. */
  ready(): Promise<unknown>;
  /** Goes on over new connections, where those in use have gone silent; jobs that run end as they would. */
  renew(): void;
  /** Takes no more jobs; what has not ended within half of SHUTDOWN_SECONDS is interrupted and left to others. */
  close(): Promise<void>;
}

/** Max interval of the search for jobs whose lock has expired. */
const maxStallCheckMs = 5000;

/** Longer than BullMQ waits for a job in one command (10 s and 1 s of grace); then the connection counts as dead. */
const silenceMs = 12_000;

/** Pause after a failed command. */
const retryEveryMs = 1000;

const concurrencies: Record<QueueName, number> = {
  payments: config.worker.concurrency,
  // Each moves everything that waits.
  logs: 1,
  notifications: 10,
  // A small file need not wait for a large one.
  exports: 2,
  imports: 2,
  files: 2,
  maintenance: config.worker.concurrency,
};

/** Starts consuming a lane of a queue. */
export function consume(queue: QueueName, lane: Lane = 0): RunningWorker {
  let lastEnd = processTime();
  const stopping = new AbortController();
  // Each job that runs listens.
  setMaxListeners(0, stopping.signal);
  const begin = (): Consumer => connect(queue, lane, stopping.signal, () => (lastEnd = processTime()));
  let consumer = begin();
  const consumers = new Set([consumer]);
  return {
    queue,
    lane,
    concurrency: concurrencies[queue],
    active: () => consumer.active(),
    lastEnd: () => lastEnd,
    ready: () => consumer.worker.waitUntilReady(),
    renew() {
      logger.warn({ queue }, 'the consumer is silent and is connected anew');
      const silent = consumer;
      consumer = begin();
      consumers.add(consumer);
      void silent.retire().then(() => consumers.delete(silent));
    },
    async close() {
      const timer = setTimeout(() => stopping.abort(), config.app.shutdownMs / 2);
      await Promise.all([...consumers].map((one) => (one === consumer ? one.close() : one.retire())));
      clearTimeout(timer);
    },
  };
}

/** A worker of BullMQ and its connections. */
interface Consumer {
  worker: Worker<Envelope>;
  active(): number;
  /** Takes no more jobs; resolves when those that run have ended. */
  close(): Promise<void>;
  /** The same without waiting for what is asked of Redis: it may never be answered. */
  retire(): Promise<void>;
}

function connect(queue: QueueName, lane: Lane, stopping: AbortSignal, onEnd: () => void): Consumer {
  // What was under way when Redis went is sent again: ioredis would forget it without rejecting it, and the consumer would
  // wait for its answer for ever. BullMQ's scripts may run twice. It waits for jobs on a second connection with these options.
  const connection = openConnection(`${queue} consumer`, {
    maxRetriesPerRequest: null,
    autoResendUnfulfilledCommands: true,
    socketTimeout: silenceMs,
  });
  const running = new Set<Promise<unknown>>();
  const worker = new Worker<Envelope>(
    queue,
    async (queued, token) => {
      const traceId = piecesOf(queued)[0]?.trace_id ?? newUlid();
      const context = { traceId, language: defaultLanguage, span: currentSpan() };
      const run = inContext(context, () => runOnce(queued, token, stopping));
      running.add(run);
      try {
        return await run;
      } finally {
        running.delete(run);
        onEnd();
      }
    },
    {
      prefix: queuePrefix(queue, lane),
      connection,
      telemetry: queueTelemetry(),
      concurrency: concurrencies[queue],
      // By default a job whose worker died runs again within 20 s, as often as it takes (docs/architecture.md).
      lockDuration: config.worker.jobLockMs,
      stalledInterval: Math.min(maxStallCheckMs, config.worker.jobLockMs / 2),
      maxStalledCount: 20,
      // By default it would rest for 15 s after a command that failed.
      runRetryDelay: retryEveryMs,
    },
  );
  worker.on('error', (error) => logger.warn({ error, queue }, 'a worker connection failed'));
  worker.on('failed', (queued, error) => void abandonLost(queued, error));
  return {
    worker,
    active: () => running.size,
    async close() {
      await worker.close();
      closeConnection(connection);
    },
    async retire() {
      // Its jobs keep their locks until they have ended.
      await worker.pause(true);
      await Promise.allSettled(running);
      closeConnection(connection);
      await worker.close(true);
    },
  };
}
