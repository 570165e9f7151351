// The context of the current request or job, available without passing it along.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import { defaultLanguage, type Language } from './language.js';
import type { Transaction } from './database/transaction.js';

export interface Context {
  traceId: string;
  language: Language;
  /** IANA zone the request asked for, else undefined: times are UTC. */
  zone?: string;
  /** Canonical address of the client. */
  ip?: string;
  /** The current span, if spans are made (lib/watch/tracing.ts). */
  span?: Span;
  /** The unit of the current write. */
  unit?: Unit;
  /** Whether the client has disconnected. Reads only: a write is completed regardless. */
  isAbandoned?: () => boolean;
}

/** Statements that commit in the same transaction as a write. */
export interface Unit {
  /**
   * Called before each commit.
   *
   * @param result the result of the transaction
   * @returns checks whether the transaction was committed when the reply to COMMIT is lost
   */
  end(t: Transaction, result: unknown): Promise<() => Promise<boolean>>;
  /** The same for a transaction sent as one packet: statements that follow the INSERT of a record. */
  follow(): {
    statements: { sql: string; values: readonly unknown[] }[];
    wasCommitted: () => Promise<boolean>;
  };
  /** Called after the commit. */
  committed(): void;
}

const storage = new AsyncLocalStorage<Context>();

/** Runs the function, and everything it awaits, within that context. */
export function inContext<T>(context: Context, run: () => T): T {
  return storage.run(context, run);
}

/** Runs shared work outside the context of the request that happens to start it. */
export const inNoContext = <T>(run: () => T): T => storage.exit(run);

/** The current request or job, for work it shares with others. */
export const currentContext = (): Context | undefined => storage.getStore();

/** Runs shared work under the trace of the first requester, without its actor. */
export function inSharedContext<T>(first: Context | undefined, run: () => T): T {
  if (!first) return run();
  return storage.run({ traceId: first.traceId, language: defaultLanguage, span: first.span }, run);
}

/** Runs the function under that span. */
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
 * @returns a function that joins it
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

/** The trace id of the current request or job. */
export const currentTraceId = (): string | undefined => storage.getStore()?.traceId;

/** The current span, if any. */
export const currentSpan = (): Span | undefined => storage.getStore()?.span;

/** The client address of the current request. */
export const currentIp = (): string | undefined => storage.getStore()?.ip;

/** The language of the current request. */
export const currentLanguage = (): Language => storage.getStore()?.language ?? defaultLanguage;

/** The zone the current request asked for, if any. */
export const currentZone = (): string | undefined => storage.getStore()?.zone;
