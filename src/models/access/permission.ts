// permissions: what a role may be allowed, as a slug and as method and path.
import type { Transaction } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { now } from '../../lib/clock.js';
import { change, db, refuseDuplicates, select } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { menuTitle, permissionName, permissionsNamed } from './builtin-names.js';
import { mustHold, type Holder } from './rights.js';
import { changing } from '../tables/versions.js';

export interface PermissionFields {
  name: string;
  slug: string;
  method: string;
  path: string;
  menu_id?: number | null;
  description?: string | null;
  status?: number;
  sort?: number;
}

export interface PermissionFilter extends ListQuery {
  name?: string;
  slug?: string;
  path?: string;
  method?: string;
  status?: number;
  menu_id?: number;
}

export const permissionSortable = [
  ...['id', 'name', 'slug', 'method', 'path', 'status', 'sort', 'created_at', 'updated_at'],
] as const;

export interface PermissionRecord extends Required<PermissionFields> {
  id: number;
  menu: { id: number; title: string } | null;
  is_builtin: boolean;
  created_at: Date;
  updated_at: Date;
}

/** A permission that a route of this release needs. */
export interface BuiltinPermission {
  slug: string;
  name: string;
  method: string;
  path: string;
  /** Slug of the menu it is shown under. */
  menu: string;
}

const recordSql = `SELECT p.id, p.name, p.slug, p.method, p.path, p.menu_id, p.description, p.status, p.sort, p.is_builtin,
    m.title AS menu_title, m.slug AS menu_slug, p.created_at, p.updated_at
  FROM permissions p LEFT JOIN menus m ON m.id = p.menu_id`;

const duplicates = { uq_permissions_slug: { slug: 'permission_slug_exists', field: 'slug' } } as const;

/** Which routes a permission opens, by their names; the caller knows the routes. */
export type Opens = (rule: { slug: string; method: string; path: string }) => string[];

/** Whether the holder may pass all these routes. */
export type Passes = (routes: string[]) => boolean;

@Table({ tableName: 'permissions' })
export class Permission extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.STRING(100)) declare name: string;
  @Column(DataType.STRING(100)) declare slug: string;
  @Column(DataType.STRING(10)) declare method: string;
  @Column(DataType.STRING(255)) declare path: string;
  @Column(DataType.BIGINT) declare menu_id: number | null;
  @Column(DataType.STRING(255)) declare description: string | null;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.INTEGER) declare sort: number;
  @Column(DataType.TINYINT) declare is_builtin: number;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  static async list(query: PermissionFilter): Promise<Page<PermissionRecord>> {
    const where = new Where()
      .containsOr('p.name', query.name, 'p.slug', permissionsNamed)
      .contains('p.slug', query.slug)
      .contains('p.path', query.path)
      .equals('p.method', query.method)
      .equals('p.status', query.status)
      .equals('p.menu_id', query.menu_id)
      .during('p.created_at', query);
    const [rows, [count]] = await Promise.all([
      select<PermissionRow>(`${recordSql} ${where.sql} ${pageSql(query, 'p')}`, where.values),
      select<{ total: number }>(`SELECT COUNT(*) AS total FROM permissions p ${where.sql}`, where.values),
    ]);
    return toPage(query, rows.map(toRecord), count?.total ?? 0);
  }

  /** @throws permission_not_found */
  static async record(id: number): Promise<PermissionRecord> {
    const [row] = await select<PermissionRow>(`${recordSql} WHERE p.id = ?`, [id]);
    return row ? toRecord(row) : fail('permission_not_found');
  }

  /** Every slug, of disabled permissions too: a super administrator passes every check. */
  static async allSlugs(): Promise<string[]> {
    const rows = await select<{ slug: string }>('SELECT slug FROM permissions ORDER BY slug');
    return rows.map(({ slug }) => slug);
  }

  /** Creates a permission; who is no super administrator must pass every route it opens. */
  static async register(
    holder: Holder,
    fields: PermissionFields,
    opens: Opens,
    passes: Passes,
  ): Promise<number> {
    mustPass(holder, passes, opens(fields));
    return refuseDuplicates(
      changing(['identity'], async (t) => {
        await menuMustExist(fields.menu_id, t);
        const permission = await Permission.create({ status: 1, sort: 0, ...fields }, { transaction: t });
        return permission.id;
      }),
      duplicates,
    );
  }

  /** Changes only the fields given; built-in rows and rights beyond the holder's are refused. */
  static async revise(
    holder: Holder,
    id: number,
    fields: Partial<PermissionFields>,
    opens: Opens,
    passes: Passes,
  ): Promise<void> {
    await refuseDuplicates(
      changing(['identity'], async (t) => {
        const permission = await lockPermission(holder, id, t);
        mustPass(holder, passes, [
          ...opens(permission),
          ...opens({ ...(permission.get() as PermissionFields), ...fields }),
        ]);
        await menuMustExist(fields.menu_id, t);
        await permission.update(fields, { transaction: t });
      }),
      duplicates,
    );
  }

  static async remove(holder: Holder, id: number, opens: Opens, passes: Passes): Promise<void> {
    await changing(['identity'], async (t) => {
      const permission = await lockPermission(holder, id, t);
      mustPass(holder, passes, opens(permission));
      await permission.destroy({ transaction: t });
    });
  }

  /** Writes the permission rows of this release's routes; rows of earlier releases stay, no longer built in. */
  static async declareBuiltin(wanted: BuiltinPermission[]): Promise<void> {
    const rows = await select<BuiltinPermission & { is_builtin: number }>(
      'SELECT slug, method, path, is_builtin FROM permissions',
    );
    const bySlug = new Map(rows.map((row) => [row.slug, row]));
    const isKnown = ({ slug, method, path }: BuiltinPermission): boolean => {
      const row = bySlug.get(slug);
      return row?.method === method && row.path === path && row.is_builtin === 1;
    };
    const fresh = wanted.filter((permission) => !isKnown(permission));
    const slugs = new Set(wanted.map(({ slug }) => slug));
    const retired = rows.filter(({ slug, is_builtin }) => is_builtin === 1 && !slugs.has(slug));
    if (fresh.length === 0 && retired.length === 0) return;
    await changing(['identity'], async (t) => {
      for (const permission of fresh) await declare(permission, t);
      if (retired.length === 0) return;
      const names = retired.map(({ slug }) => slug);
      await change('UPDATE permissions SET is_builtin = 0 WHERE slug IN (?)', [names], t);
    });
  }
}

db.addModels([Permission]);

interface PermissionRow extends Omit<PermissionRecord, 'menu' | 'is_builtin'> {
  menu_title: string | null;
  menu_slug: string | null;
  is_builtin: number;
}

function toRecord({ menu_title, menu_slug, is_builtin, ...row }: PermissionRow): PermissionRecord {
  const menu =
    row.menu_id && menu_title !== null
      ? { id: row.menu_id, title: menuTitle(menu_slug ?? '', menu_title) }
      : null;
  return { ...row, name: permissionName(row.slug, row.name), is_builtin: is_builtin === 1, menu };
}

async function declare({ slug, name, method, path, menu }: BuiltinPermission, t: Transaction): Promise<void> {
  const at = now();
  await change(
    `INSERT INTO permissions (slug, name, method, path, menu_id, is_builtin, created_at, updated_at)
     SELECT ?, ?, ?, ?, (SELECT id FROM menus WHERE slug = ?), 1, ?, ?
     ON DUPLICATE KEY UPDATE method = VALUES(method), path = VALUES(path), is_builtin = 1, updated_at = VALUES(updated_at)`,
    [slug, name, method, path, menu, at, at],
    t,
  );
}

async function lockPermission(holder: Holder, id: number, t: Transaction): Promise<Permission> {
  const permission = await Permission.findByPk(id, { transaction: t, lock: true });
  if (!permission) fail('permission_not_found');
  if (holder.isSuperAdmin) return permission;
  if (permission.is_builtin === 1) fail('builtin_permission_protected');
  // Roles pass it on: whoever changes it changes what their holders may do, also where it opens no route.
  const [given] = await select(
    'SELECT role_id FROM role_permissions WHERE permission_id = ? LIMIT 1',
    [id],
    t,
  );
  if (given) mustHold(holder, [id], []);
  return permission;
}

function mustPass(holder: Holder, passes: Passes, routes: string[]): void {
  if (!holder.isSuperAdmin && !passes(routes)) fail('grant_beyond_own');
}

async function menuMustExist(menuId: number | null | undefined, t: Transaction): Promise<void> {
  if (!menuId) return;
  // Locked, so that it is still there when the permission refers to it.
  const [found] = await select('SELECT id FROM menus WHERE id = ? LOCK IN SHARE MODE', [menuId], t);
  if (!found) fail('menu_unknown', { field: 'menu_id' });
}
