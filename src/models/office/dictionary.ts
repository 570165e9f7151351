// dictionaries: types (parent 0) and their entries.
import type { Transaction } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { db, refuseDuplicates, select } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { withDescendants } from '../../lib/tree.js';
import { changing, holds, stamp, type Stamp } from '../tables/versions.js';

export interface DictionaryFields {
  parent_id?: number;
  name: string;
  code: string;
  value?: string | null;
  description?: string | null;
  status?: number;
  sort?: number;
}

export interface DictionaryFilter extends ListQuery {
  parent_id?: number;
  code?: string;
  name?: string;
  status?: number;
}

export const dictionarySortable = [
  'id',
  'name',
  'code',
  'status',
  'sort',
  'created_at',
  'updated_at',
] as const;

export interface DictionaryRecord extends Required<DictionaryFields> {
  id: number;
  created_at: Date;
  updated_at: Date;
}

const columns =
  'd.id, d.parent_id, d.name, d.code, d.value, d.description, d.status, d.sort, d.created_at, d.updated_at';
const duplicates = { uq_dictionaries_code: { slug: 'dictionary_code_exists', field: 'code' } } as const;
const maxKept = 1000;

const kept = new Map<string, { stamped: Stamp; entries: DictionaryRecord[] }>();

@Table({ tableName: 'dictionaries' })
export class Dictionary extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.BIGINT) declare parent_id: number;
  @Column(DataType.STRING(50)) declare name: string;
  @Column(DataType.STRING(50)) declare code: string;
  @Column(DataType.STRING(500)) declare value: string | null;
  @Column(DataType.STRING(255)) declare description: string | null;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.INTEGER) declare sort: number;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  static async list(query: DictionaryFilter): Promise<Page<DictionaryRecord>> {
    const where = new Where()
      .equals('d.parent_id', query.parent_id)
      .contains('d.code', query.code)
      .contains('d.name', query.name)
      .equals('d.status', query.status)
      .during('d.created_at', query);
    const [rows, [count]] = await Promise.all([
      select<DictionaryRecord>(
        `SELECT ${columns} FROM dictionaries d ${where.sql} ${pageSql(query, 'd')}`,
        where.values,
      ),
      select<{ total: number }>(`SELECT COUNT(*) AS total FROM dictionaries d ${where.sql}`, where.values),
    ]);
    return toPage(query, rows, count?.total ?? 0);
  }

  /** @throws dictionary_not_found */
  static async record(id: number): Promise<DictionaryRecord> {
    const [row] = await select<DictionaryRecord>(`SELECT ${columns} FROM dictionaries d WHERE d.id = ?`, [
      id,
    ]);
    return row ?? fail('dictionary_not_found');
  }

  /** Every type, disabled ones too. */
  static types(): Promise<DictionaryRecord[]> {
    return select<DictionaryRecord>(
      `SELECT ${columns} FROM dictionaries d WHERE d.parent_id = 0 ORDER BY d.sort, d.id`,
    );
  }

  /**
   * Enabled entries of an enabled type, kept by this process until a dictionary changes anywhere.
   *
   * @param mark of the scope `dictionaries` as read at the start of the request
   */
  static async entriesOf(code: string, mark: string | undefined): Promise<DictionaryRecord[]> {
    const known = kept.get(code);
    if (known && (await holds('dictionaries', known.stamped, mark))) return known.entries;
    const stamped = await stamp('dictionaries', mark);
    const entries = await select<DictionaryRecord>(
      `SELECT ${columns} FROM dictionaries d JOIN dictionaries type ON type.id = d.parent_id
       WHERE type.parent_id = 0 AND type.code = ? AND type.status = 1 AND d.status = 1 ORDER BY d.sort, d.id`,
      [code],
    );
    kept.delete(code);
    kept.set(code, { stamped, entries });
    if (kept.size > maxKept) kept.delete(kept.keys().next().value as string);
    return entries;
  }

  static async register(fields: DictionaryFields): Promise<number> {
    const id = await refuseDuplicates(
      changing(['dictionaries'], async (t) => {
        await parentMustExist(fields.parent_id, t);
        const entry = await Dictionary.create(
          { parent_id: 0, status: 1, sort: 0, ...fields },
          { transaction: t },
        );
        return entry.id;
      }),
      duplicates,
    );
    return id;
  }

  static async revise(id: number, fields: Partial<DictionaryFields>): Promise<void> {
    await refuseDuplicates(
      changing(['dictionaries'], async (t) => {
        const entry =
          (await Dictionary.findByPk(id, { transaction: t, lock: true })) ?? fail('dictionary_not_found');
        if (fields.parent_id) await mustNotCycle(id, fields.parent_id, t);
        await entry.update(fields, { transaction: t });
      }),
      duplicates,
    );
  }

  static async remove(id: number): Promise<void> {
    await changing(['dictionaries'], async (t) => {
      const entry =
        (await Dictionary.findByPk(id, { transaction: t, lock: true })) ?? fail('dictionary_not_found');
      const [child] = await select(
        'SELECT id FROM dictionaries WHERE parent_id = ? LIMIT 1 FOR UPDATE',
        [id],
        t,
      );
      if (child) fail('dictionary_has_children');
      await entry.destroy({ transaction: t });
    });
  }
}

db.addModels([Dictionary]);

async function parentMustExist(id: number | undefined, t: Transaction): Promise<void> {
  if (!id) return;
  const [found] = await select('SELECT id FROM dictionaries WHERE id = ? FOR UPDATE', [id], t);
  if (!found) fail('dictionary_unknown', { field: 'parent_id' });
}

async function mustNotCycle(id: number, parentId: number, t: Transaction): Promise<void> {
  const rows = await select<{ id: number; parent_id: number }>(
    'SELECT id, parent_id FROM dictionaries ORDER BY id FOR UPDATE',
    [],
    t,
  );
  if (!rows.some((row) => row.id === parentId)) fail('dictionary_unknown', { field: 'parent_id' });
  if (withDescendants(rows, id).has(parentId)) fail('dictionary_cycle', { field: 'parent_id' });
}
