// admin_sessions: one row per issued token. A revoked one is refused from the next request on, by every process.
import { Op, type Transaction, type WhereOptions } from 'sequelize';
import { config } from '../../../config/index.js';
import { daysAgo, now } from '../../lib/values/clock.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { networkOf } from '../../lib/values/ip.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { readUserAgent, shortUserAgent } from '../../lib/values/user-agent.js';
import { deleteAll } from '../tables/retention.js';
import { changing } from '../tables/versions.js';
import type { Credential } from './sign-in.js';
import { Admin, AdminSession } from './tables.js';

interface OpenedSession {
  jti: string;
  issuedAt: Date;
  expiresAt: Date;
  /** The administrator has signed in before, but never from that address (IPv6: its /64). */
  isNewAddress: boolean;
}

/**
 * Opens a session of JWT_TTL_MINUTES for an administrator who has proved the password, and records the sign-in.
 *
 * @throws username_or_password_error when the administrator was deleted, disabled or given another password meanwhile
 */
export async function openSession(
  { id, password_hash }: Pick<Credential, 'id' | 'password_hash'>,
  ip: string,
  userAgent: string | undefined,
): Promise<OpenedSession> {
  // Tokens count in whole seconds, so the row does too.
  const issuedAt = new Date(Math.floor(now().getTime() / 1000) * 1000);
  const expiresAt = new Date(issuedAt.getTime() + config.auth.jwtTtlMinutes * 60_000);
  const jti = newUlid(issuedAt.getTime());
  const { browser, os } = readUserAgent(userAgent);
  return transact(async (t) => {
    // A reset of the password ends the open sessions: the lock waits for it, and then finds another password.
    const proven = { id, password_hash };
    const admin = await Admin.scope('enabled').findOne({ where: proven, transaction: t, lock: true });
    if (!admin) fail('username_or_password_error');
    await admin.update({ last_login_at: now() }, { silent: true, transaction: t });
    const earlier = await AdminSession.findAll({
      attributes: ['ip'],
      where: { admin_id: id },
      group: ['ip'],
      transaction: t,
    });
    const session = {
      jti,
      admin_id: id,
      ip,
      user_agent: shortUserAgent(userAgent),
      browser,
      os,
      last_used_at: issuedAt,
      expires_at: expiresAt,
      created_at: issuedAt,
    };
    await AdminSession.create(session, { transaction: t });
    const isNewAddress = earlier.length > 0 && !hasNetwork(earlier, ip);
    return { jti, issuedAt, expiresAt, isNewAddress };
  });
}

/** Whether the administrator of that name has signed in within 30 days from that address (IPv6: its /64). */
export async function signedInLately(username: string, ip: string): Promise<boolean> {
  const since = daysAgo(30);
  const rows = await AdminSession.findAll({
    attributes: ['ip'],
    where: { created_at: { [Op.gt]: since } },
    include: { association: 'admin', attributes: [], where: { username } },
    group: ['ip'],
    limit: 500,
  });
  return hasNetwork(rows, ip);
}

// Devices change their IPv6 address within the /64 daily (RFC 8981).
function hasNetwork(sessions: readonly AdminSession[], ip: string): boolean {
  const network = networkOf(ip);
  return sessions.some((one) => networkOf(one.ip) === network);
}

/** Ends the sessions that the condition names, on every process. @returns how many were open */
export const revokeSessions = (which: WhereOptions<AdminSession>): Promise<number> =>
  changing(['identity'], (t) => endSessions(which, t));

/** The same within a transaction that changes `identity`. */
export async function endSessions(which: WhereOptions<AdminSession>, t: Transaction): Promise<number> {
  const open = { revoked_at: null, expires_at: { [Op.gt]: now() } };
  const where = { ...which, ...open };
  const [ended] = await AdminSession.update({ revoked_at: now() }, { where, transaction: t });
  return ended;
}

export async function pruneSessions(): Promise<number> {
  return deleteAll('DELETE FROM admin_sessions WHERE expires_at < ?', [daysAgo(30)]);
}
