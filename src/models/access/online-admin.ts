// Online administrators: sessions used in the last 15 minutes.
import { Op } from 'sequelize';
import { ago, now } from '../../lib/values/clock.js';
import { canonicalPart } from '../../lib/values/ip.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { textFilter } from '../../lib/input/schema.js';
import { containing, during, findPage, matching } from '../tables/find.js';
import type { Listed } from '../tables/table.js';
import { changing } from '../tables/versions.js';
import { endSessions, revokeSessions } from './admin-session.js';
import { idleSince, type Identity } from './identity.js';
import { assertOutranks, lockSuperAdmins } from './rights.js';
import { AdminSession, type Admin } from './tables.js';

const onlineFilters = { username: textFilter(50), ip: textFilter(45) };

type OnlineFilter = Criteria<typeof onlineFilters> & ListQuery;

/** The query of the list. */
export const onlineQuery = listQuery<OnlineFilter>(['id', 'ip', 'created_at'], onlineFilters);

interface OnlineRecord extends Pick<
  Listed<AdminSession>,
  'id' | 'admin_id' | 'ip' | 'browser' | 'os' | 'created_at'
> {
  username: string;
  nickname: string;
  last_active: Date;
  is_current: boolean;
}

const activeMs = 15 * 60_000;

export function listOnline(identity: Identity, query: OnlineFilter): Promise<Page<OnlineRecord>> {
  const options = {
    where: {
      ...matching<AdminSession>({ ip: containing(canonicalPart(query.ip)), created_at: during(query) }),
      ...usedSince(ago(activeMs)),
    },
    include: {
      association: 'admin',
      attributes: ['username', 'nickname'],
      where: matching<Admin>({ username: containing(query.username) }),
      required: true,
    },
  };
  return findPage(AdminSession, query, options, (session) => {
    const { username = '', nickname = '' } = session.admin ?? {};
    return { admin_id: session.admin_id, username, nickname, ...toOwn(session, identity.sessionId) };
  });
}

type OwnSession = Omit<OnlineRecord, 'admin_id' | 'username' | 'nickname'>;

const maxOwn = 100;

/** The sessions with which the caller is signed in, the last used first; at most 100. */
export async function listOwnSessions({ adminId, sessionId }: Identity): Promise<OwnSession[]> {
  const sessions = await AdminSession.findAll({
    where: { admin_id: adminId, ...usedSince(idleSince()) },
    order: [
      ['last_used_at', 'DESC'],
      ['id', 'DESC'],
    ],
    limit: maxOwn,
  });
  return sessions.map((session) => toOwn(session, sessionId));
}

const toOwn = (session: AdminSession, currentId: number): OwnSession => {
  const { id, ip, browser, os, created_at, last_used_at } = session;
  return { id, ip, browser, os, created_at, last_active: last_used_at, is_current: id === currentId };
};

/** How many administrators are online. */
export function countOnline(): Promise<number> {
  return AdminSession.count({
    where: usedSince(ago(activeMs)),
    include: { association: 'admin', required: true },
    distinct: true,
    col: 'admin_id',
  });
}

/**
 * Ends sessions at once on every process.
 *
 * @returns how many were really ended
 * @throws grant_beyond_own when one belongs to somebody with more rights, as ending all their sessions would
 */
export function kickOut(identity: Identity, sessionIds: readonly number[]): Promise<number> {
  return changing(['identity'], async (t) => {
    await lockSuperAdmins(t);
    const sessions = await AdminSession.findAll({ where: { id: sessionIds }, transaction: t });
    const owners = new Set(sessions.map(({ admin_id }) => admin_id));
    for (const owner of owners) await assertOutranks(identity, owner, t);
    return endSessions({ id: sessionIds }, t);
  });
}

/**
 * Ends a session of the caller at once on every process.
 *
 * @throws online_admin_not_found when the caller has no such session
 */
export async function endOwnSession({ adminId }: Identity, id: number): Promise<void> {
  if ((await revokeSessions({ id, admin_id: adminId })) === 0) fail('online_admin_not_found');
}

/** Those of these sessions that are still valid. */
export async function validSessions(jtis: readonly string[]): Promise<Set<string>> {
  if (jtis.length === 0) return new Set();
  const sessions = await AdminSession.findAll({
    attributes: ['jti'],
    where: { jti: jtis, ...usedSince(idleSince()) },
    include: { association: 'admin', attributes: [], where: { status: 1 } },
  });
  return new Set(sessions.map(({ jti }) => jti));
}

/** The condition of sessions that are valid and were used since that instant. */
const usedSince = (since: Date) => ({
  revoked_at: null,
  expires_at: { [Op.gt]: now() },
  last_used_at: { [Op.gte]: since },
});
