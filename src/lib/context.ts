// What belongs to the request or job at hand, reachable from everywhere without passing it along.
import { AsyncLocalStorage } from 'node:async_hooks';
import { defaultLanguage, type Language } from './language.js';
import type { Transaction } from './transaction.js';

export interface Context {
  traceId: string;
  language: Language;
  /** IANA zone the request asked for, else undefined: times are UTC. */
  zone?: string;
  /** Canonical address of the client. */
  ip?: string;
  /** What goes with the transactions of the write at hand. */
  unit?: Unit;
  /** Whether whoever asked has hung up; of reads only, a write is done all the same. */
  isAbandoned?: () => boolean;
}

/** What belongs into the same transaction as a write, whoever makes it. */
export interface Unit {
  /**
   * Before each transaction is committed.
   *
   * @param result what the transaction came to
   * @returns how to find out whether it was, should the answer to COMMIT be lost
   */
  end(t: Transaction, result: unknown): Promise<() => Promise<boolean>>;
  /** Once it is committed. */
  committed(): void;
}

const storage = new AsyncLocalStorage<Context>();

/** Runs the function, and everything it awaits, within that context. */
export function inContext<T>(context: Context, run: () => T): T {
  return storage.run(context, run);
}

/** Runs what others may join, and what must therefore not belong to the request that happens to begin it. */
export const inNoContext = <T>(run: () => T): T => storage.exit(run);

/** What goes with the transactions of the write at hand, if anything does. */
export const currentUnit = (): Unit | undefined => storage.getStore()?.unit;

/** From here on writes of the request at hand take this along; undefined: nothing any more. */
export function setUnit(unit: Unit | undefined): void {
  const context = storage.getStore();
  if (context) context.unit = unit;
}

/** Whether nobody waits for what is being read any more. */
export const isAbandoned = (): boolean => storage.getStore()?.isAbandoned?.() ?? false;

/** Runs what others may join or find later: it goes on when the request that happens to begin it is abandoned. */
export function inLastingContext<T>(run: () => T): T {
  const own = storage.getStore();
  return own?.isAbandoned ? storage.run({ ...own, isAbandoned: undefined }, run) : run();
}

/**
 * Begins what others may join; it is abandoned when everybody who has joined it has hung up.
 *
 * @returns how to join it
 */
export function joinable<T>(run: () => Promise<T>): () => Promise<T> {
  const callers: (() => boolean)[] = [];
  let result: Promise<T> | undefined;
  return () => {
    const own = storage.getStore();
    callers.push(own?.isAbandoned ?? (() => false));
    const begin = () =>
      own ? storage.run({ ...own, isAbandoned: () => callers.every((hasLeft) => hasLeft()) }, run) : run();
    return (result ??= begin());
  };
}

/** The trace id of the request or job at hand. */
export const currentTraceId = (): string | undefined => storage.getStore()?.traceId;

/** The address that the request at hand comes from. */
export const currentIp = (): string | undefined => storage.getStore()?.ip;

/** The language of the request at hand. */
export const currentLanguage = (): Language => storage.getStore()?.language ?? defaultLanguage;

/** The zone of the request at hand, if it asked for one. */
export const currentZone = (): string | undefined => storage.getStore()?.zone;
