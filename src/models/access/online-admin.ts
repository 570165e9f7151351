// Online administrators: sessions used in the last 15 minutes.
import { now } from '../../lib/clock.js';
import { change, select } from '../../lib/db.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { idleSince, type Identity } from './identity.js';
import { mustOutrank } from './rights.js';
import { changing } from '../tables/versions.js';

export interface OnlineFilter extends ListQuery {
  username?: string;
  ip?: string;
}

export interface OnlineRecord {
  id: number;
  admin_id: number;
  username: string;
  nickname: string;
  ip: string;
  browser: string;
  os: string;
  last_active: Date;
  created_at: Date;
  is_current: boolean;
}

export const onlineSortable = ['id', 'ip', 'created_at'] as const;

const activeMs = 15 * 60_000;

export async function listOnline(identity: Identity, query: OnlineFilter): Promise<Page<OnlineRecord>> {
  const where = online()
    .contains('a.username', query.username)
    .contains('s.ip', query.ip)
    .during('s.created_at', query);
  const [rows, [count]] = await Promise.all([
    select<Omit<OnlineRecord, 'is_current'>>(
      `SELECT s.id, s.admin_id, a.username, a.nickname, s.ip, s.browser, s.os, s.last_used_at AS last_active, s.created_at
       ${fromSql} ${where.sql} ${pageSql(query, 's')}`,
      where.values,
    ),
    select<{ total: number }>(`SELECT COUNT(*) AS total ${fromSql} ${where.sql}`, where.values),
  ]);
  const list = rows.map((row) => ({ ...row, is_current: row.id === identity.sessionId }));
  return toPage(query, list, count?.total ?? 0);
}

/** How many administrators are online. */
export async function countOnline(): Promise<number> {
  const where = online();
  const [row] = await select<{ total: number }>(
    `SELECT COUNT(DISTINCT s.admin_id) AS total ${fromSql} ${where.sql}`,
    where.values,
  );
  return row?.total ?? 0;
}

/**
 * Ends sessions at once on every process.
 *
 * @returns how many were really ended
 * @throws grant_beyond_own when one belongs to somebody with more rights, as ending all their sessions would
 */
export async function kickOut(identity: Identity, sessionIds: readonly number[]): Promise<number> {
  const ended = await changing(['identity'], async (t) => {
    const owners = await select<{ admin_id: number }>(
      'SELECT DISTINCT admin_id FROM admin_sessions WHERE id IN (?)',
      [sessionIds],
      t,
    );
    for (const { admin_id } of owners) await mustOutrank(identity, admin_id, t);
    return change(
      'UPDATE admin_sessions SET revoked_at = ? WHERE id IN (?) AND revoked_at IS NULL AND expires_at > ?',
      [now(), sessionIds, now()],
      t,
    );
  });
  return ended;
}

/** Those of these sessions that are still valid. */
export async function validSessions(jtis: readonly string[]): Promise<Set<string>> {
  if (jtis.length === 0) return new Set();
  const rows = await select<{ jti: string }>(
    `SELECT s.jti FROM admin_sessions s JOIN admins a ON a.id = s.admin_id
     WHERE s.jti IN (?) AND s.revoked_at IS NULL AND s.expires_at > ? AND s.last_used_at >= ? AND a.status = 1`,
    [jtis, now(), idleSince()],
  );
  return new Set(rows.map(({ jti }) => jti));
}

const fromSql = 'FROM admin_sessions s JOIN admins a ON a.id = s.admin_id';

function online(): Where {
  const at = now();
  return new Where()
    .and('s.revoked_at IS NULL AND s.expires_at > ?', at)
    .and('s.last_used_at >= ?', new Date(at.getTime() - activeMs));
}
