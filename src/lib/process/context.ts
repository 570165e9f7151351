// The context of the current request or job, available without passing it along.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import { defaultLanguage, type Language } from '../values/language.js';
import type { Unit } from '../database/unit.js';

export interface Context {
  traceId: string;
  language: Language;
  /** IANA zone of the request; undefined means UTC. */
  zone?: string;
  /** Canonical address of the client. */
  ip?: string;
  /** The current span, if spans are made (lib/watch/tracing.ts). */
  span?: Span;
  /** The unit of the current write. */
  unit?: Unit;
  /** Until when transactions of the request may commit, in milliseconds of performance.now(). */
  deadline?: number;
  /** COMMITs that have not been answered. */
  commits?: number;
  /** Whether log entries are being stored. */
  isStoringEntries?: boolean;
}

const storage = new AsyncLocalStorage<Context>();

/** Runs the function, and everything it awaits, within that context. */
export function inContext<T>(context: Context, run: () => T): T {
  return storage.run(context, run);
}

/** Runs shared work outside the context of the request that happens to start it. */
export const inNoContext = <T>(run: () => T): T => storage.exit(run);

const within = <T>(more: Partial<Context>, run: () => T): T =>
  storage.run({ traceId: '', language: defaultLanguage, ...storage.getStore(), ...more }, run);

export const inSpan = <T>(span: Span, run: () => T): T => within({ span }, run);

/** Runs what stores log entries: what it logs must not become an entry, which would cause more of itself. */
export const storingEntries = <T>(run: () => T): T => within({ isStoringEntries: true }, run);

export const isStoringEntries = (): boolean => storage.getStore()?.isStoringEntries === true;

export const currentUnit = (): Unit | undefined => storage.getStore()?.unit;

/** Sets the unit of the writes that follow in this request; undefined removes it. */
export function setUnit(unit: Unit | undefined): void {
  const context = storage.getStore();
  if (context) context.unit = unit;
}

/** Sets until when transactions of the current request may commit, in milliseconds of performance.now(). */
export function setDeadline(deadline: number): void {
  const context = storage.getStore();
  if (context) context.deadline = deadline;
}

/** Until when transactions of the current request may commit; Infinity outside requests. */
export const currentDeadline = (): number => storage.getStore()?.deadline ?? Infinity;

/** Waits for a COMMIT. @returns its answer */
export async function committing<T>(commit: Promise<T>): Promise<T> {
  const context = storage.getStore();
  if (!context) return commit;
  context.commits = (context.commits ?? 0) + 1;
  return commit.finally(() => (context.commits = (context.commits ?? 1) - 1));
}

/** Whether a COMMIT of the current request has not been answered yet. */
export const isCommitting = (): boolean => (storage.getStore()?.commits ?? 0) > 0;

export const currentTraceId = (): string | undefined => storage.getStore()?.traceId;

export const currentSpan = (): Span | undefined => storage.getStore()?.span;

export const currentIp = (): string | undefined => storage.getStore()?.ip;

export const currentLanguage = (): Language => storage.getStore()?.language ?? defaultLanguage;

export const currentZone = (): string | undefined => storage.getStore()?.zone;
