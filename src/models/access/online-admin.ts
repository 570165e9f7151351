// Online administrators: sessions used in the last 15 minutes.
import { Op } from 'sequelize';
import { now } from '../../lib/clock.js';
import { fail } from '../../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { idleSince, type Identity } from './identity.js';
import { assertOutranks } from './rights.js';
import { columnsOf, computed, selection, type RowOf } from '../tables/selection.js';
import { execute, over } from '../tables/sql.js';
import { changing } from '../tables/versions.js';
import { Admin, AdminSession } from './tables.js';

export interface OnlineFilter extends ListQuery {
  username?: string;
  ip?: string;
}

export type OnlineRecord = RowOf<typeof shown> & { is_current: boolean };

export const onlineSortable = ['id', 'ip', 'created_at'] as const;

const shown = {
  ...columnsOf(AdminSession, 's', 'id', 'admin_id', 'ip', 'browser', 'os', 'created_at'),
  ...columnsOf(Admin, 'a', 'username', 'nickname'),
  last_active: columnsOf(AdminSession, 's', 'last_used_at').last_used_at,
};

const joinAdmins = 'JOIN admins a ON a.id = s.admin_id';
const sessions = selection(shown, 'admin_sessions s', joinAdmins);
const count = selection({ total: computed<number>('COUNT(*)') }, 'admin_sessions s', joinAdmins);
const countOfAdmins = selection(
  { total: computed<number>('COUNT(DISTINCT s.admin_id)') },
  'admin_sessions s',
  joinAdmins,
);

const sql = over({ admin_sessions: AdminSession, 'admin_sessions s': AdminSession, 'admins a': Admin });

const activeMs = 15 * 60_000;

export async function listOnline(identity: Identity, query: OnlineFilter): Promise<Page<OnlineRecord>> {
  const where = online()
    .contains('a.username', query.username)
    .contains('s.ip', query.ip)
    .during('s.created_at', query);
  const [rows, counted] = await Promise.all([
    sessions.rows(`${where.sql} ${pageSql(query, 's')}`, where.values),
    count.first(where.sql, where.values),
  ]);
  const list = rows.map((row) => ({ ...row, is_current: row.id === identity.sessionId }));
  return toPage(query, list, counted?.total ?? 0);
}

export type OwnSession = RowOf<typeof shownOwn> & { is_current: boolean };

const shownOwn = {
  ...columnsOf(AdminSession, 's', 'id', 'ip', 'browser', 'os', 'created_at'),
  last_active: shown.last_active,
};

const ownSessions = selection(shownOwn, 'admin_sessions s');

const maxOwn = 100;

/** The sessions with which the caller is signed in, the last used first; at most 100. */
export async function listOwnSessions({ adminId, sessionId }: Identity): Promise<OwnSession[]> {
  const rows = await ownSessions.where(
    sql(
      `WHERE s.admin_id = :adminId AND s.revoked_at IS NULL AND s.expires_at > :at AND s.last_used_at >= :idleSince
       ORDER BY s.last_used_at DESC, s.id DESC LIMIT :maxOwn`,
      { adminId, at: now(), idleSince: idleSince(), maxOwn },
    ),
  );
  return rows.map((row) => ({ ...row, is_current: row.id === sessionId }));
}

/** How many administrators are online. */
export async function countOnline(): Promise<number> {
  const where = online();
  const counted = await countOfAdmins.first(where.sql, where.values);
  return counted?.total ?? 0;
}

const owned = selection(columnsOf(AdminSession, 's', 'admin_id'), 'admin_sessions s');

/**
 * Ends sessions at once on every process.
 *
 * @returns how many were really ended
 * @throws grant_beyond_own when one belongs to somebody with more rights, as ending all their sessions would
 */
export async function kickOut(identity: Identity, sessionIds: readonly number[]): Promise<number> {
  const ended = await changing(['identity'], async (t) => {
    const owners = await owned.where(sql('WHERE s.id IN (:sessionIds) GROUP BY s.admin_id', { sessionIds }), {
      t,
    });
    for (const { admin_id } of owners) await assertOutranks(identity, admin_id, t);
    const [revoked] = await AdminSession.update(
      { revoked_at: now() },
      { where: { id: sessionIds, revoked_at: null, expires_at: { [Op.gt]: now() } }, transaction: t },
    );
    return revoked;
  });
  return ended;
}

/**
 * Ends a session of the caller at once on every process.
 *
 * @throws online_admin_not_found when the caller has no such session
 */
export async function endOwnSession({ adminId }: Identity, id: number): Promise<void> {
  const ended = await changing(['identity'], (t) =>
    execute(
      sql(
        `UPDATE admin_sessions SET revoked_at = :at
         WHERE id = :id AND admin_id = :adminId AND revoked_at IS NULL AND expires_at > :at`,
        { id, adminId, at: now() },
      ),
      { t },
    ),
  );
  if (ended === 0) fail('online_admin_not_found');
}

/** Those of these sessions that are still valid. */
export async function validSessions(jtis: readonly string[]): Promise<Set<string>> {
  if (jtis.length === 0) return new Set();
  const rows = await tokens.where(
    sql(
      `WHERE s.jti IN (:jtis) AND s.revoked_at IS NULL AND s.expires_at > :at AND s.last_used_at >= :idleSince
       AND a.status = 1`,
      { jtis, at: now(), idleSince: idleSince() },
    ),
  );
  return new Set(rows.map(({ jti }) => jti));
}

const tokens = selection(columnsOf(AdminSession, 's', 'jti'), 'admin_sessions s', joinAdmins);

function online(): Where {
  const at = now();
  return new Where()
    .and('s.revoked_at IS NULL AND s.expires_at > ?', at)
    .and('s.last_used_at >= ?', new Date(at.getTime() - activeMs));
}
