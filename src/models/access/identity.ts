// Who is calling: the session of a token, its administrator and rights, cached per process until the scope
// `identity` changes.
import { LRUCache } from 'lru-cache';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { fail } from '../../lib/errors/app-error.js';
import { logger } from '../../lib/watch/logger.js';
import { withAncestors } from '../tables/tree.js';
import type { Versions } from '../tables/versions.js';
import { AdminSession, Menu, Permission, Role, RoleMenu } from './tables.js';

/** Slug of the role that passes every check while it is enabled. */
export const superAdminSlug = 'super-admin';

export interface PermissionRule {
  slug: string;
  method: string;
  path: string;
}

export interface Identity {
  sessionId: number;
  jti: string;
  adminId: number;
  username: string;
  /** When the session expires. */
  expiresAt: Date;
  /** Only the routes that say so are open until the password has been changed. */
  needsPasswordChange: boolean;
  isSuperAdmin: boolean;
  /** What the enabled permissions of the enabled roles allow; empty for a super administrator. */
  rules: PermissionRule[];
  permissionIds: ReadonlySet<number>;
  /** Menus of the enabled roles with all their ancestors. */
  menuIds: ReadonlySet<number>;
}

/** Whether a password that somebody else has set must be changed before anything else. */
export const needsPasswordChange = (admin: { password_must_change: boolean }): boolean =>
  config.auth.passwordChangeRequired && admin.password_must_change;

const { sessionIdleMs } = config.auth;
const touchEveryMs = sessionIdleMs === 0 ? 60_000 : Math.min(60_000, sessionIdleMs);

const identities = new LRUCache<string, { version: number; identity: Identity }>({ max: 10_000 });
/** When the use of a session was last stored. */
const touched = new LRUCache<number, number>({ max: 10_000 });

/**
 * The caller behind a token's `jti`, as of now on every process, whose session is being used.
 *
 * @param versions as read at the start of the request
 * @throws token_revoked when the session or its administrator is no longer valid, token_expired when its time
 * is over or it was not used for long
 */
export async function authenticate(jti: string, versions: Versions): Promise<Identity> {
  const identity = await identityOf(jti, versions);
  touch(identity.sessionId);
  return identity;
}

/** As `authenticate`, but the session does not count as used. */
export async function identityOf(jti: string, { identity: version }: Versions): Promise<Identity> {
  const known = identities.get(jti);
  if (known?.version === version && !mayHaveEnded(known.identity)) return known.identity;
  const identity = await load(jti);
  identities.set(jti, { version, identity });
  return identity;
}

/**
 * A session last used before that instant has ended. The time of use is written once a minute, so a session may outlast
 * SESSION_IDLE_MINUTES by a minute.
 */
export function idleSince(): Date {
  return new Date(sessionIdleMs === 0 ? 0 : now().getTime() - sessionIdleMs - touchEveryMs);
}

// Another process may have used the session since; the row has the latest use.
function mayHaveEnded({ sessionId, expiresAt }: Identity): boolean {
  const mayBeIdle = sessionIdleMs > 0 && Date.now() - (touched.get(sessionId) ?? 0) >= touchEveryMs;
  return mayBeIdle || expiresAt <= now();
}

// Written at most once a minute, and not awaited: it feeds "last active" and the idle timeout.
function touch(sessionId: number): void {
  const at = Date.now();
  if (at - (touched.get(sessionId) ?? 0) < touchEveryMs) return;
  touched.set(sessionId, at);
  AdminSession.update({ last_used_at: now() }, { where: { id: sessionId } }).catch((error: unknown) =>
    logger.warn({ error }, 'storing the last activity of a session failed'),
  );
}

async function load(jti: string): Promise<Identity> {
  const session = await AdminSession.findOne({
    where: { jti, revoked_at: null },
    include: {
      association: 'admin',
      attributes: ['username', 'password_must_change'],
      where: { status: 1 },
    },
  });
  if (!session?.admin) fail('token_revoked');
  if (session.expires_at <= now() || session.last_used_at < idleSince()) fail('token_expired');
  const rights = await loadRights(session.admin_id);
  return {
    sessionId: session.id,
    jti,
    adminId: session.admin_id,
    username: session.admin.username,
    expiresAt: session.expires_at,
    needsPasswordChange: needsPasswordChange(session.admin),
    ...rights,
  };
}

/** The rights an administrator holds through enabled roles. */
async function loadRights(
  adminId: number,
): Promise<Pick<Identity, 'isSuperAdmin' | 'rules' | 'permissionIds' | 'menuIds'>> {
  const roles = await Role.scope('enabled').findAll({
    attributes: ['id', 'slug'],
    include: { association: 'admins', attributes: [], through: { attributes: [] }, where: { id: adminId } },
  });
  const isSuperAdmin = roles.some(({ slug }) => slug === superAdminSlug);
  if (isSuperAdmin || roles.length === 0) {
    return { isSuperAdmin, rules: [], permissionIds: new Set(), menuIds: new Set() };
  }
  const roleIds = roles.map(({ id }) => id);
  const [permissions, granted, menus] = await Promise.all([
    Permission.scope('enabled').findAll({
      attributes: ['id', 'slug', 'method', 'path'],
      include: [
        { association: 'roles', attributes: [], through: { attributes: [] }, where: { id: roleIds } },
        { association: 'menu', attributes: ['status'] },
      ],
    }),
    RoleMenu.findAll({ attributes: ['menu_id'], where: { role_id: roleIds } }),
    Menu.findAll({ attributes: ['id', 'parent_id'] }),
  ]);
  // A disabled menu closes its permissions.
  const allowed = permissions.filter(({ menu }) => !menu || menu.status === 1);
  return {
    isSuperAdmin,
    rules: allowed.map(({ slug, method, path }) => ({ slug, method, path })),
    permissionIds: new Set(allowed.map(({ id }) => id)),
    menuIds: withAncestors(
      menus,
      granted.map(({ menu_id }) => menu_id),
    ),
  };
}
