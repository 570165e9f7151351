// What production refuses to start with: secrets that are missing, short, guessable, equal or well-known.
import { isAbsolute } from 'node:path';

const shortest = 32;
const fewestDifferent = 10;

/** The well-known first password outside production (spec.md). */
export const knownFirstPassword = 'admin123';

/** Defaults of examples and installers; a server that accepts one is open. */
const knownPasswords = new Set([
  'back_office',
  'back-office',
  'backoffice',
  'mariadb',
  'mysql',
  'redis',
  'root',
  'admin',
  'password',
  'passwd',
  'secret',
  'changeme',
  'example',
  'test',
  '123456',
  '12345678',
  knownFirstPassword,
]);

/** Problems of the given settings, one sentence each; none outside production. */
export function unfitForProduction(given: NodeJS.ProcessEnv): string[] {
  if (given.NODE_ENV !== 'production') return [];
  const { JWT_SECRET, APP_KEY, ADMIN_PASSWORD } = given;
  const problems = [weakness('JWT_SECRET', JWT_SECRET), weakness('APP_KEY', APP_KEY)];
  if (JWT_SECRET && JWT_SECRET === APP_KEY)
    problems.push('"JWT_SECRET" and "APP_KEY" must differ in production');
  if (ADMIN_PASSWORD?.toLowerCase() === knownFirstPassword)
    problems.push(`"ADMIN_PASSWORD" must not be ${knownFirstPassword} in production`);
  problems.push(...serverPasswords(given), ...pathsInTheRelease(given));
  return problems.filter((problem) => problem !== undefined);
}

function weakness(name: string, secret = ''): string | undefined {
  if (Buffer.byteLength(secret) < shortest)
    return `"${name}" must be set to at least ${shortest} bytes in production`;
  if (new Set(secret).size < fewestDifferent || repeatsItself(secret) || isSequence(secret))
    return `"${name}" is easy to guess; "openssl rand -hex 32" makes a good one`;
  return undefined;
}

function serverPasswords({ DATABASE_URL, DB_PASSWORD, REDIS_URL }: NodeJS.ProcessEnv): string[] {
  const database = DATABASE_URL ? passwordIn(DATABASE_URL) : DB_PASSWORD;
  const name = DATABASE_URL ? 'DATABASE_URL' : 'DB_PASSWORD';
  const problems: string[] = [];
  if (!database) problems.push(`"${name}" must carry the password of the database in production`);
  else if (isKnown(database)) problems.push(`"${name}" carries a password that everybody knows`);
  // A Redis without a password may be unreachable for others; it is only a warning (lib/process/lifecycle.ts).
  if (REDIS_URL && isKnown(passwordIn(REDIS_URL)))
    problems.push('"REDIS_URL" carries a password that everybody knows');
  return problems;
}

// The folder of a release is left behind with the next one.
function pathsInTheRelease(given: NodeJS.ProcessEnv): string[] {
  const { STORAGE_ROOT = '', DB_TLS_CA = '/', REDIS_TLS_CA = '/' } = given;
  return Object.entries({ STORAGE_ROOT, DB_TLS_CA, REDIS_TLS_CA })
    .filter(([, path]) => !isAbsolute(path))
    .map(([name]) => `"${name}" must be set to an absolute path in production, outside the release`);
}

const isKnown = (password = ''): boolean => knownPasswords.has(password.toLowerCase());

function passwordIn(url: string): string | undefined {
  if (!URL.canParse(url)) return 'not readable, and refused for that';
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

// A pattern of at most half its length, repeated.
function repeatsItself(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++)
    if (text.slice(period) === text.slice(0, -period)) return true;
  return false;
}

// Most characters follow or repeat the one before: abcdef…, 9876…, aaaabbbb….
function isSequence(text: string): boolean {
  let steps = 0;
  for (let at = 1; at < text.length; at++)
    if (Math.abs(text.charCodeAt(at) - text.charCodeAt(at - 1)) <= 1) steps++;
  return steps > text.length / 2;
}
