// Consumes the jobs of a queue.
import { setMaxListeners } from 'node:events';
import { Worker, type Job } from 'bullmq';
import { config } from '../../config/index.js';
import { currentSpan, inContext } from '../lib/process/context.js';
import { every } from '../lib/process/timers.js';
import { defaultLanguage } from '../lib/values/language.js';
import { logger, throttled } from '../lib/watch/logger.js';
import { queueTelemetry } from '../lib/queue/telemetry.js';
import type { Envelope } from '../lib/queue/queue.js';
import { queuePrefix, type QueueName } from '../lib/queue/names.js';
import { closeConnection, openConnection } from '../lib/redis/connection.js';
import { newUlid } from '../lib/secrets/random-id.js';
import { abandonLost, runOnce } from './run.js';

export interface RunningWorker {
  queue: QueueName;
  concurrency: number;
  /** Jobs running in this process now. */
  active(): number;
  /** Jobs that have ended in this process. */
  ended(): number;
  /** Resolves when it is connected and takes jobs. */
  ready(): Promise<unknown>;
  /** Takes no more jobs; those not ended within half of the shutdown time are interrupted and left to other workers. */
  close(): Promise<void>;
}

/** Max interval of the search for jobs whose lock has expired. */
const maxStallCheckMs = 5000;

/** Longer than BullMQ waits for a job in one command (10 s and 1 s of grace); after that the connection is dead. */
const silenceMs = 12_000;

/** Pause after a failed command. */
const retryEveryMs = 1000;

const concurrencies: Record<QueueName, number> = {
  payments: config.worker.concurrency,
  // Each waits for a company, which may not answer; their rate is limited below.
  channels: 50,
  // Each writes up to 200 entries at once.
  logs: 1,
  notifications: 10,
  // A small file need not wait for a large one.
  exports: 2,
  imports: 2,
  files: 2,
  maintenance: config.worker.concurrency,
};

// One that is lost, or cannot be renewed, leaves the job to another run.
const renewLock = (queued: Job, token = ''): Promise<unknown> =>
  queued.extendLock(token, config.worker.jobLockMs).catch(() => undefined);

/** Starts consuming a queue. */
export function consume(queue: QueueName): RunningWorker {
  const concurrency = concurrencies[queue];
  const stopping = new AbortController();
  // Every running job listens.
  setMaxListeners(0, stopping.signal);
  // Commands in flight when Redis is lost are sent again: ioredis would drop them without rejecting, and the consumer
  // would wait for ever. BullMQ's scripts may run twice. Its second connection, for waiting, gets the same options.
  const connection = openConnection(`${queue} consumer`, {
    maxRetriesPerRequest: null,
    autoResendUnfulfilledCommands: true,
    socketTimeout: silenceMs,
  });
  let [active, ended] = [0, 0];
  const worker = new Worker<Envelope>(
    queue,
    async (queued, token) => {
      const traceId = queued.data.trace_id ?? newUlid();
      const context = { traceId, language: defaultLanguage, span: currentSpan() };
      active++;
      const stopRenewing = every(config.worker.jobLockMs / 3, () => renewLock(queued, token));
      try {
        return await inContext(context, () => runOnce(queued, token, stopping.signal));
      } finally {
        stopRenewing();
        active--;
        ended++;
      }
    },
    {
      prefix: queuePrefix(queue),
      connection,
      telemetry: queueTelemetry(),
      concurrency,
      ...(queue === 'channels' ? { limiter: { max: config.payments.asksPerSecond, duration: 1000 } } : {}),
      // By default a job whose worker died runs again within 20 s, up to 20 times (docs/operations.md, Outages).
      lockDuration: config.worker.jobLockMs,
      // BullMQ renews by the id of a job: once a run that had lost its lock ends, it would renew no lock of
      // the run after it.
      skipLockRenewal: true,
      stalledInterval: Math.min(maxStallCheckMs, config.worker.jobLockMs / 2),
      maxStalledCount: 20,
      // Jobs say this themselves, but not one that Redis has lost but for its id: what stayed of it would
      // keep out its successor.
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      // BullMQ would pause for 15 s after a failed command.
      runRetryDelay: retryEveryMs,
    },
  );
  // A command that fails is tried again ten times a second.
  worker.on('error', (error) =>
    throttled(`${error.name} of ${queue}`, (count) =>
      logger.warn({ error, queue, count }, 'a worker connection failed'),
    ),
  );
  worker.on('failed', (queued, error) => void abandonLost(queued, error));
  return {
    queue,
    concurrency,
    active: () => active,
    ended: () => ended,
    ready: () => worker.waitUntilReady(),
    async close() {
      const timer = setTimeout(() => stopping.abort(), config.app.shutdownMs / 2);
      await worker.close();
      clearTimeout(timer);
      closeConnection(connection);
    },
  };
}
