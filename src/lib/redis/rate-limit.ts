// Rate limits per subject and minute over all processes; without Redis each process counts alone.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { key, redis } from './redis.js';

export interface Refusal {
  limit: number;
  /** Seconds until a retry makes sense. */
  retryAfter: number;
}

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
