// Who is calling: the session of a token, its administrator and rights, kept per process in the scope `identity`.
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import { inLastingContext } from '../../lib/context.js';
import { fail } from '../../lib/errors.js';
import { logger } from '../../lib/logger.js';
import { withAncestors } from '../../lib/tree.js';
import { updateRows } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { over } from '../tables/sql.js';
import { VersionedCache } from '../tables/versioned-cache.js';
import {
  Admin,
  AdminRole,
  AdminSession,
  Menu,
  Permission,
  Role,
  RoleMenu,
  RolePermission,
} from './tables.js';

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
  /** When the session ends by itself. */
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

const maxKept = 10_000;
const { sessionIdleMs } = config.auth;
const touchEveryMs = sessionIdleMs === 0 ? 60_000 : Math.min(60_000, sessionIdleMs);

const identities = new VersionedCache<string, Identity>({ scope: 'identity', max: maxKept, load });
const touched = new Map<number, number>();

/**
 * The caller behind a token's `jti`, as of now on every process, whose session is being used.
 *
 * @param mark of the scope `identity` as read at the start of the request; undefined when Redis is unavailable
 * @throws token_revoked when the session or its administrator is no longer valid, token_expired when it was not used for long
 */
export async function authenticate(jti: string, mark: string | undefined): Promise<Identity> {
  const identity = await identityOf(jti, mark);
  touch(identity.sessionId);
  return identity;
}

/** As `authenticate`, but the session does not count as used. */
export function identityOf(jti: string, mark: string | undefined): Promise<Identity> {
  const known = identities.peek(jti);
  return known && mayBeIdle(known.sessionId) ? identities.reload(jti, mark) : identities.get(jti, mark);
}

const maxCopies = 500;

/**
 * Keeps what is read of an identity as long as it is the one of its session: every change in the scope `identity` makes
 * another one. Whatever is read must therefore raise that scope when it changes.
 */
export function keptPerIdentity<T>(
  read: (identity: Identity) => Promise<T>,
): (identity: Identity) => Promise<T> {
  const copies = new Map<Identity, Promise<T>>();
  return (identity) => {
    const known = copies.get(identity);
    if (known) return known;
    const copy = inLastingContext(() => read(identity));
    keepNewest(copies, identity, copy, maxCopies);
    copy.catch(() => copies.delete(identity));
    return copy;
  };
}

function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, max = maxKept): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value as K);
}

/**
 * A session last used before that instant is over. The time of use is written once a minute only, which is given to its
 * holder: SESSION_IDLE_MINUTES may last a minute longer.
 */
export function idleSince(): Date {
  return new Date(sessionIdleMs === 0 ? 0 : now().getTime() - sessionIdleMs - touchEveryMs);
}

// Another process may have used the session since; the row has the latest use.
function mayBeIdle(sessionId: number): boolean {
  return sessionIdleMs > 0 && Date.now() - (touched.get(sessionId) ?? 0) >= touchEveryMs;
}

// Written at most once a minute, and not awaited: it feeds "last active" and the idle timeout.
function touch(sessionId: number): void {
  const at = Date.now();
  if (at - (touched.get(sessionId) ?? 0) < touchEveryMs) return;
  keepNewest(touched, sessionId, at);
  updateRows(AdminSession, { last_used_at: now() }, { id: sessionId }).catch((error: unknown) =>
    logger.warn({ error }, 'storing the last activity of a session failed'),
  );
}

const sql = over({
  'admin_sessions s': AdminSession,
  'admins a': Admin,
  'admin_roles ar': AdminRole,
  'roles r': Role,
  'role_permissions rp': RolePermission,
  'permissions p': Permission,
  'role_menus rm': RoleMenu,
  'menus m': Menu,
});

const sessions = selection(
  {
    ...columnsOf(AdminSession, 's', 'id', 'admin_id', 'expires_at', 'last_used_at'),
    ...columnsOf(Admin, 'a', 'username', 'password_must_change'),
  },
  'admin_sessions s',
  'JOIN admins a ON a.id = s.admin_id',
);

async function load(jti: string): Promise<Identity> {
  const session = await sessions.one(
    sql('WHERE s.jti = :jti AND s.revoked_at IS NULL AND s.expires_at > :at AND a.status = 1', {
      jti,
      at: now(),
    }),
  );
  if (!session) fail('token_revoked');
  if (session.last_used_at < idleSince()) fail('token_expired');
  const rights = await loadRights(session.admin_id);
  return {
    sessionId: session.id,
    jti,
    adminId: session.admin_id,
    username: session.username,
    expiresAt: session.expires_at,
    needsPasswordChange: needsPasswordChange(session),
    ...rights,
  };
}

const roles = selection(
  columnsOf(Role, 'r', 'id', 'slug'),
  'roles r',
  'JOIN admin_roles ar ON ar.role_id = r.id',
);
const permissions = selection(
  columnsOf(Permission, 'p', 'id', 'slug', 'method', 'path'),
  'permissions p',
  'JOIN role_permissions rp ON rp.permission_id = p.id LEFT JOIN menus m ON m.id = p.menu_id',
);
const grantedMenus = selection(columnsOf(RoleMenu, 'rm', 'menu_id'), 'role_menus rm');
const places = selection(columnsOf(Menu, 'm', 'id', 'parent_id'), 'menus m');

/** The rights an administrator holds through enabled roles. */
export async function loadRights(
  adminId: number,
): Promise<Pick<Identity, 'isSuperAdmin' | 'rules' | 'permissionIds' | 'menuIds'>> {
  const held = await roles.where(sql('WHERE ar.admin_id = :adminId AND r.status = 1', { adminId }));
  const isSuperAdmin = held.some(({ slug }) => slug === superAdminSlug);
  if (isSuperAdmin || held.length === 0) {
    return { isSuperAdmin, rules: [], permissionIds: new Set(), menuIds: new Set() };
  }
  const roleIds = held.map(({ id }) => id);
  const [allowed, granted, menus] = await Promise.all([
    permissions.where(
      sql(
        `WHERE rp.role_id IN (:roleIds) AND p.status = 1 AND (p.menu_id IS NULL OR m.status = 1)
         GROUP BY p.id, p.slug, p.method, p.path`,
        { roleIds },
      ),
    ),
    grantedMenus.where(sql('WHERE rm.role_id IN (:roleIds)', { roleIds })),
    places.where(sql('', {})),
  ]);
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
