// The metrics of this process in Prometheus format (docs/operations.md, Metrics).
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { config } from '../../../config/index.js';

const registry = new Registry();
const registers = [registry];

/** From a statement to a long report, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From a quick job to an export of an hour. */
const jobBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60, 600, 3600];

const histogram = <L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
  seconds = buckets,
) => new Histogram({ registers, buckets: seconds, name: `back_office_${name}`, help, labelNames });

export const requests = new Counter({
  registers,
  name: 'back_office_http_requests_total',
  help: 'requests answered',
  labelNames: ['method', 'route', 'status'] as const,
});

export const requestSeconds = histogram('http_request_seconds', 'from request to answer', [
  'method',
  'route',
]);

export const settlementSeconds = histogram(
  'settlement_seconds',
  'from a stored callback to its settlement; processing: not while its answer could wait',
  ['verdict'],
);

const channelSeconds = histogram(
  'channel_request_seconds',
  'requests to payment companies; failed: nothing was learned',
  ['type', 'operation', 'outcome'],
);

/** Times a request to a company. */
export async function measured<T>(type: string, operation: string, request: () => Promise<T>): Promise<T> {
  const stop = channelSeconds.startTimer({ type, operation });
  try {
    const answer = await request();
    stop({ outcome: 'answered' });
    return answer;
  } catch (error) {
    stop({ outcome: 'failed' });
    throw error;
  }
}

export const jobSeconds = histogram('job_seconds', 'runs of jobs', ['job', 'outcome'], jobBuckets);

export const jobWaitSeconds = histogram(
  'job_wait_seconds',
  'from when a job was due to its run',
  ['job'],
  jobBuckets,
);

export const statementSeconds = histogram('database_statement_seconds', 'statements', ['pool', 'outcome']);

/** The values of a gauge: label values, joined by a blank, and number. */
export type Figures = Record<string, number>;

/**
 * A gauge read at each scrape; on failure it has no value.
 *
 * @param labels names of its labels, in the order of the keys
 */
export function gauge(
  name: string,
  help: string,
  labels: readonly string[],
  read: () => Figures | Promise<Figures>,
): void {
  new Gauge({
    registers,
    name: `back_office_${name}`,
    help,
    labelNames: labels,
    async collect() {
      this.reset();
      const figures = await Promise.resolve()
        .then(read)
        .catch(() => ({}));
      for (const [key, value] of Object.entries(figures)) {
        const words = key.split(' ');
        this.set(Object.fromEntries(labels.map((label, at) => [label, words[at] ?? ''])), value);
      }
    },
  });
}

interface PoolUse {
  max: number;
  size: number;
  using: number;
  waiting: number;
}

const pools = new Map<string, () => PoolUse>();

export function watchPool(name: string, use: () => PoolUse): void {
  pools.set(name, use);
}

gauge('database_connections', 'connections of a pool, and who waits for one', ['pool', 'state'], () =>
  Object.fromEntries(
    [...pools].flatMap(([name, use]) => {
      const { max, size, using, waiting } = use();
      return Object.entries({ max, using, idle: size - using, waiting }).map(([state, count]) => [
        `${name} ${state}`,
        count,
      ]);
    }),
  ),
);

gauge('info', 'the release that runs', ['version'], () => ({ [config.version]: 1 }));

/** Starts Node's process metrics: processor, memory, event loop, garbage collection. */
export function watchProcess(name: 'api' | 'worker'): void {
  registry.setDefaultLabels({ process: name });
  collectDefaultMetrics({ register: registry });
}

/** Everything in Prometheus text format. */
export const exposition = (): Promise<string> => registry.metrics();

export const expositionType = registry.contentType;
