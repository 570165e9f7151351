// departments: the tree administrators belong to.
import type { Transaction } from 'sequelize';
import { blankToNull } from '../../lib/input/schema.js';
import { fail } from '../../lib/errors/app-error.js';
import { transact } from '../../lib/database/db.js';
import { announce } from '../../lib/redis/changes.js';
import { containing, matching, withUse } from '../tables/find.js';
import type { Fields, Listed } from '../tables/table.js';
import { assertPlace, nodesOf, toTree, withDescendants, type Tree } from '../tables/tree.js';
import { Admin, Department } from './tables.js';

export type DepartmentFields = Fields<Department>;

/** With whether departments or administrators belong to it, which keep it from being deleted. */
type DepartmentRecord = Listed<Department> & { in_use: boolean };

/** The whole tree; with a filter, the matching departments as a flat list. */
export async function departmentTree(filter: {
  name?: string;
  status?: number;
}): Promise<Tree<DepartmentRecord>[]> {
  const where = matching<Department>({ name: containing(filter.name), status: filter.status });
  const found = await Department.scope('withUse').findAll({ where, order: ['sort', 'id'] });
  const rows = found.map(withUse);
  return Object.keys(where).length === 0 ? toTree(rows) : rows.map((row) => ({ ...row, children: [] }));
}

/** @throws department_not_found */
export async function getDepartment(id: number, transaction?: Transaction): Promise<DepartmentRecord> {
  if (transaction) await nodesOf(Department, transaction);
  const found = await Department.scope('withUse').findByPk(id, { transaction });
  return withUse(found ?? fail('department_not_found'));
}

/** A department and everything below it. */
export async function departmentsBelow(id: number): Promise<number[]> {
  return [...withDescendants(await nodesOf(Department), id)];
}

/** The department stays until the transaction ends. @throws department_unknown when the id does not exist */
export async function assertDepartment(id: number | null | undefined, t: Transaction): Promise<void> {
  if (!id) return;
  const found = await Department.findByPk(id, { attributes: ['id'], transaction: t, lock: t.LOCK.SHARE });
  if (!found) fail('department_unknown', { field: 'department_id' });
}

/** Enabled departments for select boxes. */
export async function departmentOptions(): Promise<{ id: number; parent_id: number; label: string }[]> {
  const rows = await Department.scope('enabled').findAll({ order: ['sort', 'id'] });
  return rows.map(({ id, parent_id, name }) => ({ id, parent_id, label: name }));
}

export async function createDepartment(fields: DepartmentFields): Promise<number> {
  const id = await transact(async (t) => {
    const rows = await nodesOf(Department, t);
    if (fields.parent_id) assertPlace('department', rows, fields.parent_id);
    return (await Department.create(blankToNull(fields), { transaction: t })).id;
  });
  announce(departmentLists);
  return id;
}

/** Changes only the fields given; a move keeps the tree free of cycles and at most 10 levels deep. */
export async function updateDepartment(id: number, fields: Partial<DepartmentFields>): Promise<void> {
  await transact(async (t) => {
    const rows = await nodesOf(Department, t);
    const department = (await Department.findByPk(id, { transaction: t })) ?? fail('department_not_found');
    const parent = fields.parent_id;
    if (parent && parent !== department.parent_id) assertPlace('department', rows, parent, id);
    await department.update(blankToNull(fields), { transaction: t });
  });
  announce(departmentLists);
}

/** Deletes a department without children and administrators. */
export async function deleteDepartment(id: number): Promise<void> {
  await transact(async (t) => {
    const rows = await nodesOf(Department, t);
    const department = (await Department.findByPk(id, { transaction: t })) ?? fail('department_not_found');
    if (rows.some(({ parent_id }) => parent_id === id)) fail('department_has_children');
    const member = await Admin.findOne({ where: { department_id: id }, transaction: t, lock: true });
    if (member) fail('department_has_admins');
    await department.destroy({ transaction: t });
  });
  announce(departmentLists);
}

// Lists of administrators show their names.
const departmentLists = ['identity'] as const;
