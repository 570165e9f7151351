// roles: named sets of permissions and menus.
import { Op, type Model, type ModelStatic, type Transaction } from 'sequelize';
import { blankToNull, status, textFilter } from '../../lib/input/schema.js';
import { refuseDuplicates, transact } from '../../lib/database/db.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { announce } from '../../lib/redis/changes.js';
import { changing } from '../tables/versions.js';
import { containing, during, findPage, lockRow, matching, withUse } from '../tables/find.js';
import { replaceSet, touch } from '../tables/sets.js';
import type { Fields, Listed } from '../tables/table.js';
import {
  menuTitle,
  permissionName,
  roleName,
  rolesByName,
  rolesNamed,
  withoutShown,
} from './builtin-names.js';
import { superAdminSlug } from './identity.js';
import { assertHolds, assertHoldsRoles, type Holder } from './rights.js';
import { AdminRole, Menu, Permission, Role } from './tables.js';

export type RoleFields = Fields<Role> & { permission_ids?: number[]; menu_ids?: number[] };

const roleFilters = { name: textFilter(50), slug: textFilter(50), status: status() };

type RoleFilter = Criteria<typeof roleFilters> & ListQuery;

/** The query of the list. */
export const roleQuery = listQuery<RoleFilter>(
  ['id', 'name', 'slug', 'status', 'sort', 'created_at', 'updated_at'],
  roleFilters,
);

/** With whether administrators hold it, which keeps it from being deleted. */
type RoleRecord = Listed<Role> & { in_use: boolean; permission_ids: number[]; menu_ids: number[] };

type RoleDetail = RoleRecord & {
  permissions: Pick<Permission, 'id' | 'name' | 'slug'>[];
  menus: Pick<Menu, 'id' | 'title' | 'slug'>[];
};

// A statement each: joined, every permission would be read once a menu.
const shown = [
  { association: 'permission_keys', attributes: ['role_id', 'permission_id'], separate: true },
  { association: 'menu_keys', attributes: ['role_id', 'menu_id'], separate: true },
];

const duplicates = { uq_roles_slug: { slug: 'role_slug_exists', field: 'slug' } } as const;

export function listRoles(query: RoleFilter): Promise<Page<RoleRecord>> {
  const where = matching<Role>({
    slug: containing(query.slug),
    status: query.status,
    created_at: during(query),
  });
  const named = query.name
    ? { [Op.or]: [{ name: containing(query.name) }, { slug: rolesNamed(query.name) }] }
    : {};
  const options = { where: { ...where, ...named }, include: shown };
  return findPage(Role.scope('withUse'), query, options, toRecord, { name: rolesByName });
}

/** A role, locked in a transaction. @throws role_not_found */
export async function getRole(id: number, transaction?: Transaction): Promise<RoleDetail> {
  await lockRow(Role, id, transaction);
  const role = await Role.scope('withUse').findByPk(id, { include: shown, transaction });
  if (!role) fail('role_not_found');
  const [permissions, menus] = await Promise.all([
    role.$get('permissions', { order: ['id'], transaction }),
    role.$get('menus', { order: ['sort', 'id'], transaction }),
  ]);
  return {
    ...toRecord(role),
    permissions: permissions.map(({ id, slug, name }) => ({ id, name: permissionName(slug, name), slug })),
    menus: menus.map(({ id, slug, title }) => ({ id, title: menuTitle(slug, title), slug })),
  };
}

/** Enabled roles for select boxes. */
export async function roleOptions(): Promise<{ value: number; label: string }[]> {
  const rows = await Role.scope('enabled').findAll({ order: ['sort', 'id'] });
  return rows.map(({ id, slug, name }) => ({ value: id, label: roleName(slug, name) }));
}

export async function createRole(holder: Holder, fields: RoleFields): Promise<number> {
  const { permission_ids = [], menu_ids = [], ...columns } = fields;
  assertHolds(holder, permission_ids, menu_ids);
  const made = await refuseDuplicates(
    transact(async (t) => {
      const role = await Role.create(blankToNull(columns), { transaction: t });
      await setRights(role, { permission_ids, menu_ids }, t);
      return role.id;
    }),
    duplicates,
  );
  // Nobody holds it yet, but lists show it.
  announce(['identity']);
  return made;
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
      await role.update(withoutShown('role', role, blankToNull(columns)), { transaction: t });
      if (await setRights(role, { permission_ids, menu_ids }, t)) await touch(role, t);
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
  role: { model: Role, slug: 'role_unknown', field: 'role_ids' },
  permission: { model: Permission, slug: 'permission_unknown', field: 'permission_ids' },
  menu: { model: Menu, slug: 'menu_unknown', field: 'menu_ids' },
} as const satisfies Record<
  string,
  { model: ModelStatic<Role | Permission | Menu>; slug: ErrorSlug; field: string }
>;

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
  const { slug, field } = references[kind];
  const model: ModelStatic<Model> = references[kind].model;
  const found = await model.findAll({
    attributes: ['id'],
    where: { id: ids },
    order: ['id'],
    transaction: t,
    lock: t?.LOCK.SHARE,
  });
  if (found.length !== ids.length) fail(slug, { field });
}

/** @returns whether they were others */
async function setRights(
  role: Role,
  { permission_ids, menu_ids }: { permission_ids?: number[]; menu_ids?: number[] },
  t: Transaction,
): Promise<boolean> {
  let isChanged = false;
  if (permission_ids) {
    await assertExist('permission', permission_ids, t);
    isChanged = await replaceSet(role, 'permissions', permission_ids, t);
  }
  if (menu_ids) {
    await assertExist('menu', menu_ids, t);
    isChanged = (await replaceSet(role, 'menus', menu_ids, t)) || isChanged;
  }
  return isChanged;
}

function changesProtected(columns: Partial<RoleFields>): boolean {
  return (columns.slug !== undefined && columns.slug !== superAdminSlug) || columns.status === 0;
}

function toRecord(role: Role): RoleRecord {
  const { permission_keys = [], menu_keys = [] } = role;
  const ascending = (one: number, other: number): number => one - other;
  return {
    ...withUse(role),
    name: roleName(role.slug, role.name),
    // That of the built-in role is its name.
    description: role.description && roleName(role.slug, role.description),
    permission_ids: permission_keys.map(({ permission_id }) => permission_id).sort(ascending),
    menu_ids: menu_keys.map(({ menu_id }) => menu_id).sort(ascending),
  };
}
