// Granting is bounded: nobody gives, edits or removes rights beyond their own (contract.md §4).
import type { Transaction } from 'sequelize';
import { select } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { superAdminSlug, type Identity } from './identity.js';

/** The rights of a caller, as far as granting needs them. */
export type Holder = Pick<Identity, 'adminId' | 'isSuperAdmin' | 'permissionIds' | 'menuIds'>;

/**
 * @throws super_admin_protected when one of the roles is the super-administrator role
 * @throws grant_beyond_own when a role carries a permission or menu the holder does not have
 */
export async function mustHoldRoles(
  holder: Holder,
  roleIds: readonly number[],
  t?: Transaction,
): Promise<void> {
  if (holder.isSuperAdmin || roleIds.length === 0) return;
  const [roles, permissions, menus] = await Promise.all([
    select<{ slug: string }>('SELECT slug FROM roles WHERE id IN (?)', [roleIds], t),
    select<{ id: number }>(
      'SELECT permission_id AS id FROM role_permissions WHERE role_id IN (?)',
      [roleIds],
      t,
    ),
    select<{ id: number }>('SELECT menu_id AS id FROM role_menus WHERE role_id IN (?)', [roleIds], t),
  ]);
  if (roles.some(({ slug }) => slug === superAdminSlug)) fail('super_admin_protected');
  mustHold(
    holder,
    permissions.map(({ id }) => id),
    menus.map(({ id }) => id),
  );
}

/** @throws grant_beyond_own when the holder lacks one of the permissions or menus */
export function mustHold(holder: Holder, permissionIds: readonly number[], menuIds: readonly number[]): void {
  if (holder.isSuperAdmin) return;
  const beyond =
    permissionIds.some((id) => !holder.permissionIds.has(id)) ||
    menuIds.some((id) => !holder.menuIds.has(id));
  if (beyond) fail('grant_beyond_own');
}

/** The holder may touch that administrator: everyone may touch themselves, else all their roles must be held. */
export async function mustOutrank(holder: Holder, adminId: number, t?: Transaction): Promise<void> {
  if (holder.isSuperAdmin || holder.adminId === adminId) return;
  const roles = await select<{ role_id: number }>(
    'SELECT role_id FROM admin_roles WHERE admin_id = ?',
    [adminId],
    t,
  );
  await mustHoldRoles(
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
export async function mustKeepSuperAdmin(t: Transaction): Promise<void> {
  const [row] = await select<{ remaining: number }>(
    `SELECT COUNT(*) AS remaining FROM admins a JOIN admin_roles ar ON ar.admin_id = a.id JOIN roles r ON r.id = ar.role_id
     WHERE r.slug = ? AND r.status = 1 AND a.status = 1`,
    [superAdminSlug],
    t,
  );
  if (!row || row.remaining === 0) fail('last_super_admin');
}

/** Lets only one transaction at a time change who is a super administrator. */
export async function lockSuperAdmins(t: Transaction): Promise<void> {
  await select('SELECT id FROM roles WHERE slug = ? FOR UPDATE', [superAdminSlug], t);
}
