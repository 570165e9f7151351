// permissions: what a role may be allowed, as a slug and as method and path.
import Joi from 'joi';
import { Op, type Transaction } from 'sequelize';
import { blankToNull, noneToNull, id, status, textFilter } from '../../lib/input/schema.js';
import { refuseDuplicates } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { changing } from '../tables/versions.js';
import { containing, during, findPage, lockRow, matching } from '../tables/find.js';
import { listed, type Fields, type Listed } from '../tables/table.js';
import {
  menuTitle,
  permissionName,
  permissionsByName,
  permissionsNamed,
  withoutShown,
} from './builtin-names.js';
import type { PermissionRule } from './identity.js';
import { assertHolds, type Holder } from './rights.js';
import { Menu, Permission, RolePermission } from './tables.js';

export type PermissionFields = Fields<Permission, 'is_builtin'>;

export const permissionMethod = Joi.string().valid('GET', 'POST', 'PUT', 'DELETE');

const permissionFilters = {
  name: textFilter(100),
  slug: textFilter(100),
  path: textFilter(255),
  method: permissionMethod,
  status: status(),
  menu_id: id(),
};

type PermissionFilter = Criteria<typeof permissionFilters> & ListQuery;

/** The query of the list. */
export const permissionQuery = listQuery<PermissionFilter>(
  ['id', 'name', 'slug', 'method', 'path', 'status', 'sort', 'created_at', 'updated_at'],
  permissionFilters,
);

type PermissionRecord = Listed<Permission> & { menu: Pick<Listed<Menu>, 'id' | 'title'> | null };

const shown = { association: 'menu', attributes: ['id', 'title', 'slug', 'sort'] };

const toRecord = (permission: Permission): PermissionRecord => ({
  ...listed(permission),
  name: permissionName(permission.slug, permission.name),
  menu: permission.menu
    ? { id: permission.menu.id, title: menuTitle(permission.menu.slug, permission.menu.title) }
    : null,
});

/** A permission that a route of this release needs. */
export interface BuiltinPermission {
  slug: string;
  name: string;
  method: string;
  path: string;
  /** Slug of the menu it is shown under. */
  menu: string;
}

const duplicates = { uq_permissions_slug: { slug: 'permission_slug_exists', field: 'slug' } } as const;

/** Whether the holder may call every route that such a permission opens; the caller knows the routes. */
type Covers = (rule: PermissionRule) => boolean;

export function listPermissions(query: PermissionFilter): Promise<Page<PermissionRecord>> {
  const where = matching<Permission>({
    slug: containing(query.slug),
    path: containing(query.path),
    method: query.method,
    status: query.status,
    menu_id: query.menu_id,
    created_at: during(query),
  });
  const named = query.name
    ? { [Op.or]: [{ name: containing(query.name) }, { slug: permissionsNamed(query.name) }] }
    : {};
  const options = { where: { ...where, ...named }, include: shown };
  return findPage(Permission, query, options, toRecord, { name: permissionsByName });
}

interface PermissionOption {
  value: number | string;
  label: string;
  children?: PermissionOption[];
}

/** Enabled permissions for role forms, grouped by menu; those without a menu come last. */
export async function permissionOptions(): Promise<PermissionOption[]> {
  const rows = await Permission.scope('enabled').findAll({
    include: shown,
    order: [['menu', 'sort', 'ASC'], ['menu', 'id', 'ASC'], 'sort', 'id'],
  });
  const groups = new Map<number, PermissionOption & { children: PermissionOption[] }>();
  const loose: PermissionOption[] = [];
  for (const { id, name, menu } of rows.map(toRecord)) {
    const option = { value: id, label: name };
    if (!menu) loose.push(option);
    else {
      const group = groups.get(menu.id) ?? { value: `menu:${menu.id}`, label: menu.title, children: [] };
      group.children.push(option);
      groups.set(menu.id, group);
    }
  }
  return [...groups.values(), ...loose];
}

/** @throws permission_not_found */
export async function getPermission(id: number, transaction?: Transaction): Promise<PermissionRecord> {
  await lockRow(Permission, id, transaction);
  const found = await Permission.findByPk(id, { include: shown, transaction });
  return toRecord(found ?? fail('permission_not_found'));
}

/** Every slug, of disabled permissions too: a super administrator passes every check. */
export async function allPermissionSlugs(): Promise<string[]> {
  const rows = await Permission.findAll({ attributes: ['slug'], order: ['slug'] });
  return rows.map(({ slug }) => slug);
}

/** Creates a permission; who is no super administrator must pass every route it opens. */
export async function createPermission(fields: PermissionFields, covers: Covers): Promise<number> {
  if (!covers(fields)) fail('grant_beyond_own');
  return refuseDuplicates(
    changing(['identity'], async (t) => {
      await assertMenu(fields.menu_id, t);
      return (await Permission.create(cleared(fields), { transaction: t })).id;
    }),
    duplicates,
  );
}

/** Changes only the fields given; built-in rows and rights beyond the holder's are refused. */
export async function updatePermission(
  holder: Holder,
  id: number,
  fields: Partial<PermissionFields>,
  covers: Covers,
): Promise<void> {
  await refuseDuplicates(
    changing(['identity'], async (t) => {
      const permission = await lockPermission(holder, id, t);
      const after = { ...listed(permission), ...fields };
      if (!covers(permission) || !covers(after)) fail('grant_beyond_own');
      await assertMenu(fields.menu_id, t);
      await permission.update(withoutShown('permission', permission, cleared(fields)), { transaction: t });
    }),
    duplicates,
  );
}

export async function deletePermission(holder: Holder, id: number, covers: Covers): Promise<void> {
  await changing(['identity'], async (t) => {
    const permission = await lockPermission(holder, id, t);
    if (!covers(permission)) fail('grant_beyond_own');
    await permission.destroy({ transaction: t });
  });
}

/** Writes the permission rows of this release's routes; rows of earlier releases stay, no longer built in. */
export async function declareBuiltinPermissions(wanted: BuiltinPermission[]): Promise<void> {
  const rows = await Permission.findAll({ attributes: ['slug', 'method', 'path', 'is_builtin'] });
  const bySlug = new Map(rows.map((row) => [row.slug, row]));
  const isKnown = ({ slug, method, path }: BuiltinPermission): boolean => {
    const row = bySlug.get(slug);
    return row?.method === method && row.path === path && row.is_builtin;
  };
  const fresh = wanted.filter((permission) => !isKnown(permission));
  const slugs = new Set(wanted.map(({ slug }) => slug));
  const retired = rows.filter(({ slug, is_builtin }) => is_builtin && !slugs.has(slug));
  if (fresh.length === 0 && retired.length === 0) return;
  await changing(['identity'], async (t) => {
    const menus = await Menu.findAll({ attributes: ['id', 'slug'], transaction: t });
    const menuIds = new Map(menus.map(({ id, slug }) => [slug, id]));
    await Permission.bulkCreate(
      fresh.map(({ menu, ...columns }) => ({
        ...columns,
        menu_id: menuIds.get(menu) ?? null,
        is_builtin: true,
      })),
      { updateOnDuplicate: ['method', 'path', 'is_builtin', 'updated_at'], transaction: t },
    );
    const names = retired.map(({ slug }) => slug);
    await Permission.update({ is_builtin: false }, { where: { slug: names }, transaction: t });
  });
}

async function lockPermission(holder: Holder, id: number, t: Transaction): Promise<Permission> {
  const permission = await Permission.findByPk(id, { transaction: t, lock: true });
  if (!permission) fail('permission_not_found');
  if (holder.isSuperAdmin) return permission;
  if (permission.is_builtin) fail('builtin_permission_protected');
  // Roles pass it on: changing it changes what their holders may do, also where it opens no route.
  const given = await RolePermission.findOne({ where: { permission_id: id }, transaction: t });
  if (given) assertHolds(holder, [id], []);
  return permission;
}

const cleared = <T extends Partial<PermissionFields>>(fields: T): T =>
  blankToNull(noneToNull(fields, 'menu_id'));

async function assertMenu(menuId: number | null | undefined, t: Transaction): Promise<void> {
  if (!menuId) return;
  // Locked, so that it is still there when the permission refers to it.
  const found = await Menu.findByPk(menuId, { attributes: ['id'], transaction: t, lock: t.LOCK.SHARE });
  if (!found) fail('menu_unknown', { field: 'menu_id' });
}
