// departments: the tree administrators belong to.
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { db, select } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { withDescendants } from '../lib/tree.js';

@Table({ tableName: 'departments' })
export class Department extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.BIGINT) declare parent_id: number;
  @Column(DataType.STRING(50)) declare name: string;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.INTEGER) declare sort: number;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  /** A department and everything below it. */
  static async idsBelow(id: number): Promise<number[]> {
    const rows = await select<{ id: number; parent_id: number }>('SELECT id, parent_id FROM departments');
    return [...withDescendants(rows, id)];
  }

  /** @throws department_unknown when the id is given and nobody's */
  static async mustExist(id: number | null | undefined): Promise<void> {
    if (!id) return;
    const [found] = await select('SELECT id FROM departments WHERE id = ?', [id]);
    if (!found) fail('department_unknown', { field: 'department_id' });
  }

  /** Enabled departments for select boxes. */
  static choices(): Promise<{ id: number; parent_id: number; label: string }[]> {
    return select('SELECT id, parent_id, name AS label FROM departments WHERE status = 1 ORDER BY sort, id');
  }
}

db.addModels([Department]);
