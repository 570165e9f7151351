// Rate limits per subject and minute over all processes.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { key, redis } from './redis.js';

const seconds = 60;
/**
 * Processes publish their counts in steps of 1 % of the limit, so most requests need no round trip to Redis.
 */
const parts = 100;

export interface Refusal {
  limit: number;
  /** Seconds until a retry makes sense. */
  retryAfter: number;
}

export class RateLimit {
  readonly #limit: number;
  readonly #step: number;
  readonly #local: RateLimiterMemory;
  readonly #shared: RateLimiterRedis;

  constructor(name: string, limit: number) {
    const options = { points: limit, duration: seconds, keyPrefix: key('rate', name) };
    this.#limit = limit;
    this.#step = Math.max(1, Math.floor(limit / parts));
    this.#local = new RateLimiterMemory(options);
    this.#shared = new RateLimiterRedis({
      ...options,
      storeClient: redis,
      insuranceLimiter: new RateLimiterMemory(options),
    });
  }

  /**
   * Counts one request.
   *
   * @returns undefined within the limit. Unpublished counts of all processes may exceed it together by their
   * steps; without Redis each process counts alone
   */
  async take(subject: string): Promise<Refusal | undefined> {
    try {
      const { consumedPoints } = await this.#local.consume(subject);
      if (consumedPoints % this.#step === 0) await this.#takeTogether(subject);
      return undefined;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { limit: this.#limit, retryAfter: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
    }
  }

  async #takeTogether(subject: string): Promise<void> {
    try {
      await this.#shared.consume(subject, this.#step);
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes)
        await this.#local.block(subject, Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)));
      throw refusal;
    }
  }
}
