// Copies of what the database holds, each used while its scope has not changed on any process (versions.ts).
import { holds, stamp, type Scope, type Stamp } from './versions.js';

interface Entry<V> {
  stamped: Stamp;
  value: V;
}

export interface CacheOptions<K, V> {
  /** What a change of it announces. */
  scope: Scope;
  /** Copies at most; the one that was read longest ago goes first. */
  max: number;
  load: (key: K) => Promise<V>;
}

export class VersionedCache<K, V> {
  readonly #options: CacheOptions<K, V>;
  readonly #entries = new Map<K, Entry<V>>();

  constructor(options: CacheOptions<K, V>) {
    this.#options = options;
  }

  /** The copy as it is, current or not. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The value as of now. @param mark of the scope as read at the start of the request */
  async get(key: K, mark: string | undefined): Promise<V> {
    const known = this.#entries.get(key);
    const isCurrent = known && (await holds(this.#options.scope, known.stamped, mark));
    return isCurrent ? known.value : this.reload(key, mark);
  }

  /** The value as of now, read anew. */
  async reload(key: K, mark: string | undefined): Promise<V> {
    const { scope, max, load } = this.#options;
    this.#entries.delete(key);
    const stamped = await stamp(scope, mark);
    const value = await load(key);
    this.#entries.delete(key);
    this.#entries.set(key, { stamped, value });
    if (this.#entries.size > max) this.#entries.delete(this.#entries.keys().next().value as K);
    return value;
  }
}
