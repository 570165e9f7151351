// Counters of failed attempts, atomic and shared by all processes; each process counts alone while Redis is unavailable.
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { key, matchingKeys, redis } from './redis.js';

export interface AttemptLimit {
  name: string;
  /** Failures that lock. */
  points: number;
  /** Seconds over which failures are counted. */
  window: number;
  /** Seconds a lock lasts. */
  lock: number;
}

export class Attempts {
  readonly #limiter: RateLimiterRedis;
  readonly #points: number;
  readonly #prefix: string;

  constructor({ name, points, window, lock }: AttemptLimit) {
    // The limiter locks after its last point, so it gets one point less than the limit.
    const limits = {
      points: points - 1,
      duration: window,
      blockDuration: lock,
      keyPrefix: key('attempts', name),
    };
    this.#points = points;
    this.#prefix = limits.keyPrefix;
    this.#limiter = new RateLimiterRedis({
      ...limits,
      storeClient: redis,
      insuranceLimiter: new RateLimiterMemory(limits),
    });
  }

  /** Failures counted now, and the seconds a locked subject still has to wait (0 when it is not locked). */
  async state(subject: string): Promise<{ failures: number; lockedFor: number }> {
    const found = await this.#limiter.get(subject);
    if (!found) return { failures: 0, lockedFor: 0 };
    const failures = found.consumedPoints;
    return { failures, lockedFor: failures >= this.#points ? Math.ceil(found.msBeforeNext / 1000) : 0 };
  }

  /**
   * Counts a failure; the one that reaches the limit locks the subject.
   *
   * @returns seconds to wait if the subject was already locked, else 0. Concurrent attempts are checked only up
   * to the limit
   */
  async fail(subject: string): Promise<number> {
    const counted = await this.#limiter.consume(subject).catch((refusal: unknown) => {
      if (isRefusal(refusal)) return refusal;
      throw refusal;
    });
    return counted.consumedPoints > this.#points ? Math.ceil(counted.msBeforeNext / 1000) : 0;
  }

  /** Forgets all failures. */
  async clear(subject: string): Promise<void> {
    await this.#limiter.delete(subject);
  }

  /**
   * Resets all failures of matching subjects. Scans every key, so it is not for requests.
   *
   * @param pattern a subject, or a part of one with `*`
   * @returns number of counters removed
   */
  async clearMatching(pattern: string): Promise<number> {
    const match = `${this.#prefix}:${pattern}`;
    let cleared = 0;
    for await (const keys of matchingKeys(match)) cleared += await redis.unlink(...keys);
    return cleared;
  }
}

function isRefusal(value: unknown): value is RateLimiterRes {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value;
}
