// What belongs to the request or job at hand, reachable from everywhere without passing it along.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import { defaultLanguage, type Language } from './language.js';
import type { Transaction } from './transaction.js';

export interface Context {
  traceId: string;
  language: Language;
  /** IANA zone the request asked for, else undefined: times are UTC. */
  zone?: string;
  /** Canonical address of the client. */
  ip?: string;
  /** The span under way, where spans are made (lib/watch/tracing.ts). */
  span?: Span;
  /** The unit of the current write. */
  unit?: Unit;
  /** Whether the client has disconnected. Reads only: a write is completed regardless. */
  isAbandoned?: () => boolean;
}

/** Statements that commit in the same transaction as a write. */
export interface Unit {
  /**
   * Before each transaction is committed.
   *
   * @param result the result of the transaction
   * @returns checks whether it was committed, should the answer to COMMIT be lost
   */
  end(t: Transaction, result: unknown): Promise<() => Promise<boolean>>;
  /** The same for a transaction that is sent at once: statements that follow the INSERT of a record. */
  follow(): {
    statements: { sql: string; values: readonly unknown[] }[];
    wasCommitted: () => Promise<boolean>;
  };
  /** Once it is committed. */
  committed(): void;
}

const storage = new AsyncLocalStorage<Context>();

/** Runs the function, and everything it awaits, within that context. */
export function inContext<T>(context: Context, run: () => T): T {
  return storage.run(context, run);
}

/** Runs shared work outside the context of the request that happens to start it. */
export const inNoContext = <T>(run: () => T): T => storage.exit(run);

/** The request or job at hand, for work that it shares with others. */
export const currentContext = (): Context | undefined => storage.getStore();

/** Runs work that several share: under the trace of the first of them, and otherwise as nobody's. */
export function inSharedContext<T>(first: Context | undefined, run: () => T): T {
  if (!first) return run();
  return storage.run({ traceId: first.traceId, language: defaultLanguage, span: first.span }, run);
}

/** Runs the function with that span under way. */
export function inSpan<T>(span: Span, run: () => T): T {
  const own = storage.getStore() ?? { traceId: '', language: defaultLanguage };
  return storage.run({ ...own, span }, run);
}

/** The unit of the current write, if any. */
export const currentUnit = (): Unit | undefined => storage.getStore()?.unit;

/** Sets the unit of the writes that follow in this request; undefined removes it. */
export function setUnit(unit: Unit | undefined): void {
  const context = storage.getStore();
  if (context) context.unit = unit;
}

/** Whether every client waiting for the current read has disconnected. */
export const isAbandoned = (): boolean => storage.getStore()?.isAbandoned?.() ?? false;

/** Runs shared work: it continues when the request that started it is abandoned. */
export function inLastingContext<T>(run: () => T): T {
  const own = storage.getStore();
  return own?.isAbandoned ? storage.run({ ...own, isAbandoned: undefined }, run) : run();
}

/**
 * Starts shared work; it is abandoned when every client that joined it has disconnected.
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

/** The span under way, if any. */
export const currentSpan = (): Span | undefined => storage.getStore()?.span;

/** The address that the request at hand comes from. */
export const currentIp = (): string | undefined => storage.getStore()?.ip;

/** The language of the request at hand. */
export const currentLanguage = (): Language => storage.getStore()?.language ?? defaultLanguage;

/** The zone of the request at hand, if it asked for one. */
export const currentZone = (): string | undefined => storage.getStore()?.zone;
