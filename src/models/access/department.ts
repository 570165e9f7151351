// departments: the tree administrators belong to.
import type { Transaction } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { db, select, transact } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { toTree, withDescendants, type Tree } from '../../lib/tree.js';
import { Where } from '../../lib/list-query.js';
import { changing } from '../tables/versions.js';

export interface DepartmentFields {
  name: string;
  parent_id?: number;
  code?: string | null;
  leader?: string | null;
  phone?: string | null;
  email?: string | null;
  remark?: string | null;
  status?: number;
  sort?: number;
}

export interface DepartmentRecord extends Required<DepartmentFields> {
  id: number;
  created_at: Date;
  updated_at: Date;
}

const columns =
  'id, parent_id, name, code, leader, phone, email, remark, status, sort, created_at, updated_at';

@Table({ tableName: 'departments' })
export class Department extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.BIGINT) declare parent_id: number;
  @Column(DataType.STRING(50)) declare name: string;
  @Column(DataType.STRING(50)) declare code: string | null;
  @Column(DataType.STRING(50)) declare leader: string | null;
  @Column(DataType.STRING(30)) declare phone: string | null;
  @Column(DataType.STRING(100)) declare email: string | null;
  @Column(DataType.STRING(255)) declare remark: string | null;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.INTEGER) declare sort: number;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  /** The whole tree; with a filter, the matching departments as a flat list. */
  static async tree(filter: { name?: string; status?: number }): Promise<Tree<DepartmentRecord>[]> {
    const where = new Where().contains('name', filter.name).equals('status', filter.status);
    const rows = await select<DepartmentRecord>(
      `SELECT ${columns} FROM departments ${where.sql} ORDER BY sort, id`,
      where.values,
    );
    return where.sql === '' ? toTree(rows) : rows.map((row) => ({ ...row, children: [] }));
  }

  /** @throws department_not_found */
  static async record(id: number): Promise<DepartmentRecord> {
    const [row] = await select<DepartmentRecord>(`SELECT ${columns} FROM departments WHERE id = ?`, [id]);
    return row ?? fail('department_not_found');
  }

  /** A department and everything below it. */
  static async idsBelow(id: number): Promise<number[]> {
    return [...withDescendants(await places(), id)];
  }

  /** @throws department_unknown when the id does not exist */
  static async mustExist(id: number | null | undefined): Promise<void> {
    if (!id) return;
    const [found] = await select('SELECT id FROM departments WHERE id = ?', [id]);
    if (!found) fail('department_unknown', { field: 'department_id' });
  }

  /** Enabled departments for select boxes. */
  static choices(): Promise<{ id: number; parent_id: number; label: string }[]> {
    return select('SELECT id, parent_id, name AS label FROM departments WHERE status = 1 ORDER BY sort, id');
  }

  static async register(fields: DepartmentFields): Promise<number> {
    return transact(async (t) => {
      parentMustExist(await places(t), fields.parent_id);
      const department = await Department.create(
        { parent_id: 0, status: 1, sort: 0, ...fields },
        { transaction: t },
      );
      return department.id;
    });
  }

  /** Changes only the fields given; a move keeps the tree free of cycles. */
  static async revise(id: number, fields: Partial<DepartmentFields>): Promise<void> {
    await changing(['identity'], async (t) => {
      const rows = await places(t);
      const department = (await Department.findByPk(id, { transaction: t })) ?? fail('department_not_found');
      if (fields.parent_id !== undefined && withDescendants(rows, id).has(fields.parent_id)) {
        fail('department_cycle', { field: 'parent_id' });
      }
      parentMustExist(rows, fields.parent_id);
      await department.update(fields, { transaction: t });
    });
  }

  /** Deletes a department without children and administrators. */
  static async remove(id: number): Promise<void> {
    await transact(async (t) => {
      const rows = await places(t);
      const department = (await Department.findByPk(id, { transaction: t })) ?? fail('department_not_found');
      if (rows.some(({ parent_id }) => parent_id === id)) fail('department_has_children');
      const [member] = await select(
        'SELECT id FROM admins WHERE department_id = ? LIMIT 1 FOR UPDATE',
        [id],
        t,
      );
      if (member) fail('department_has_admins');
      await department.destroy({ transaction: t });
    });
  }
}

db.addModels([Department]);

type Place = Pick<DepartmentRecord, 'id' | 'parent_id'>;

// In a transaction the tree is locked: two moves at once could close a cycle that neither makes alone.
function places(t?: Transaction): Promise<Place[]> {
  return select<Place>(`SELECT id, parent_id FROM departments ORDER BY id ${t ? 'FOR UPDATE' : ''}`, [], t);
}

function parentMustExist(rows: Place[], parentId: number | undefined): void {
  if (parentId && !rows.some(({ id }) => id === parentId)) fail('department_unknown', { field: 'parent_id' });
}
