// permissions: what a role may be allowed, as a slug and as method and path.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { noneToNull } from '../../lib/input/blank-to-null.js';
import { refuseDuplicates } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { menuTitle, permissionName, permissionsNamed } from './builtin-names.js';
import { assertHolds, type Holder } from './rights.js';
import { changing } from '../tables/versions.js';
import { Menu, Permission, RolePermission } from './tables.js';
import { columnsOf, joined, type RowOf, selection } from '../tables/selection.js';
import { type Fields, listed, type Listed } from '../tables/table.js';
import { updateRows } from '../tables/rows.js';
import { execute, over } from '../tables/sql.js';

export type PermissionFields = Fields<Permission, 'is_builtin'>;

export interface PermissionFilter extends ListQuery {
  name?: string;
  slug?: string;
  path?: string;
  method?: string;
  status?: number;
  menu_id?: number;
}

export const permissionSortable = [
  'id',
  'name',
  'slug',
  'method',
  'path',
  'status',
  'sort',
  'created_at',
  'updated_at',
] as const;

const shown = { ...columnsOf(Permission, 'p'), menu: joined(columnsOf(Menu, 'm', 'id', 'title', 'slug')) };
const permissions = selection(shown, 'permissions p', 'LEFT JOIN menus m ON m.id = p.menu_id');

export type PermissionRecord = Listed<Permission> & { menu: Pick<Listed<Menu>, 'id' | 'title'> | null };

const toRecord = ({ menu, ...row }: RowOf<typeof shown>): PermissionRecord => ({
  ...row,
  name: permissionName(row.slug, row.name),
  menu: menu && { id: menu.id, title: menuTitle(menu.slug, menu.title) },
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

const declared = selection(
  columnsOf(Permission, 'p', 'slug', 'method', 'path', 'is_builtin'),
  'permissions p',
);

const duplicates = { uq_permissions_slug: { slug: 'permission_slug_exists', field: 'slug' } } as const;

/** Which routes a permission opens, by their names; the caller knows the routes. */
export type Opens = (rule: { slug: string; method: string; path: string }) => string[];

/** Whether the holder may pass all these routes. */
export type Passes = (routes: string[]) => boolean;

export async function listPermissions(query: PermissionFilter): Promise<Page<PermissionRecord>> {
  const where = new Where()
    .containsOr('p.name', query.name, 'p.slug', permissionsNamed)
    .contains('p.slug', query.slug)
    .contains('p.path', query.path)
    .equals('p.method', query.method)
    .equals('p.status', query.status)
    .equals('p.menu_id', query.menu_id)
    .during('p.created_at', query);
  const page = await permissions.page(query, where);
  return { ...page, list: page.list.map(toRecord) };
}

/** @throws permission_not_found */
export async function getPermission(id: number): Promise<PermissionRecord> {
  const row = await permissions.one(sql('WHERE p.id = :id', { id }));
  return toRecord(row ?? fail('permission_not_found'));
}

const slugs = selection(columnsOf(Permission, 'p', 'slug'), 'permissions p');
const sql = over({ 'permissions p': Permission, permissions: Permission, menus: Menu });

/** Every slug, of disabled permissions too: a super administrator passes every check. */
export async function allPermissionSlugs(): Promise<string[]> {
  const rows = await slugs.rows('ORDER BY p.slug');
  return rows.map(({ slug }) => slug);
}

/** Creates a permission; who is no super administrator must pass every route it opens. */
export async function createPermission(
  holder: Holder,
  fields: PermissionFields,
  opens: Opens,
  passes: Passes,
): Promise<number> {
  assertPasses(holder, passes, opens(fields));
  return refuseDuplicates(
    changing(['identity'], async (t) => {
      await assertMenu(fields.menu_id, t);
      return (await Permission.create(noneToNull(fields, 'menu_id'), { transaction: t })).id;
    }),
    duplicates,
  );
}

/** Changes only the fields given; built-in rows and rights beyond the holder's are refused. */
export async function updatePermission(
  holder: Holder,
  id: number,
  fields: Partial<PermissionFields>,
  opens: Opens,
  passes: Passes,
): Promise<void> {
  await refuseDuplicates(
    changing(['identity'], async (t) => {
      const permission = await lockPermission(holder, id, t);
      assertPasses(holder, passes, [...opens(permission), ...opens({ ...listed(permission), ...fields })]);
      await assertMenu(fields.menu_id, t);
      await permission.update(noneToNull(fields, 'menu_id'), { transaction: t });
    }),
    duplicates,
  );
}

export async function deletePermission(
  holder: Holder,
  id: number,
  opens: Opens,
  passes: Passes,
): Promise<void> {
  await changing(['identity'], async (t) => {
    const permission = await lockPermission(holder, id, t);
    assertPasses(holder, passes, opens(permission));
    await permission.destroy({ transaction: t });
  });
}

/** Writes the permission rows of this release's routes; rows of earlier releases stay, no longer built in. */
export async function declareBuiltinPermissions(wanted: BuiltinPermission[]): Promise<void> {
  const rows = await declared.rows('');
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
    for (const permission of fresh) await declare(permission, t);
    if (retired.length === 0) return;
    const names = retired.map(({ slug }) => slug);
    await updateRows(Permission, { is_builtin: false }, { slug: names }, t);
  });
}

async function declare({ slug, name, method, path, menu }: BuiltinPermission, t: Transaction): Promise<void> {
  const at = now();
  await execute(
    sql(
      `INSERT INTO permissions (slug, name, method, path, menu_id, is_builtin, created_at, updated_at)
       SELECT :slug, :name, :method, :path, (SELECT id FROM menus WHERE slug = :menu), 1, :at, :at
       ON DUPLICATE KEY UPDATE method = VALUES(method), path = VALUES(path), is_builtin = 1, updated_at = VALUES(updated_at)`,
      { slug, name, method, path, menu, at },
    ),
    { t },
  );
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

function assertPasses(holder: Holder, passes: Passes, routes: string[]): void {
  if (!holder.isSuperAdmin && !passes(routes)) fail('grant_beyond_own');
}

async function assertMenu(menuId: number | null | undefined, t: Transaction): Promise<void> {
  if (!menuId) return;
  // Locked, so that it is still there when the permission refers to it.
  const found = await Menu.findByPk(menuId, { attributes: ['id'], transaction: t, lock: t.LOCK.SHARE });
  if (!found) fail('menu_unknown', { field: 'menu_id' });
}
