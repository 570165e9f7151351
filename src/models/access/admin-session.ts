// admin_sessions: one row per issued token. Revoking one counts on the next request on every process.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import { payments } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { networkOf } from '../../lib/ip.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { readUserAgent, shortUserAgent } from '../../lib/user-agent.js';
import type { Credential } from './sign-in.js';
import { deleteAll } from '../tables/retention.js';
import { insertFrom, updateRows } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { execute, over } from '../tables/sql.js';
import { changing } from '../tables/versions.js';
import { Admin, AdminSession } from './tables.js';

export interface OpenedSession {
  jti: string;
  issuedAt: Date;
  expiresAt: Date;
  /** The administrator has signed in before, but never from that address. */
  isNewAddress: boolean;
}

/**
 * Opens a session of JWT_TTL_MINUTES for an administrator as they were when they proved who they are, in one round trip, and notes
 * when they signed in.
 *
 * @throws username_or_password_error when they are gone, disabled or have another password by now
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
  // A transaction that resets the password ends the sessions there are: this one waits for it and finds itself refused. Both
  // statements lock the administrator's row, the one that changes it first: the other way round two sign-ins could wait for each other.
  const isAsProven = sql('WHERE a.id = :id AND a.status = 1 AND a.password_hash = :password_hash', {
    id,
    password_hash,
  });
  const [places, , opened] = await payments.packet([
    sql(
      `SELECT EXISTS (SELECT 1 FROM admin_sessions WHERE admin_id = :id) AS 'known',
         EXISTS (SELECT 1 FROM admin_sessions WHERE admin_id = :id AND ip = :ip) AS 'same'`,
      { id, ip },
    ),
    {
      sql: `UPDATE admins a SET a.last_login_at = ? ${isAsProven.sql}`,
      values: [now(), ...isAsProven.values],
    },
    insertFrom(
      AdminSession,
      {
        jti,
        admin_id: id,
        ip,
        user_agent: shortUserAgent(userAgent),
        browser,
        os,
        last_used_at: issuedAt,
        expires_at: expiresAt,
        created_at: issuedAt,
      },
      { sql: `FROM admins a ${isAsProven.sql} LOCK IN SHARE MODE`, values: isAsProven.values },
    ),
  ]);
  if (opened?.affectedRows !== 1) fail('username_or_password_error');
  const [place] = places as unknown as [{ known: number; same: number }];
  return { jti, issuedAt, expiresAt, isNewAddress: place.known === 1 && place.same === 0 };
}

const addresses = selection(
  columnsOf(AdminSession, 's', 'ip'),
  'admin_sessions s',
  'JOIN admins a ON a.id = s.admin_id',
);
const sql = over({ admin_sessions: AdminSession, 'admin_sessions s': AdminSession, 'admins a': Admin });

/** Whether the administrator of that name has signed in within 30 days from that address (IPv6: its /64). */
export async function signedInLately(username: string, ip: string): Promise<boolean> {
  const since = new Date(now().getTime() - 30 * 86_400_000);
  const rows = await addresses.where(
    sql('WHERE a.username = :username AND s.created_at > :since GROUP BY s.ip LIMIT 500', {
      username,
      since,
    }),
  );
  const network = networkOf(ip);
  return rows.some((row) => networkOf(row.ip) === network);
}

/** Revokes one session. */
export async function revokeSession(jti: string): Promise<void> {
  await changing(['identity'], (t) =>
    updateRows(AdminSession, { revoked_at: now() }, { jti, revoked_at: null }, t),
  );
}

/**
 * Revokes the sessions of an administrator.
 *
 * @returns how many were really ended
 */
export function revokeSessionsOf(adminId: number): Promise<number> {
  return changing(['identity'], (t) => endSessionsOf(adminId, t));
}

/**
 * Ends the sessions of an administrator, but for one if it is named, within a transaction that changes `identity`.
 *
 * @returns how many were really ended
 */
export function endSessionsOf(adminId: number, t: Transaction, except = ''): Promise<number> {
  return execute(
    sql(
      `UPDATE admin_sessions SET revoked_at = :at
       WHERE admin_id = :adminId AND jti <> :except AND revoked_at IS NULL AND expires_at > :at`,
      { at: now(), adminId, except },
    ),
    { t },
  );
}

/** Deletes sessions that ended more than 30 days ago. */
export async function pruneSessions(): Promise<number> {
  const before = new Date(now().getTime() - 30 * 86_400_000);
  return deleteAll('DELETE FROM admin_sessions WHERE expires_at < ?', [before]);
}
