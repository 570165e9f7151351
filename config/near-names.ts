// Names in the environment that look like a setting misspelt: MODULE_PAYMENT_ENABLED, DB_PASS, REDIS_URI.
import { distance } from 'fastest-levenshtein';

export interface Misspelling {
  given: string;
  meant: string;
}

/** So many letters may be wrong, missing or too many. */
const maxDistance = 2;
/** What is left out at the end of a setting, or put there, may be so long: DB_PASS, DB_USERNAME. */
const ending = /^[A-Z]{1,4}$/;

/** Which of the names given are no setting and near one that is not given. */
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
