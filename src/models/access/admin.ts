// admins: the people who sign in here.
import { literal, Op, type Transaction, type WhereOptions } from 'sequelize';
import { blankToNull, id, noneToNull, status, textFilter } from '../../lib/input/schema.js';
import { refuseDuplicates } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { hashPassword } from '../../lib/secrets/password.js';
import { changing } from '../tables/versions.js';
import { containing, during, findPage, matching } from '../tables/find.js';
import { replaceSet, touch } from '../tables/sets.js';
import { listed, type Fields, type Listed } from '../tables/table.js';
import { endSessions } from './admin-session.js';
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
import { Admin, Role, type AdminSession, type Department } from './tables.js';
import { assertDepartment, departmentsBelow } from './department.js';

export type AdminFields = Fields<
  Admin,
  'username' | 'password_hash' | 'password_must_change' | 'last_login_at'
> & { role_ids?: number[] };

export type NewAdmin = AdminFields & { username: string; password: string };

export const adminFilters = {
  username: textFilter(50),
  nickname: textFilter(50),
  status: status(),
  department_id: id(),
  role_id: id(),
};

export type AdminCriteria = Criteria<typeof adminFilters>;

type AdminFilter = AdminCriteria & ListQuery;

/** The query of the list. */
export const adminQuery = listQuery<AdminFilter>(
  ['id', 'username', 'nickname', 'status', 'created_at', 'updated_at', 'last_login_at'],
  adminFilters,
);

interface AdminRecord extends Listed<Admin> {
  department: Pick<Listed<Department>, 'id' | 'name'> | null;
  roles: Pick<Listed<Role>, 'id' | 'name' | 'slug'>[];
  is_super_admin: boolean;
}

const duplicates = { uq_admins_username: { slug: 'username_exists', field: 'username' } } as const;

export async function listAdmins(query: AdminFilter): Promise<Page<AdminRecord>> {
  return findPage(Admin, query, { where: await adminsWhere(query), include: shown }, toRecord);
}

/** An administrator; in a transaction nobody else changes one until its end. @throws admin_not_found */
export async function getAdmin(id: number, transaction?: Transaction): Promise<AdminRecord> {
  // One that does not exist waits for nobody.
  const exists = transaction && (await Admin.findByPk(id, { attributes: ['id'], transaction }));
  if (exists) await lockSuperAdmins(transaction);
  return toRecord((await Admin.findByPk(id, { include: shown, transaction })) ?? fail('admin_not_found'));
}

/** Enabled administrators for select boxes. */
export async function adminOptions(): Promise<{ value: number; label: string }[]> {
  const rows = await Admin.scope('enabled').findAll({ attributes: ['id', 'nickname'], order: ['id'] });
  return rows.map(({ id, nickname }) => ({ value: id, label: nickname }));
}

/** Creates an administrator with roles within the holder's rights. */
export async function createAdmin(holder: Holder, fields: NewAdmin): Promise<number> {
  const { password, role_ids = [], ...columns } = noneToNull(fields, 'department_id');
  await assertExist('role', role_ids);
  await assertHoldsRoles(holder, role_ids);
  const password_hash = await hashPassword(password);
  return refuseDuplicates(
    changing(['identity'], async (t) => {
      await assertDepartment(fields.department_id, t);
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
      await admin.$set('roles', role_ids, { transaction: t });
      return admin.id;
    }),
    duplicates,
  );
}

/** Changes only the fields given. Disabling ends all sessions. */
export async function updateAdmin(holder: Holder, id: number, fields: Partial<AdminFields>): Promise<void> {
  const { role_ids, ...columns } = noneToNull(fields, 'department_id');
  await changing(['identity'], async (t) => {
    await lockSuperAdmins(t);
    const admin = (await Admin.findByPk(id, { transaction: t })) ?? fail('admin_not_found');
    await assertOutranks(holder, id, t);
    if (columns.status === 0 && holder.adminId === id) fail('admin_disable_self');
    if (columns.nickname === '') columns.nickname = admin.username;
    // Locked before the administrator, as by a deletion of the department.
    await assertDepartment(columns.department_id, t);
    await admin.update(blankToNull(columns), { transaction: t });
    if (role_ids) {
      await assertExist('role', role_ids, t);
      await assertHoldsRoles(holder, role_ids, t);
      if (await replaceSet(admin, 'roles', role_ids, t)) await touch(admin, t);
    }
    await assertSuperAdminRemains(t);
    if (columns.status === 0) await endSessions({ admin_id: id }, t);
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

/** Ends all sessions of an administrator. @returns how many were open */
export const endSessionsOf = (holder: Holder, id: number): Promise<number> =>
  changing(['identity'], async (t) => {
    await getAdmin(id, t);
    await assertOutranks(holder, id, t);
    return endSessions({ admin_id: id }, t);
  });

/**
 * Sets a new password, which its owner must change, and ends all sessions, the holder's own among them if it
 * is theirs.
 */
export async function resetAdminPassword(holder: Holder, id: number, password: string): Promise<void> {
  await assertOutranks(holder, id);
  await storePassword(id, password, { mustChange: id !== holder.adminId, by: holder });
}

interface StoredPassword {
  /** Somebody else has set it: its owner must change it before anything else (PASSWORD_CHANGE_REQUIRED). */
  mustChange: boolean;
  /** The session that stays. */
  except?: string;
  /** The hash that must still be stored, if any. */
  proven?: string;
  /** Who must still be allowed to touch the administrator. */
  by?: Holder;
}

/**
 * Stores a new password and ends the sessions, but for one if it is named.
 *
 * @throws admin_not_found; old_password_wrong when another hash than the proven one is stored; as `assertOutranks`
 */
export async function storePassword(
  id: number,
  password: string,
  { mustChange, except, proven, by }: StoredPassword,
): Promise<void> {
  const password_hash = await hashPassword(password);
  await changing(['identity'], async (t) => {
    const stored = { password_hash, password_must_change: mustChange };
    const where = matching<Admin>({ id, password_hash: proven });
    const [changed] = await Admin.update(stored, { where, transaction: t });
    if (changed === 0 && proven) fail('old_password_wrong', { field: 'old_password' });
    if (changed === 0) fail('admin_not_found');
    // Hashing takes its time: roles may have been added since. Now that the row is locked, none can be.
    if (by) await assertOutranks(by, id, t);
    await endSessions(matching<AdminSession>({ admin_id: id, jti: except && { [Op.ne]: except } }), t);
  });
}

/** The ids of the administrators of a list, for its export. */
export async function adminIds(criteria: AdminCriteria): Promise<number[]> {
  const rows = await Admin.findAll({ attributes: ['id'], where: await adminsWhere(criteria) });
  return rows.map(({ id }) => id);
}

async function adminsWhere(criteria: AdminCriteria): Promise<WhereOptions<Admin>> {
  const { username, nickname, status, department_id, role_id } = criteria;
  return matching<Admin>({
    username: containing(username),
    nickname: containing(nickname),
    status,
    created_at: during(criteria),
    department_id: department_id ? await departmentsBelow(department_id) : undefined,
    id: role_id
      ? { [Op.in]: literal(`(SELECT f.admin_id FROM admin_roles f WHERE f.role_id = ${role_id})`) }
      : undefined,
  });
}

const shown = [
  { association: 'department', attributes: ['id', 'name'] },
  { association: 'roles', attributes: ['id', 'name', 'slug'], through: { attributes: [] } },
];

function toRecord(admin: Admin): AdminRecord {
  const { department, roles = [] } = admin;
  const own = roles.map(({ id, name, slug }) => ({ id, name: roleName(slug, name), slug }));
  return {
    ...listed(admin),
    department: department ? { id: department.id, name: department.name } : null,
    roles: own.sort((one, other) => one.id - other.id),
    is_super_admin: own.some(({ slug }) => slug === superAdminSlug),
  };
}
