// Chance that repeats itself: the same seed and number draw the same values.

/** Draws for one request. */
export class Random {
  readonly #seed: number;
  readonly #index: number;
  #state: number;

  constructor(seed: number, index: number) {
    [this.#seed, this.#index] = [seed, index];
    this.#state = (Math.imul(seed | 1, 2_654_435_761) ^ Math.imul(index + 1, 40_503)) | 0 || 1;
    // The first numbers of near seeds are near each other.
    for (let drawn = 0; drawn < 8; drawn++) this.#next();
  }

  /** Whole numbers from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.#next() / 2 ** 32) * limit);
  }

  chance(of: number): boolean {
    return this.#next() / 2 ** 32 < of;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** The value whose turn it is: requests draw each once, in an order of its own each time round. */
  turn<T>(values: readonly T[]): T {
    const order = new Random(this.#seed, -2 - Math.floor(this.#index / values.length));
    const waiting = [...values];
    for (let at = 0; at < this.#index % values.length; at++) waiting.splice(order.below(waiting.length), 1);
    return order.pick(waiting);
  }

  /** Those values that chance chooses. */
  some<T>(values: readonly T[], chance: number): T[] {
    return values.filter(() => this.chance(chance));
  }

  // Marsaglia's xorshift.
  #next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return this.#state >>> 0;
  }
}
