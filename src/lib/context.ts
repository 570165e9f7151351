// What belongs to the request or job at hand, reachable from everywhere without passing it along.
import { AsyncLocalStorage } from 'node:async_hooks';
import { defaultLanguage, type Language } from './language.js';

export interface Context {
  traceId: string;
  language: Language;
  /** IANA zone the request asked for, else undefined: times are UTC. */
  zone?: string;
}

const storage = new AsyncLocalStorage<Context>();

/** Runs the function, and everything it awaits, within that context. */
export function inContext<T>(context: Context, run: () => T): T {
  return storage.run(context, run);
}

/** The trace id of the request or job at hand. */
export const currentTraceId = (): string | undefined => storage.getStore()?.traceId;

/** The language of the request at hand. */
export const currentLanguage = (): Language => storage.getStore()?.language ?? defaultLanguage;

/** The zone of the request at hand, if it asked for one. */
export const currentZone = (): string | undefined => storage.getStore()?.zone;
