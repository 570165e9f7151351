// Granting is bounded: nobody gives, edits or removes rights beyond their own (contract.md §4).
import type { Transaction } from 'sequelize';
import { fail } from '../../lib/errors.js';
import { columnsOf, computed, selection } from '../tables/selection.js';
import { over } from '../tables/sql.js';
import { superAdminSlug, type Identity } from './identity.js';
import { Admin, AdminRole, Role, RoleMenu, RolePermission } from './tables.js';

/** The rights of a caller, as far as granting needs them. */
export type Holder = Pick<Identity, 'adminId' | 'isSuperAdmin' | 'permissionIds' | 'menuIds'>;

/**
 * @throws super_admin_protected when one of the roles is the super-administrator role
 * @throws grant_beyond_own when a role carries a permission or menu the holder does not have
 */
export async function assertHoldsRoles(
  holder: Holder,
  roleIds: readonly number[],
  t?: Transaction,
): Promise<void> {
  if (holder.isSuperAdmin || roleIds.length === 0) return;
  const [roles, permissions, menus] = await Promise.all([
    rolesOf.where(sql('WHERE r.id IN (:roleIds)', { roleIds }), { t }),
    permissionsOf.where(sql('WHERE rp.role_id IN (:roleIds)', { roleIds }), { t }),
    menusOf.where(sql('WHERE rm.role_id IN (:roleIds)', { roleIds }), { t }),
  ]);
  if (roles.some(({ slug }) => slug === superAdminSlug)) fail('super_admin_protected');
  assertHolds(
    holder,
    permissions.map(({ permission_id }) => permission_id),
    menus.map(({ menu_id }) => menu_id),
  );
}

/** @throws grant_beyond_own when the holder lacks one of the permissions or menus */
export function assertHolds(
  holder: Holder,
  permissionIds: readonly number[],
  menuIds: readonly number[],
): void {
  if (holder.isSuperAdmin) return;
  const beyond =
    permissionIds.some((id) => !holder.permissionIds.has(id)) ||
    menuIds.some((id) => !holder.menuIds.has(id));
  if (beyond) fail('grant_beyond_own');
}

/** The holder may touch that administrator: everyone may touch themselves, else all their roles must be held. */
export async function assertOutranks(holder: Holder, adminId: number, t?: Transaction): Promise<void> {
  if (holder.isSuperAdmin || holder.adminId === adminId) return;
  const roles = await held.where(sql('WHERE ar.admin_id = :adminId', { adminId }), { t });
  await assertHoldsRoles(
    holder,
    roles.map(({ role_id }) => role_id),
    t,
  );
}

/**
 * Runs in the transaction that takes rights from an administrator, after the change.
 *
 * @throws last_super_admin when no enabled super administrator would remain
 */
export async function assertSuperAdminRemains(t: Transaction): Promise<void> {
  const row = await superAdmins.one(
    sql('WHERE r.slug = :slug AND r.status = 1 AND a.status = 1', { slug: superAdminSlug }),
    { t },
  );
  if (!row || row.remaining === 0) fail('last_super_admin');
}

/** Lets only one transaction at a time change who is a super administrator. */
export async function lockSuperAdmins(t: Transaction): Promise<void> {
  await rolesOf.one(sql('WHERE r.slug = :slug FOR UPDATE', { slug: superAdminSlug }), { t });
}

const rolesOf = selection(columnsOf(Role, 'r', 'id', 'slug'), 'roles r');
const permissionsOf = selection(columnsOf(RolePermission, 'rp', 'permission_id'), 'role_permissions rp');
const menusOf = selection(columnsOf(RoleMenu, 'rm', 'menu_id'), 'role_menus rm');
const held = selection(columnsOf(AdminRole, 'ar', 'role_id'), 'admin_roles ar');
const superAdmins = selection(
  { remaining: computed<number>('COUNT(*)') },
  'admins a',
  'JOIN admin_roles ar ON ar.admin_id = a.id JOIN roles r ON r.id = ar.role_id',
);
const sql = over({
  'admins a': Admin,
  'admin_roles ar': AdminRole,
  'roles r': Role,
  'role_permissions rp': RolePermission,
  'role_menus rm': RoleMenu,
});
