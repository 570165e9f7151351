// Variables of the environment that have no effect, though they look like settings: misspelt and retired ones.
import { distance } from 'fastest-levenshtein';

interface Misspelling {
  given: string;
  meant: string;
}

/** Max letters that differ. */
const maxDistance = 2;
/** Max letters missing or added at the end: DB_PASS, DB_USERNAME. */
const ending = /^[A-Z]{1,4}$/;

/** The given names that are no setting but resemble an unset one: MODULE_PAYMENT_ENABLED, DB_PASS, REDIS_URI. */
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
  return long.length - short.length <= maxDistance && distance(name, setting) <= maxDistance;
}

/** Settings of earlier releases; the start names those that are still set. */
export const retired: readonly string[] = [
  ...['BULK_NICE', 'CALLBACK_DEADLINE_MS', 'CALLBACK_REFUSED_RETENTION_DAYS', 'CALLBACK_WAIT_MS'],
  ...['CAPTCHA_AFTER_FAILURES', 'CAPTCHA_TTL_SECONDS', 'CHUNKED_MAX_MB', 'CHUNK_MAX_MB'],
  ...['CHUNK_SESSIONS_MAX', 'CHUNK_SESSION_HOURS', 'CONNECTIONS_MAX', 'CONNECTIONS_PER_ADDRESS'],
  ...['DB_ACQUIRE_TIMEOUT_MS', 'DB_BULK_SECONDS', 'DB_LOCK_WAIT_SECONDS', 'DB_READ_HOSTS', 'DB_READ_WAIT_MS'],
  ...['DB_REPORT_SECONDS', 'DB_SESSION', 'DB_STARTUP_WAIT_SECONDS', 'DB_STATEMENT_SECONDS'],
  ...['EXPORTS_PER_ADMIN', 'FAILED_JOB_RETENTION_DAYS', 'HASH_CONCURRENCY', 'HASH_QUEUE'],
  ...['HASH_QUEUE_PER_ADDRESS', 'HASH_WAIT_MS', 'IMPORT_RETENTION_DAYS', 'JOB_LOCK_SECONDS', 'JSON_MAX_KB'],
  ...['LIMIT_CAPTCHAS', 'LIMIT_EXPORTS', 'LIMIT_REFUSED_CALLBACKS', 'LIMIT_STREAMS', 'LIMIT_TICKETS'],
  ...['LIMIT_UPLOADS', 'LOGIN_MAX_PER_ADDRESS', 'LOGIN_MAX_PER_USERNAME_HOUR', 'LOGIN_WINDOW_MINUTES'],
  ...[
    'PASSWORD_MIN_LENGTH',
    'PASSWORD_REFUSE_COMMON',
    'PASSWORD_REQUIRE_MIXED',
    'PAYMENT_GATEWAY_TIMEOUT_MS',
  ],
  ...['PAYMENT_LANES', 'PAYMENT_MOCK_SIGN_VISIBLE', 'REDIS_CLUSTER_NODES', 'REDIS_TIMEOUT_MS'],
  ...['REQUEST_TIMEOUT_SECONDS', 'S3_TIMEOUT_SECONDS', 'SHUTDOWN_SECONDS', 'SLOW_STATEMENT_MS'],
  ...['STREAMS_PER_ADMIN', 'STRICT_STARTUP', 'SWEEP_AGE_SECONDS', 'SWEEP_SECONDS', 'SYSTEM_LOG_LEVEL'],
  ...['TRUSTED_PROXY_HOPS', 'UPLOAD_TIMEOUT_SECONDS', 'WORKER_CONCURRENCY'],
];
