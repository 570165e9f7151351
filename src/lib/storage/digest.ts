// Size and SHA-256 of a passing stream.
import { createHash } from 'node:crypto';
import type { Composed } from './storage.js';

export class Digest {
  readonly #hash = createHash('sha256');
  #size = 0;

  add(bytes: Buffer): void {
    this.#hash.update(bytes);
    this.#size += bytes.length;
  }

  /** Call once, at the end. */
  result(): Composed {
    return { size: this.#size, sha256: this.#hash.digest('hex') };
  }
}
