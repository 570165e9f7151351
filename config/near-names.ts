// Finds misspelt settings in the environment: MODULE_PAYMENT_ENABLED, DB_PASS, REDIS_URI.
import { distance } from 'fastest-levenshtein';

export interface Misspelling {
  given: string;
  meant: string;
}

/** Max letters that differ. */
const maxDistance = 2;
/** Max letters missing or added at the end: DB_PASS, DB_USERNAME. */
const ending = /^[A-Z]{1,4}$/;

/** The given names that are no setting but resemble an unset one. */
export function misspellings(given: readonly string[], settings: readonly string[]): Misspelling[] {
  const unknown = given.filter((name) => name.includes('_') && !settings.includes(name));
  const free = settings.filter((name) => name.includes('_') && !given.includes(name));
  return unknown.flatMap((name) => {
    const meant = free.find((setting) => isNear(name, setting));
    return meant === undefined ? [] : [{ given: name, meant }];
  });
}

function isNear(name: string, setting: string): boolean {
  const [short, long] = name.length < setting.length ? [name, setting] : [setting, name];
  if (long.startsWith(short) && ending.test(long.slice(short.length))) return true;
  return distance(name, setting) <= maxDistance;
}
