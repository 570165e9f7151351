// Granting is bounded: nobody gives, edits or removes rights beyond their own (docs/api.md, 4).
import type { Transaction } from 'sequelize';
import { fail } from '../../lib/errors/app-error.js';
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
    Role.findAll({ attributes: ['slug'], where: { id: roleIds }, transaction: t }),
    RolePermission.findAll({ where: { role_id: roleIds }, transaction: t }),
    RoleMenu.findAll({ where: { role_id: roleIds }, transaction: t }),
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
  const roles = await AdminRole.findAll({ where: { admin_id: adminId }, transaction: t });
  await assertHoldsRoles(
    holder,
    roles.map(({ role_id }) => role_id),
    t,
  );
}

/**
 * To be called after the change, in the transaction that takes rights from an administrator.
 *
 * @throws last_super_admin when no enabled super administrator would remain
 */
export async function assertSuperAdminRemains(t: Transaction): Promise<void> {
  const role = { association: 'roles', where: { slug: superAdminSlug, status: 1 } };
  const remaining = await Admin.scope('enabled').count({ include: role, transaction: t });
  if (remaining === 0) fail('last_super_admin');
}

/** Lets only one transaction at a time change who is a super administrator. */
export async function lockSuperAdmins(t: Transaction): Promise<void> {
  await Role.findOne({ attributes: ['id'], where: { slug: superAdminSlug }, transaction: t, lock: true });
}
