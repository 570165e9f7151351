// The limits on guessing passwords (contract.md §3), shared by sign-in and password change, and on drawing captchas.
import { config } from '../../config/index.js';
import { Attempts } from '../lib/attempts.js';
import { fail } from '../lib/errors.js';

const { loginMaxAttempts, loginWindowSeconds, loginLockSeconds, loginMaxPerUsernameHour } = config.auth;
const minute = 60;
const hour = 3600;

const byAddress = new Attempts({
  name: 'sign-in',
  points: loginMaxAttempts,
  window: loginWindowSeconds,
  lock: loginLockSeconds,
});
const byUsername = new Attempts({
  name: 'sign-in-anywhere',
  points: loginMaxPerUsernameHour,
  window: hour,
  lock: hour,
});
const captchas = new Attempts({
  name: 'captcha',
  points: config.auth.captchaMaxPerMinute,
  window: minute,
  lock: minute,
});

export interface Subject {
  ip: string;
  username: string;
}

/** Failures of that address and name so far. @throws login_locked with the seconds to wait */
export async function mustNotBeLocked(subject: Subject): Promise<number> {
  const [here, anywhere] = await Promise.all([
    byAddress.state(addressKey(subject)),
    byUsername.state(usernameKey(subject)),
  ]);
  const lockedFor = Math.max(here.lockedFor, anywhere.lockedFor);
  if (lockedFor > 0) fail('login_locked', { retryAfter: lockedFor });
  return here.failures;
}

/** Counts a wrong password. @throws login_locked when the limit had been reached by attempts made at the same time */
export async function countFailure(subject: Subject): Promise<void> {
  const [here, anywhere] = await Promise.all([
    byAddress.fail(addressKey(subject)),
    byUsername.fail(usernameKey(subject)),
  ]);
  const lockedFor = Math.max(here, anywhere);
  if (lockedFor > 0) fail('login_locked', { retryAfter: lockedFor });
}

/** Forgets the failures after a success. */
export async function clearFailures(subject: Subject): Promise<void> {
  await Promise.all([byAddress.clear(addressKey(subject)), byUsername.clear(usernameKey(subject))]);
}

/** Counts a captcha that an address asks for: drawing one costs a millisecond. @throws too_many_requests */
export async function countCaptcha(ip: string): Promise<void> {
  const retryAfter = await captchas.fail(ip);
  if (retryAfter > 0) fail('too_many_requests', { retryAfter });
}

// The database compares usernames without case, so the counters do too.
const usernameKey = ({ username }: Subject): string =>
  Buffer.from(username.toLowerCase()).toString('base64url');
const addressKey = (subject: Subject): string => `${subject.ip}-${usernameKey(subject)}`;
