// The live figures of this process, sampled at most once a second however many ask.
import { LRUCache } from 'lru-cache';
import { select } from '../../lib/database/db.js';
import { patientRedis } from '../../lib/redis/redis.js';
import { sampleSystem } from '../../lib/process/system-info.js';
import { queueFigures } from './queue-figures.js';
import { countSockets } from '../http/live-connections.js';

async function sample() {
  const [system, queues, database, cache] = await Promise.all([
    sampleSystem(),
    // None while Redis or the database is unavailable.
    queueFigures().catch(() => []),
    probe(() => select('SELECT 1')),
    // One that is merely slow is up; its latency says how slow.
    probe(() => patientRedis.ping()),
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
