// The limits on guessing passwords (docs/api.md, 3), at sign-in and at a password change.
import { config } from '../../../config/index.js';
import { Attempts } from '../../lib/redis/limiters.js';
import { fail } from '../../lib/errors/app-error.js';
import { networkOf } from '../../lib/values/ip.js';
import { signedInLately } from '../../models/access/admin-session.js';

const { auth } = config;
const hour = 3600;
const hold = { windowSeconds: auth.loginWindowSeconds, lockSeconds: auth.loginLockSeconds };

const byNameAndAddress = new Attempts({ name: 'sign-in', points: auth.loginMaxAttempts, ...hold });
const byAddress = new Attempts({ name: 'sign-in-any-name', points: auth.loginMaxPerAddress, ...hold });
const byName = new Attempts({
  name: 'sign-in-anywhere',
  points: auth.loginMaxPerUsernameHour,
  windowSeconds: hour,
  lockSeconds: hour,
});
const byAdmin = new Attempts({ name: 'password-change', points: auth.loginMaxAttempts, ...hold });

export interface Subject {
  ip: string;
  username: string;
}

/** The failures of a subject that is not locked. */
export interface Failures {
  /** Of the address under that name. */
  count: number;
  /** Whether the address has used half its quota under all names. */
  isAddressSuspect: boolean;
}

/**
 * Strangers who guess at a name do not lock out the addresses it has signed in from lately.
 *
 * @throws login_locked with the seconds to wait
 */
export async function failuresUnlessLocked(subject: Subject): Promise<Failures> {
  const [both, address, name] = await Promise.all([
    byNameAndAddress.state(pairKey(subject)),
    byAddress.state(networkOf(subject.ip)),
    byName.state(nameKey(subject)),
  ]);
  refuseWhileLocked(Math.max(both.lockedFor, address.lockedFor, await forStrangers(name.lockedFor, subject)));
  return { count: both.failures, isAddressSuspect: address.failures * 2 >= auth.loginMaxPerAddress };
}

/** @throws login_locked with the seconds to wait */
export async function assertNotLocked(subject: Subject): Promise<void> {
  await failuresUnlessLocked(subject);
}

/** Counts a wrong password. @throws login_locked when concurrent attempts have reached the limit */
export async function countFailure(subject: Subject): Promise<void> {
  const [both, address, name] = await Promise.all([
    byNameAndAddress.countFailure(pairKey(subject)),
    byAddress.countFailure(networkOf(subject.ip)),
    byName.countFailure(nameKey(subject)),
  ]);
  refuseWhileLocked(Math.max(both, address, await forStrangers(name, subject)));
}

/**
 * Counts an attempt without the captcha it needs, or with a wrong one. No password was tried, so it does not count
 * against the name at other addresses.
 *
 * @throws login_locked as `countFailure`
 */
export async function countRefusedCaptcha(subject: Subject): Promise<void> {
  const counted = [
    byNameAndAddress.countFailure(pairKey(subject)),
    byAddress.countFailure(networkOf(subject.ip)),
  ];
  refuseWhileLocked(Math.max(...(await Promise.all(counted))));
}

/** Resets the failures of a name after a success; a lock on the name for other addresses stays in force. */
export async function clearFailures(subject: Subject): Promise<void> {
  const [{ lockedFor }] = await Promise.all([
    byName.state(nameKey(subject)),
    byNameAndAddress.clear(pairKey(subject)),
  ]);
  if (lockedFor === 0) await byName.clear(nameKey(subject));
}

/** Limits for administrators who prove the old password to set a new one; no stranger can use up their attempts. */
export const passwordChange = {
  /** @throws login_locked */
  async assertNotLocked(adminId: number): Promise<void> {
    refuseWhileLocked((await byAdmin.state(String(adminId))).lockedFor);
  },
  /** @throws login_locked */
  async countFailure(adminId: number): Promise<void> {
    refuseWhileLocked(await byAdmin.countFailure(String(adminId)));
  },
  clear: (adminId: number): Promise<void> => byAdmin.clear(String(adminId)),
};

/**
 * Unlocks an administrator for every address; for the command line.
 *
 * @param address also resets its failures under all names
 * @returns number of counters reset
 */
export async function unlock(locked: { id: number; username: string; address?: string }): Promise<number> {
  const name = nameKey(locked);
  const forgotten = [byNameAndAddress.clearMatching(`*-${name}`), byName.clearMatching(name)];
  forgotten.push(byAdmin.clearMatching(String(locked.id)));
  if (locked.address) forgotten.push(byAddress.clearMatching(networkOf(locked.address)));
  return (await Promise.all(forgotten)).reduce((sum, count) => sum + count, 0);
}

function refuseWhileLocked(seconds: number): void {
  if (seconds > 0) fail('login_locked', { retryAfter: seconds });
}

async function forStrangers(lockedFor: number, { username, ip }: Subject): Promise<number> {
  return lockedFor > 0 && (await signedInLately(username, ip)) ? 0 : lockedFor;
}

// The database compares usernames without case, so the counters do too.
const nameKey = ({ username }: Pick<Subject, 'username'>): string =>
  Buffer.from(username.toLowerCase()).toString('base64url');
const pairKey = (subject: Subject): string => `${networkOf(subject.ip)}-${nameKey(subject)}`;
