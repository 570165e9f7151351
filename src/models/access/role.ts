// roles: named sets of permissions and menus.
import type { Transaction } from 'sequelize';
import { refuseDuplicates, transact } from '../../lib/database/db.js';
import type { ErrorSlug } from '../../lib/error-catalogue/index.js';
import { fail } from '../../lib/errors.js';
import { Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { menuTitle, permissionName, roleName } from './builtin-names.js';
import { superAdminSlug } from './identity.js';
import { assertHolds, assertHoldsRoles, type Holder } from './rights.js';
import { changing } from '../tables/versions.js';
import { AdminRole, Menu, Permission, Role, RoleMenu, RolePermission } from './tables.js';
import { type Fields, type Listed, listed } from '../tables/table.js';
import { deleteRows, insertStatement } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { execute, over } from '../tables/sql.js';

export type RoleFields = Fields<Role> & { permission_ids?: number[]; menu_ids?: number[] };

export interface RoleFilter extends ListQuery {
  name?: string;
  slug?: string;
  status?: number;
}

export const roleSortable = ['id', 'name', 'slug', 'status', 'sort', 'created_at', 'updated_at'] as const;

export type RoleRecord = Listed<Role> & { permission_ids: number[]; menu_ids: number[] };

export type RoleDetail = RoleRecord & {
  permissions: Pick<Permission, 'id' | 'name' | 'slug'>[];
  menus: Pick<Menu, 'id' | 'title' | 'slug'>[];
};

const roles = selection(columnsOf(Role, 'r'), 'roles r');

const permissionsOfRole = selection(
  columnsOf(Permission, 'p', 'id', 'name', 'slug'),
  'role_permissions rp',
  'JOIN permissions p ON p.id = rp.permission_id',
);

const menusOfRole = selection(
  columnsOf(Menu, 'm', 'id', 'title', 'slug'),
  'role_menus rm',
  'JOIN menus m ON m.id = rm.menu_id',
);

const duplicates = { uq_roles_slug: { slug: 'role_slug_exists', field: 'slug' } } as const;

export async function listRoles(query: RoleFilter): Promise<Page<RoleRecord>> {
  const where = new Where()
    .contains('r.name', query.name)
    .contains('r.slug', query.slug)
    .equals('r.status', query.status)
    .during('r.created_at', query);
  const page = await roles.page(query, where);
  return { ...page, list: await withRights(page.list) };
}

/** @throws role_not_found */
export async function getRole(id: number): Promise<RoleDetail> {
  const row = (await Role.findByPk(id)) ?? fail('role_not_found');
  const [[role], permissions, menus] = await Promise.all([
    withRights([listed(row)]),
    permissionsOfRole.where(sql('WHERE rp.role_id = :id ORDER BY p.id', { id })),
    menusOfRole.where(sql('WHERE rm.role_id = :id ORDER BY m.sort, m.id', { id })),
  ]);
  return {
    ...(role as RoleRecord),
    permissions: permissions.map((one) => ({ ...one, name: permissionName(one.slug, one.name) })),
    menus: menus.map((one) => ({ ...one, title: menuTitle(one.slug, one.title) })),
  };
}

/** Enabled roles for select boxes. */
export async function roleOptions(): Promise<{ value: number; label: string }[]> {
  const rows = await roles.rows('WHERE r.status = 1 ORDER BY r.sort, r.id');
  return rows.map(({ id, slug, name }) => ({ value: id, label: roleName(slug, name) }));
}

export async function createRole(holder: Holder, fields: RoleFields): Promise<number> {
  const { permission_ids = [], menu_ids = [], ...columns } = fields;
  assertHolds(holder, permission_ids, menu_ids);
  return refuseDuplicates(
    transact(async (t) => {
      const role = await Role.create(columns, { transaction: t });
      await setRights(role.id, { permission_ids, menu_ids }, t);
      return role.id;
    }),
    duplicates,
  );
}

/** Changes only the fields given; the holder must hold what the role carries before and after. */
export async function updateRole(holder: Holder, id: number, fields: Partial<RoleFields>): Promise<void> {
  const { permission_ids, menu_ids, ...columns } = fields;
  await refuseDuplicates(
    changing(['identity'], async (t) => {
      const role = (await Role.findByPk(id, { transaction: t, lock: true })) ?? fail('role_not_found');
      await assertHoldsRoles(holder, [id], t);
      assertHolds(holder, permission_ids ?? [], menu_ids ?? []);
      if (role.slug === superAdminSlug && changesProtected(columns)) fail('super_admin_role_protected');
      await role.update(columns, { transaction: t });
      await setRights(id, { permission_ids, menu_ids }, t);
    }),
    duplicates,
  );
}

export async function deleteRole(holder: Holder, id: number): Promise<void> {
  await changing(['identity'], async (t) => {
    const role = (await Role.findByPk(id, { transaction: t, lock: true })) ?? fail('role_not_found');
    await assertHoldsRoles(holder, [id], t);
    if (role.slug === superAdminSlug) fail('super_admin_role_protected');
    const used = await AdminRole.findOne({ where: { role_id: id }, transaction: t });
    if (used) fail('role_in_use');
    await role.destroy({ transaction: t });
  });
}

const references = {
  role: { rows: selection(columnsOf(Role, 'x', 'id'), 'roles x'), slug: 'role_unknown', field: 'role_ids' },
  permission: {
    rows: selection(columnsOf(Permission, 'x', 'id'), 'permissions x'),
    slug: 'permission_unknown',
    field: 'permission_ids',
  },
  menu: { rows: selection(columnsOf(Menu, 'x', 'id'), 'menus x'), slug: 'menu_unknown', field: 'menu_ids' },
} as const satisfies Record<string, { rows: object; slug: ErrorSlug; field: string }>;

/**
 * In a transaction the rows also stay until its end.
 *
 * @throws role_unknown, permission_unknown or menu_unknown when an id does not exist
 */
export async function assertExist(
  kind: keyof typeof references,
  ids: readonly number[],
  t?: Transaction,
): Promise<void> {
  if (ids.length === 0) return;
  const { rows, slug, field } = references[kind];
  const lock = t ? 'LOCK IN SHARE MODE' : '';
  const found = await rows.rows(`WHERE x.id IN (?) ORDER BY x.id ${lock}`, [ids], { t });
  if (found.length !== ids.length) fail(slug, { field });
}

async function setRights(
  roleId: number,
  { permission_ids, menu_ids }: { permission_ids?: number[]; menu_ids?: number[] },
  t: Transaction,
): Promise<void> {
  if (permission_ids) {
    await assertExist('permission', permission_ids, t);
    await deleteRows(RolePermission, { role_id: roleId }, t);
    const rows = permission_ids.map((permission_id) => ({ role_id: roleId, permission_id }));
    if (rows.length > 0) await execute(insertStatement(RolePermission, rows), { t });
  }
  if (menu_ids) {
    await assertExist('menu', menu_ids, t);
    await deleteRows(RoleMenu, { role_id: roleId }, t);
    const rows = menu_ids.map((menu_id) => ({ role_id: roleId, menu_id }));
    if (rows.length > 0) await execute(insertStatement(RoleMenu, rows), { t });
  }
}

function changesProtected(columns: Partial<RoleFields>): boolean {
  return (columns.slug !== undefined && columns.slug !== superAdminSlug) || columns.status === 0;
}

// One statement each for the permissions and menus of all of them.
async function withRights(rows: Listed<Role>[]): Promise<RoleRecord[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [permissions, menus] = await Promise.all([
    heldPermissions.where(sql('WHERE rp.role_id IN (:ids) ORDER BY rp.permission_id', { ids })),
    heldMenus.where(sql('WHERE rm.role_id IN (:ids) ORDER BY rm.menu_id', { ids })),
  ]);
  return rows.map((row) => ({
    ...row,
    name: roleName(row.slug, row.name),
    permission_ids: permissions.flatMap((held) => (held.role_id === row.id ? [held.permission_id] : [])),
    menu_ids: menus.flatMap((held) => (held.role_id === row.id ? [held.menu_id] : [])),
  }));
}

const sql = over({
  'role_permissions rp': RolePermission,
  'role_menus rm': RoleMenu,
  'permissions p': Permission,
  'menus m': Menu,
});
const heldPermissions = selection(
  columnsOf(RolePermission, 'rp', 'role_id', 'permission_id'),
  'role_permissions rp',
);
const heldMenus = selection(columnsOf(RoleMenu, 'rm', 'role_id', 'menu_id'), 'role_menus rm');
