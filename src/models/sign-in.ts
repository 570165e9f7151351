// The part of an administrator that signing in needs.
import { now } from '../lib/clock.js';
import { change, select } from '../lib/db.js';
import { hashPassword, needsRehash, verifyPassword } from '../lib/password.js';

export interface Credential {
  id: number;
  username: string;
  nickname: string;
  avatar: string | null;
  status: number;
}

/**
 * The administrator of that name if the password is right. An unknown name takes as long as a wrong password.
 *
 * @throws too_many_requests when too many passwords are being checked
 */
export async function findByPassword(username: string, password: string): Promise<Credential | undefined> {
  const [row] = await select<Credential & { password_hash: string }>(
    'SELECT id, username, nickname, avatar, status, password_hash FROM admins WHERE username = ?',
    [username],
  );
  if (!(await verifyPassword(password, row?.password_hash)) || !row) return undefined;
  const { password_hash, ...credential } = row;
  if (needsRehash(password_hash)) await rehash(row.id, password, password_hash);
  return credential;
}

/** Notes the time of a successful sign-in. */
export async function noteSignIn(adminId: number): Promise<void> {
  await change('UPDATE admins SET last_login_at = ? WHERE id = ?', [now(), adminId]);
}

// BCRYPT_COST has changed since; the condition keeps a password that was changed meanwhile.
async function rehash(adminId: number, password: string, before: string): Promise<void> {
  await change('UPDATE admins SET password_hash = ? WHERE id = ? AND password_hash = ?', [
    await hashPassword(password),
    adminId,
    before,
  ]);
}
