// Seeded random numbers: the data of a day is the same in every run.

export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number between both, which may come up. */
  between(least: number, most: number): number;
  pick<T>(all: readonly T[]): T;
  /** Whether something of that probability happens. */
  happens(probability: number): boolean;
}

/** @param seed any number; mulberry32 */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick: <T>(all: readonly T[]): T => all[between(0, all.length - 1)] as T,
    happens: (probability) => next() < probability,
  };
}
