// Counters of failed attempts and of requests, shared by all processes; each counts alone while Redis is unavailable.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { key, matchingKeys, redis } from './redis.js';

interface AttemptLimit {
  name: string;
  /** Failures that lock. */
  points: number;
  /** How long failures are counted. */
  windowSeconds: number;
  lockSeconds: number;
}

/** Locks a subject after too many failures. */
export class Attempts {
  readonly #shared: RateLimiterRedis;
  /** Counts made without Redis; they remain in force when Redis is back. */
  readonly #alone: RateLimiterMemory;
  readonly #points: number;
  readonly #prefix: string;

  constructor({ name, points, windowSeconds, lockSeconds }: AttemptLimit) {
    // The limiter locks after its last point, so it gets one point less than the limit.
    const limits = {
      points: points - 1,
      duration: windowSeconds,
      blockDuration: lockSeconds,
      keyPrefix: key('attempts', name),
    };
    this.#points = points;
    this.#prefix = limits.keyPrefix;
    this.#shared = new RateLimiterRedis({ ...limits, storeClient: redis });
    this.#alone = new RateLimiterMemory(limits);
  }

  /** Failures counted now, and the seconds a locked subject still has to wait (0 when it is not locked). */
  async state(subject: string): Promise<{ failures: number; lockedFor: number }> {
    const shared = await this.#shared.get(subject).catch(() => null);
    const { failures, waitMs } = sumOf(shared, await this.#alone.get(subject));
    return { failures, lockedFor: failures >= this.#points ? Math.ceil(waitMs / 1000) : 0 };
  }

  /**
   * Counts a failure; the one that reaches the limit locks the subject.
   *
   * @returns seconds to wait if the subject was already locked, else 0: of concurrent attempts no more than the limit
   * get 0
   */
  async countFailure(subject: string): Promise<number> {
    const shared = await countIn(this.#shared, subject).catch(() => null);
    const alone = shared ? await this.#alone.get(subject) : await countIn(this.#alone, subject);
    const { failures, waitMs } = sumOf(shared, alone);
    return failures > this.#points ? Math.ceil(waitMs / 1000) : 0;
  }

  /** Forgets all failures. */
  async clear(subject: string): Promise<void> {
    await this.#alone.delete(subject);
    await this.#shared.delete(subject).catch(() => false);
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

/** @throws Error when Redis is unavailable */
function countIn(limiter: RateLimiterRedis | RateLimiterMemory, subject: string): Promise<RateLimiterRes> {
  return limiter.consume(subject).catch((refusal: unknown) => {
    if (refusal instanceof RateLimiterRes) return refusal;
    throw refusal;
  });
}

function sumOf(...counts: (RateLimiterRes | null)[]): { failures: number; waitMs: number } {
  const known = counts.filter((count) => count !== null);
  return {
    failures: known.reduce((sum, { consumedPoints }) => sum + consumedPoints, 0),
    waitMs: Math.max(0, ...known.map(({ msBeforeNext }) => msBeforeNext)),
  };
}

interface Refusal {
  limit: number;
  /** Seconds until a retry makes sense. */
  retryAfter: number;
}

/** Limits the requests of a subject per minute. */
export class RateLimit {
  readonly #limit: number;
  readonly #limiter: RateLimiterRedis;

  constructor(name: string, limit: number) {
    const options = { points: limit, duration: 60, keyPrefix: key('rate', name) };
    this.#limit = limit;
    this.#limiter = new RateLimiterRedis({
      ...options,
      storeClient: redis,
      // What is refused costs no command.
      inMemoryBlockOnConsumed: limit,
      insuranceLimiter: new RateLimiterMemory(options),
    });
  }

  /** Counts one request. @returns undefined within the limit */
  async take(subject: string): Promise<Refusal | undefined> {
    try {
      await this.#limiter.consume(subject);
      return undefined;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { limit: this.#limit, retryAfter: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
    }
  }
}
