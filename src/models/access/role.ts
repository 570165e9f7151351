// roles: named sets of permissions and menus.
import type { Transaction } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { change, db, refuseDuplicates, select, transact, type SqlValue } from '../../lib/db.js';
import type { ErrorSlug } from '../../lib/error-catalogue.js';
import { fail } from '../../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { menuTitle, permissionName, roleName } from './builtin-names.js';
import { superAdminSlug } from './identity.js';
import { mustHold, mustHoldRoles, type Holder } from './rights.js';
import { changing } from '../tables/versions.js';

export interface RoleFields {
  name: string;
  slug: string;
  description?: string | null;
  status?: number;
  sort?: number;
  permission_ids?: number[];
  menu_ids?: number[];
}

export interface RoleFilter extends ListQuery {
  name?: string;
  slug?: string;
  status?: number;
}

export const roleSortable = ['id', 'name', 'slug', 'status', 'sort', 'created_at', 'updated_at'] as const;

export interface RoleRecord {
  id: number;
  name: string;
  slug: string;
  description: string | null;
  status: number;
  sort: number;
  permission_ids: number[];
  menu_ids: number[];
  created_at: Date;
  updated_at: Date;
}

export type RoleDetail = RoleRecord & {
  permissions: { id: number; name: string; slug: string }[];
  menus: { id: number; title: string; slug: string }[];
};

const recordSql = `SELECT r.id, r.name, r.slug, r.description, r.status, r.sort, r.created_at, r.updated_at
  FROM roles r`;

const duplicates = { uq_roles_slug: { slug: 'role_slug_exists', field: 'slug' } } as const;

@Table({ tableName: 'roles' })
export class Role extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.STRING(50)) declare name: string;
  @Column(DataType.STRING(50)) declare slug: string;
  @Column(DataType.STRING(255)) declare description: string | null;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.INTEGER) declare sort: number;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  static async list(query: RoleFilter): Promise<Page<RoleRecord>> {
    const where = new Where()
      .contains('r.name', query.name)
      .contains('r.slug', query.slug)
      .equals('r.status', query.status)
      .during('r.created_at', query);
    const [rows, [count]] = await Promise.all([
      selectRecords(`${where.sql} ${pageSql(query, 'r')}`, where.values),
      select<{ total: number }>(`SELECT COUNT(*) AS total FROM roles r ${where.sql}`, where.values),
    ]);
    return toPage(query, rows, count?.total ?? 0);
  }

  /** @throws role_not_found */
  static async record(id: number): Promise<RoleDetail> {
    const [role] = await selectRecords('WHERE r.id = ?', [id]);
    if (!role) fail('role_not_found');
    const [permissions, menus] = await Promise.all([
      select<RoleDetail['permissions'][number]>(
        `SELECT p.id, p.name, p.slug FROM role_permissions rp JOIN permissions p ON p.id = rp.permission_id
         WHERE rp.role_id = ? ORDER BY p.id`,
        [id],
      ),
      select<RoleDetail['menus'][number]>(
        `SELECT m.id, m.title, m.slug FROM role_menus rm JOIN menus m ON m.id = rm.menu_id
         WHERE rm.role_id = ? ORDER BY m.sort, m.id`,
        [id],
      ),
    ]);
    return {
      ...role,
      permissions: permissions.map((one) => ({ ...one, name: permissionName(one.slug, one.name) })),
      menus: menus.map((one) => ({ ...one, title: menuTitle(one.slug, one.title) })),
    };
  }

  /** Enabled roles for select boxes. */
  static async choices(): Promise<{ value: number; label: string }[]> {
    const rows = await select<{ id: number; slug: string; name: string }>(
      'SELECT id, slug, name FROM roles WHERE status = 1 ORDER BY sort, id',
    );
    return rows.map(({ id, slug, name }) => ({ value: id, label: roleName(slug, name) }));
  }

  static async register(holder: Holder, fields: RoleFields): Promise<number> {
    const { permission_ids = [], menu_ids = [], ...columns } = fields;
    mustHold(holder, permission_ids, menu_ids);
    return refuseDuplicates(
      transact(async (t) => {
        const role = await Role.create({ status: 1, sort: 0, ...columns }, { transaction: t });
        await setRights(role.id, { permission_ids, menu_ids }, t);
        return role.id;
      }),
      duplicates,
    );
  }

  /** Changes only the fields given; the holder must hold what the role carries before and after. */
  static async revise(holder: Holder, id: number, fields: Partial<RoleFields>): Promise<void> {
    const { permission_ids, menu_ids, ...columns } = fields;
    await refuseDuplicates(
      changing(['identity'], async (t) => {
        const role = (await Role.findByPk(id, { transaction: t, lock: true })) ?? fail('role_not_found');
        await mustHoldRoles(holder, [id], t);
        mustHold(holder, permission_ids ?? [], menu_ids ?? []);
        if (role.slug === superAdminSlug && changesProtected(columns)) fail('super_admin_role_protected');
        await role.update(columns, { transaction: t });
        await setRights(id, { permission_ids, menu_ids }, t);
      }),
      duplicates,
    );
  }

  static async remove(holder: Holder, id: number): Promise<void> {
    await changing(['identity'], async (t) => {
      const role = (await Role.findByPk(id, { transaction: t, lock: true })) ?? fail('role_not_found');
      await mustHoldRoles(holder, [id], t);
      if (role.slug === superAdminSlug) fail('super_admin_role_protected');
      const [used] = await select('SELECT admin_id FROM admin_roles WHERE role_id = ? LIMIT 1', [id], t);
      if (used) fail('role_in_use');
      await role.destroy({ transaction: t });
    });
  }
}

db.addModels([Role]);

const references = {
  role: { table: 'roles', slug: 'role_unknown', field: 'role_ids' },
  permission: { table: 'permissions', slug: 'permission_unknown', field: 'permission_ids' },
  menu: { table: 'menus', slug: 'menu_unknown', field: 'menu_ids' },
} as const satisfies Record<string, { table: string; slug: ErrorSlug; field: string }>;

/**
 * In a transaction the rows also stay until its end.
 *
 * @throws role_unknown, permission_unknown or menu_unknown when an id does not exist
 */
export async function mustExist(
  kind: keyof typeof references,
  ids: readonly number[],
  t?: Transaction,
): Promise<void> {
  if (ids.length === 0) return;
  const { table, slug, field } = references[kind];
  const lock = t ? 'LOCK IN SHARE MODE' : '';
  const found = await select<{ id: number }>(
    `SELECT id FROM ${table} WHERE id IN (?) ORDER BY id ${lock}`,
    [ids],
    t,
  );
  if (found.length !== ids.length) fail(slug, { field });
}

async function setRights(
  roleId: number,
  { permission_ids, menu_ids }: { permission_ids?: number[]; menu_ids?: number[] },
  t: Transaction,
): Promise<void> {
  if (permission_ids) {
    await mustExist('permission', permission_ids, t);
    await replaceSet('role_permissions', 'permission_id', roleId, permission_ids, t);
  }
  if (menu_ids) {
    await mustExist('menu', menu_ids, t);
    await replaceSet('role_menus', 'menu_id', roleId, menu_ids, t);
  }
}

async function replaceSet(
  table: string,
  column: string,
  roleId: number,
  ids: number[],
  t: Transaction,
): Promise<void> {
  await change(`DELETE FROM ${table} WHERE role_id = ?`, [roleId], t);
  if (ids.length === 0) return;
  const rows = ids.map((id) => `(${roleId}, ${id})`).join(', ');
  await change(`INSERT INTO ${table} (role_id, ${column}) VALUES ${rows}`, [], t);
}

function changesProtected(columns: Partial<RoleFields>): boolean {
  return (columns.slug !== undefined && columns.slug !== superAdminSlug) || columns.status === 0;
}

// One statement for the roles, one each for the permissions and menus of all of them.
async function selectRecords(tail: string, values: SqlValue[]): Promise<RoleRecord[]> {
  const rows = await select<Omit<RoleRecord, 'permission_ids' | 'menu_ids'>>(`${recordSql} ${tail}`, values);
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [permissions, menus] = await Promise.all([
    select<{ role_id: number; id: number }>(
      'SELECT role_id, permission_id AS id FROM role_permissions WHERE role_id IN (?) ORDER BY permission_id',
      [ids],
    ),
    select<{ role_id: number; id: number }>(
      'SELECT role_id, menu_id AS id FROM role_menus WHERE role_id IN (?) ORDER BY menu_id',
      [ids],
    ),
  ]);
  const of = (held: { role_id: number; id: number }[], roleId: number): number[] =>
    held.flatMap(({ role_id, id }) => (role_id === roleId ? [id] : []));
  return rows.map((row) => ({
    ...row,
    name: roleName(row.slug, row.name),
    permission_ids: of(permissions, row.id),
    menu_ids: of(menus, row.id),
  }));
}
