// The part of an administrator that signing in needs.
import { logger } from '../../lib/watch/logger.js';
import { hashPassword, matchPassword } from '../../lib/secrets/password.js';
import { Admin } from './tables.js';

/** With the stored hash: the session is opened for the proven password, not for its successor. */
export type Credential = Pick<
  Admin,
  'id' | 'username' | 'nickname' | 'avatar' | 'status' | 'password_must_change' | 'password_hash'
>;

/**
 * The administrator of that name if the password is right. An unknown name takes as long as a wrong password.
 *
 * @throws too_many_requests when too many passwords are being checked
 */
export async function findByPassword(username: string, password: string): Promise<Credential | undefined> {
  const found = await findByName(username);
  const row = found && credentialOf(found);
  const match = await matchPassword(password, row?.password_hash);
  if (!match || !row) return undefined;
  if (match !== 'outdated') return row;
  const password_hash = await rehash(row, password);
  // Another sign-in has rehashed the password, or it was changed: the stored hash decides.
  return password_hash ? { ...row, password_hash } : findByPassword(username, password);
}

export async function findByName(username: string): Promise<Admin | undefined> {
  const found = await Admin.unscoped().findOne({ where: { username } });
  // The database also finds `ádmin` and `admin ` equal to `admin`; each would have a separate count of failures.
  return found?.username.toLowerCase() === username.toLowerCase() ? found : undefined;
}

// For a hash that was made under another BCRYPT_COST or APP_KEY. The old hash in the condition protects a password
// that is changed meanwhile. A failure is repaired at the next sign-in. @returns the hash now stored; undefined
// when the password was changed
async function rehash({ id, password_hash }: Credential, password: string): Promise<string | undefined> {
  try {
    const fresh = await hashPassword(password);
    const [stored] = await Admin.update(
      { password_hash: fresh },
      { where: { id, password_hash }, silent: true },
    );
    return stored > 0 ? fresh : undefined;
  } catch (error) {
    logger.warn({ error }, 'rehashing a password failed');
    return password_hash;
  }
}

const credentialOf = (admin: Admin): Credential => {
  const { id, username, nickname, avatar, status, password_must_change, password_hash } = admin;
  return { id, username, nickname, avatar, status, password_must_change, password_hash };
};
