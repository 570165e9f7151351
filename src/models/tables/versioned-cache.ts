// Cached database content, valid while no process has changed its scope (versions.ts).
import { inLastingContext } from '../../lib/context.js';
import { isCurrent, stamp, type Scope, type Stamp } from './versions.js';

interface Entry<V> {
  stamped: Stamp;
  value: V;
}

export interface CacheOptions<K, V> {
  /** What a change of it announces. */
  scope: Scope;
  /** Copies at most; the one that was loaded longest ago goes first. */
  max: number;
  load: (key: K) => Promise<V>;
}

export class VersionedCache<K, V> {
  readonly #options: CacheOptions<K, V>;
  readonly #entries = new Map<K, Entry<V>>();
  readonly #loads = new Map<K, Promise<V>>();

  constructor(options: CacheOptions<K, V>) {
    this.#options = options;
  }

  /** The copy as it is, current or not. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The value as of now. @param mark of the scope as read at the start of the request */
  async get(key: K, mark: string | undefined): Promise<V> {
    for (;;) {
      const known = this.#entries.get(key);
      if (known && (await isCurrent(this.#options.scope, known.stamped, mark))) return known.value;
      const underway = this.#loads.get(key);
      if (!underway) return this.reload(key, mark);
      // It may have started before the change that this caller must see, so its result is checked against the caller's own mark.
      await underway.catch(() => undefined);
    }
  }

  /** The value as of now, read anew. */
  reload(key: K, mark: string | undefined): Promise<V> {
    this.#entries.delete(key);
    const loading = inLastingContext(() => this.#load(key, mark)).finally(() => {
      if (this.#loads.get(key) === loading) this.#loads.delete(key);
    });
    this.#loads.set(key, loading);
    return loading;
  }

  async #load(key: K, mark: string | undefined): Promise<V> {
    const { scope, max, load } = this.#options;
    const stamped = await stamp(scope, mark);
    const value = await load(key);
    this.#entries.delete(key);
    this.#entries.set(key, { stamped, value });
    if (this.#entries.size > max) this.#entries.delete(this.#entries.keys().next().value as K);
    return value;
  }
}
