// Counts occurrences of up to millions of keys in typed arrays: 12 bytes per slot, at most half of them used.

/** The slot of a key. */
export type Slot = number;

const scatteredFlag = 0x8000_0000;
const settledFlag = 0x4000_0000;
const countMask = 0x3fff_ffff;

/** Keys are compared by a 64-bit hash: with a million distinct keys a collision has a probability of 1 in 37 million. */
export class KeyCounter {
  #capacity = 1 << 12;
  #used = 0;
  #low = new Uint32Array(this.#capacity);
  #high = new Uint32Array(this.#capacity);
  #counts = new Uint32Array(this.#capacity);
  #last = '';
  #lastSlot: Slot = -1;
  #hashLow = 0;
  #hashHigh = 0;

  /** Counts a key. A key that comes back after another one is scattered. */
  add(text: string): void {
    if (text === this.#last && this.#lastSlot >= 0) {
      this.#bump(this.#lastSlot);
      return;
    }
    this.#hash(text);
    let slot = this.#probe(this.#hashLow, this.#hashHigh);
    if (this.#counts[slot] === 0) {
      if (this.#used * 2 >= this.#capacity) {
        this.#grow();
        slot = this.#probe(this.#hashLow, this.#hashHigh);
      }
      this.#used++;
      this.#low[slot] = this.#hashLow;
      this.#high[slot] = this.#hashHigh;
    } else {
      this.#counts[slot] = (this.#counts[slot] as number) | scatteredFlag;
    }
    this.#bump(slot);
    this.#last = text;
    this.#lastSlot = slot;
  }

  /** Ends the current run of equal keys. */
  interrupt(): void {
    this.#lastSlot = -1;
  }

  /** The slot of a counted key. */
  find(text: string): Slot {
    this.#hash(text);
    return this.#probe(this.#hashLow, this.#hashHigh);
  }

  count(slot: Slot): number {
    return (this.#counts[slot] as number) & countMask;
  }

  isScattered(slot: Slot): boolean {
    return ((this.#counts[slot] as number) & scatteredFlag) !== 0;
  }

  /** A flag for the caller. */
  settle(slot: Slot): void {
    this.#counts[slot] = (this.#counts[slot] as number) | settledFlag;
  }

  isSettled(slot: Slot): boolean {
    return ((this.#counts[slot] as number) & settledFlag) !== 0;
  }

  #bump(slot: Slot): void {
    this.#counts[slot] = (this.#counts[slot] as number) + 1;
  }

  #probe(lowHalf: number, highHalf: number): Slot {
    const mask = this.#capacity - 1;
    let slot = lowHalf & mask;
    while (this.#counts[slot] !== 0 && (this.#low[slot] !== lowHalf || this.#high[slot] !== highHalf))
      slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [oldLow, oldHigh, oldCounts] = [this.#low, this.#high, this.#counts];
    this.#capacity *= 2;
    this.#low = new Uint32Array(this.#capacity);
    this.#high = new Uint32Array(this.#capacity);
    this.#counts = new Uint32Array(this.#capacity);
    for (let old = 0; old < oldCounts.length; old++) {
      if (oldCounts[old] === 0) continue;
      const slot = this.#probe(oldLow[old] as number, oldHigh[old] as number);
      this.#low[slot] = oldLow[old] as number;
      this.#high[slot] = oldHigh[old] as number;
      this.#counts[slot] = oldCounts[old] as number;
    }
  }

  // Two 32-bit multiplicative hashes mixed at the end (cyrb53 without its final truncation).
  #hash(text: string): void {
    let one = 0xdeadbeef;
    let two = 0x41c6ce57;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      one = Math.imul(one ^ code, 2654435761);
      two = Math.imul(two ^ code, 1597334677);
    }
    one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
    two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
    this.#hashLow = one >>> 0;
    this.#hashHigh = two >>> 0;
  }
}
