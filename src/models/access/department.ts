// departments: the tree administrators belong to.
import type { Transaction } from 'sequelize';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { toTree, withDescendants, type Tree } from '../../lib/tree.js';
import { Where } from '../../lib/input/list-query.js';
import { changing } from '../tables/versions.js';
import { Admin, Department } from './tables.js';
import { type Fields, type Listed, listed } from '../tables/table.js';
import { columnsOf, selection } from '../tables/selection.js';

export type DepartmentFields = Fields<Department>;

export type DepartmentRecord = Listed<Department>;

const departments = selection(columnsOf(Department, 'd'), 'departments d');

/** The whole tree; with a filter, the matching departments as a flat list. */
export async function departmentTree(filter: {
  name?: string;
  status?: number;
}): Promise<Tree<DepartmentRecord>[]> {
  const where = new Where().contains('d.name', filter.name).equals('d.status', filter.status);
  const rows = await departments.rows(`${where.sql} ORDER BY d.sort, d.id`, where.values);
  return where.sql === '' ? toTree(rows) : rows.map((row) => ({ ...row, children: [] }));
}

/** @throws department_not_found */
export async function getDepartment(id: number): Promise<DepartmentRecord> {
  return listed((await Department.findByPk(id)) ?? fail('department_not_found'));
}

/** A department and everything below it. */
export async function departmentsBelow(id: number): Promise<number[]> {
  return [...withDescendants(await places(), id)];
}

/** @throws department_unknown when the id does not exist */
export async function assertDepartment(id: number | null | undefined): Promise<void> {
  if (!id) return;
  if ((await Department.count({ where: { id } })) === 0)
    fail('department_unknown', { field: 'department_id' });
}

const options = selection(
  { ...columnsOf(Department, 'd', 'id', 'parent_id'), label: columnsOf(Department, 'd', 'name').name },
  'departments d',
);

/** Enabled departments for select boxes. */
export function departmentOptions(): Promise<{ id: number; parent_id: number; label: string }[]> {
  return options.rows('WHERE d.status = 1 ORDER BY d.sort, d.id');
}

export async function createDepartment(fields: DepartmentFields): Promise<number> {
  return transact(async (t) => {
    assertParent(await places(t), fields.parent_id);
    return (await Department.create(fields, { transaction: t })).id;
  });
}

/** Changes only the fields given; a move keeps the tree free of cycles. */
export async function updateDepartment(id: number, fields: Partial<DepartmentFields>): Promise<void> {
  await changing(['identity'], async (t) => {
    const rows = await places(t);
    const department = (await Department.findByPk(id, { transaction: t })) ?? fail('department_not_found');
    if (fields.parent_id !== undefined && withDescendants(rows, id).has(fields.parent_id)) {
      fail('department_cycle', { field: 'parent_id' });
    }
    assertParent(rows, fields.parent_id);
    await department.update(fields, { transaction: t });
  });
}

/** Deletes a department without children and administrators. */
export async function deleteDepartment(id: number): Promise<void> {
  await transact(async (t) => {
    const rows = await places(t);
    const department = (await Department.findByPk(id, { transaction: t })) ?? fail('department_not_found');
    if (rows.some(({ parent_id }) => parent_id === id)) fail('department_has_children');
    const member = await Admin.findOne({ where: { department_id: id }, transaction: t, lock: true });
    if (member) fail('department_has_admins');
    await department.destroy({ transaction: t });
  });
}

const tree = selection(columnsOf(Department, 'd', 'id', 'parent_id'), 'departments d');

type Place = Pick<DepartmentRecord, 'id' | 'parent_id'>;

// In a transaction the tree is locked: two moves at once could close a cycle that neither makes alone.
function places(t?: Transaction): Promise<Place[]> {
  return tree.rows(`ORDER BY d.id ${t ? 'FOR UPDATE' : ''}`, [], { t });
}

function assertParent(rows: Place[], parentId: number | undefined): void {
  if (parentId && !rows.some(({ id }) => id === parentId)) fail('department_unknown', { field: 'parent_id' });
}
