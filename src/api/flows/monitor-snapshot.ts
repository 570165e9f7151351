// The live figures of this process, sampled once a second at most, and those of the last half hour.
import { LRUCache } from 'lru-cache';
import { now } from '../../lib/values/clock.js';
import { select } from '../../lib/database/db.js';
import { patientRedis, tryWrite } from '../../lib/redis/redis.js';
import { sampleSystem } from '../../lib/process/system-info.js';
import { listQueues } from '../../models/office/queue-list.js';
import { countSockets } from '../http/live-connections.js';

async function sample() {
  const [system, queues, database, cache] = await Promise.all([
    sampleSystem(),
    // None while Redis or the database is unavailable.
    listQueues().catch(() => []),
    probe(() => select('SELECT 1')),
    // A slow one is up; its latency says how slow.
    probe(() => tryWrite(patientRedis)),
  ]);
  return { ...system, websocket: { connections: countSockets() }, queues, database, redis: cache };
}

// Streams ask every second at most; slightly less, so that drifting timers still share a sample.
const samples = new LRUCache<'system', Awaited<ReturnType<typeof sample>>>({
  max: 1,
  ttl: 900,
  fetchMethod: sample,
});

export const monitorSnapshot = () => samples.forceFetch('system');

const pastEveryMs = 10_000;
const pastSamples = 180;

async function pastSample() {
  const { cpu, memory, runtime, queues, database, redis } = await monitorSnapshot();
  const jobs = (state: 'waiting' | 'active' | 'failed') =>
    queues.reduce((sum, queue) => sum + queue[state], 0);
  return {
    at: now(),
    cpu: cpu.percent,
    memory: memory.percent,
    event_loop_lag_ms: runtime.event_loop_lag_ms,
    waiting: jobs('waiting'),
    active: jobs('active'),
    failed: jobs('failed'),
    oldest_seconds: Math.max(0, ...queues.map(({ oldest_seconds }) => oldest_seconds)),
    database_ms: database.latency_ms,
    redis_ms: redis.latency_ms,
  };
}

const past: Awaited<ReturnType<typeof pastSample>>[] = [];

/** The samples of the last half hour, oldest first. */
export const monitorHistory = (): typeof past => past;

/** Takes a sample every ten seconds, so that a monitor does not begin empty. @returns a function that stops it */
export function watchMonitor(): () => void {
  const take = async (): Promise<void> => {
    past.push(await pastSample());
    if (past.length > pastSamples) past.shift();
  };
  const timer = setInterval(() => void take().catch(() => undefined), pastEveryMs).unref();
  return () => clearInterval(timer);
}

async function probe(
  question: () => Promise<unknown>,
): Promise<{ status: 'up' | 'down'; latency_ms: number }> {
  const started = performance.now();
  const status = await question().then(
    () => 'up' as const,
    () => 'down' as const,
  );
  return { status, latency_ms: Math.round((performance.now() - started) * 100) / 100 };
}
