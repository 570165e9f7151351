// admins: the people who sign in here.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { blankToNull, noneToNull } from '../../lib/input/blank-to-null.js';
import { now } from '../../lib/clock.js';
import { refuseDuplicates, type SqlValue } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import {
  pageSql,
  toPage,
  Where,
  type ListQuery,
  type Page,
  type TimeRange,
} from '../../lib/input/list-query.js';
import { id, status } from '../../lib/input/schema.js';
import { hashPassword } from '../../lib/secrets/password.js';
import { endSessionsOf } from './admin-session.js';
import { roleName } from './builtin-names.js';
import { superAdminSlug } from './identity.js';
import {
  lockSuperAdmins,
  assertHoldsRoles,
  assertSuperAdminRemains,
  assertOutranks,
  type Holder,
} from './rights.js';
import { assertExist } from './role.js';
import { Totals } from '../tables/totals.js';
import { changing } from '../tables/versions.js';
import { Admin, AdminRole, Department, Role } from './tables.js';
import { assertDepartment, departmentsBelow } from './department.js';
import type { Fields, Listed } from '../tables/table.js';
import { deleteRows, insertStatement, updateRows } from '../tables/rows.js';
import { columnsOf, joined, type RowOf, selection } from '../tables/selection.js';
import { execute } from '../tables/sql.js';

export type AdminFields = Fields<
  Admin,
  'username' | 'password_hash' | 'password_must_change' | 'last_login_at'
> & { role_ids?: number[] };

export type NewAdmin = AdminFields & { username: string; password: string };

export interface AdminCriteria extends TimeRange {
  username?: string;
  nickname?: string;
  status?: number;
  department_id?: number;
  role_id?: number;
}

/** The filters of the list and of its export. */
export const adminFilters = {
  username: Joi.string().allow('').max(50),
  nickname: Joi.string().allow('').max(50),
  status: status(),
  department_id: id(),
  role_id: id(),
};

export type AdminFilter = AdminCriteria & ListQuery;

export const adminSortable = [
  'id',
  'username',
  'nickname',
  'status',
  'created_at',
  'updated_at',
  'last_login_at',
] as const;

type RoleName = Pick<Listed<Role>, 'id' | 'name' | 'slug'>;

const shown = { ...columnsOf(Admin, 'a'), department: joined(columnsOf(Department, 'd', 'id', 'name')) };
const admins = selection(shown, 'admins a', 'LEFT JOIN departments d ON d.id = a.department_id');

const rolesOfAdmin = selection(
  { ...columnsOf(AdminRole, 'ar', 'admin_id'), ...columnsOf(Role, 'r', 'id', 'name', 'slug') },
  'admin_roles ar',
  'JOIN roles r ON r.id = ar.role_id',
);

export type AdminRecord = RowOf<typeof shown> & { roles: RoleName[]; is_super_admin: boolean };

const duplicates = { uq_admins_username: { slug: 'username_exists', field: 'username' } } as const;

/** Total of the administrator list; invalidated together with identities. */
export const adminTotals = new Totals({ table: 'admins', scope: 'identity', alias: 'a' });

export async function listAdmins(query: AdminFilter, mark?: string): Promise<Page<AdminRecord>> {
  const where = await adminsWhere(query);
  const [list, total] = await Promise.all([
    selectRecords(`${where.sql} ${pageSql(query, 'a')}`, where.values),
    adminTotals.count(where, mark),
  ]);
  return toPage(query, list, total);
}

/** @throws admin_not_found */
export async function getAdmin(id: number): Promise<AdminRecord> {
  const [admin] = await selectRecords('WHERE a.id = ?', [id]);
  return admin ?? fail('admin_not_found');
}

const options = selection(
  { value: columnsOf(Admin, 'a', 'id').id, label: columnsOf(Admin, 'a', 'nickname').nickname },
  'admins a',
);

/** Enabled administrators for select boxes. */
export function adminOptions(): Promise<{ value: number; label: string }[]> {
  return options.rows('WHERE a.status = 1 ORDER BY a.id');
}

/** Creates an administrator whose roles lie within the holder's rights. */
export async function createAdmin(holder: Holder, fields: NewAdmin): Promise<number> {
  const { password, role_ids = [], ...columns } = noneToNull(fields, 'department_id');
  await assertDepartment(fields.department_id);
  await assertExist('role', role_ids);
  await assertHoldsRoles(holder, role_ids);
  const password_hash = await hashPassword(password);
  const id = await refuseDuplicates(
    changing(['identity'], async (t) => {
      const admin = await Admin.create(
        {
          ...blankToNull(columns),
          nickname: columns.nickname || columns.username,
          password_hash,
          password_must_change: true,
        },
        { transaction: t },
      );
      await assertExist('role', role_ids, t);
      await assertHoldsRoles(holder, role_ids, t);
      await setRoles(admin.id, role_ids, t);
      return admin.id;
    }),
    duplicates,
  );
  return id;
}

/** Changes only the fields given. Disabling ends all sessions. */
export async function updateAdmin(holder: Holder, id: number, fields: Partial<AdminFields>): Promise<void> {
  const { role_ids, ...columns } = noneToNull(fields, 'department_id');
  await assertDepartment(fields.department_id);
  await changing(['identity'], async (t) => {
    await lockSuperAdmins(t);
    const admin = (await Admin.findByPk(id, { transaction: t })) ?? fail('admin_not_found');
    await assertOutranks(holder, id, t);
    if (columns.status === 0 && holder.adminId === id) fail('admin_disable_self');
    if (columns.nickname === '') columns.nickname = admin.username;
    await admin.update(blankToNull(columns), { transaction: t });
    if (role_ids) {
      await assertExist('role', role_ids, t);
      await assertHoldsRoles(holder, role_ids, t);
      await setRoles(id, role_ids, t);
    }
    await assertSuperAdminRemains(t);
    if (columns.status === 0) await endSessionsOf(id, t);
  });
}

/** Deletes an administrator and ends all their sessions. */
export async function deleteAdmin(holder: Holder, id: number): Promise<void> {
  if (holder.adminId === id) fail('admin_delete_self');
  await changing(['identity'], async (t) => {
    await lockSuperAdmins(t);
    const admin = (await Admin.findByPk(id, { transaction: t })) ?? fail('admin_not_found');
    await assertOutranks(holder, id, t);
    await admin.destroy({ transaction: t });
    await assertSuperAdminRemains(t);
  });
}

/** Sets a new password, which its owner must change, and ends all sessions, the holder's own among them if it is theirs. */
export async function resetAdminPassword(holder: Holder, id: number, password: string): Promise<void> {
  await assertOutranks(holder, id);
  await storePassword(id, password, { mustChange: id !== holder.adminId });
}

/** Sets one's own new password and ends all sessions but the one of that `jti`. */
export async function changeOwnPassword(id: number, password: string, jti: string): Promise<void> {
  await storePassword(id, password, { mustChange: false, except: jti });
}

/**
 * Stores a new password and ends the sessions, but for one if it is named.
 *
 * @param mustChange somebody else has set it: its owner must change it before anything else (PASSWORD_CHANGE_REQUIRED)
 * @throws admin_not_found
 */
export async function storePassword(
  id: number,
  password: string,
  { mustChange, except }: { mustChange: boolean; except?: string },
): Promise<void> {
  const password_hash = await hashPassword(password);
  await changing(['identity'], async (t) => {
    const stored = { password_hash, password_must_change: mustChange, updated_at: now() };
    if ((await updateRows(Admin, stored, { id }, t)) === 0) fail('admin_not_found');
    await endSessionsOf(id, t, except);
  });
}

/** The condition of a list over `admins a`. */
export async function adminsWhere(criteria: AdminCriteria): Promise<Where> {
  const where = new Where()
    .contains('a.username', criteria.username)
    .contains('a.nickname', criteria.nickname)
    .equals('a.status', criteria.status)
    .during('a.created_at', criteria);
  if (criteria.department_id)
    where.and('a.department_id IN (?)', await departmentsBelow(criteria.department_id));
  if (!criteria.role_id) return where;
  return where.and(
    'EXISTS (SELECT 1 FROM admin_roles f WHERE f.admin_id = a.id AND f.role_id = ?)',
    criteria.role_id,
  );
}

// One statement for the administrators, one for the roles of all of them.
async function selectRecords(tail: string, values: SqlValue[]): Promise<AdminRecord[]> {
  const rows = await admins.rows(tail, values);
  if (rows.length === 0) return [];
  const held = await rolesOfAdmin.rows('WHERE ar.admin_id IN (?) ORDER BY r.id', [rows.map(({ id }) => id)]);
  return rows.map((row) => {
    const own = held.filter(({ admin_id }) => admin_id === row.id);
    return {
      ...row,
      roles: own.map(({ id, name, slug }) => ({ id, name: roleName(slug, name), slug })),
      is_super_admin: own.some(({ slug }) => slug === superAdminSlug),
    };
  });
}

async function setRoles(adminId: number, roleIds: number[], t: Transaction): Promise<void> {
  await deleteRows(AdminRole, { admin_id: adminId }, t);
  const rows = roleIds.map((role_id) => ({ admin_id: adminId, role_id }));
  if (rows.length > 0) await execute(insertStatement(AdminRole, rows), { t });
}
