// dictionaries: types (parent 0) and their entries.
import type { Transaction } from 'sequelize';
import { refuseDuplicates, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { blankToNull, parentFilter, status, textFilter } from '../../lib/input/schema.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { announce } from '../../lib/redis/changes.js';
import { containing, during, findPage, lockRow, matching, withUse } from '../tables/find.js';
import type { Fields, Listed } from '../tables/table.js';
import { assertPlace, nodesOf } from '../tables/tree.js';
import { Dictionary } from './tables.js';

export type DictionaryFields = Fields<Dictionary>;

/** With whether entries belong to it, which keep it from being deleted. */
type DictionaryRecord = Listed<Dictionary> & { in_use: boolean };

const dictionaryFilters = {
  parent_id: parentFilter(),
  code: textFilter(50),
  name: textFilter(50),
  status: status(),
};

type DictionaryFilter = Criteria<typeof dictionaryFilters> & ListQuery;

/** The query of the list. */
export const dictionaryQuery = listQuery<DictionaryFilter>(
  ['id', 'name', 'code', 'status', 'sort', 'created_at', 'updated_at'],
  dictionaryFilters,
);

const duplicates = { uq_dictionaries_code: { slug: 'dictionary_code_exists', field: 'code' } } as const;

export function listDictionaries(query: DictionaryFilter): Promise<Page<DictionaryRecord>> {
  const where = matching<Dictionary>({
    parent_id: query.parent_id,
    code: containing(query.code),
    name: containing(query.name),
    status: query.status,
    created_at: during(query),
  });
  return findPage(Dictionary.scope('withUse'), query, { where }, withUse);
}

/** @throws dictionary_not_found */
export async function getDictionary(id: number, transaction?: Transaction): Promise<DictionaryRecord> {
  await lockRow(Dictionary, id, transaction);
  const found = await Dictionary.scope('withUse').findByPk(id, { transaction });
  return withUse(found ?? fail('dictionary_not_found'));
}

/** Every type, disabled ones too. */
export const dictionaryTypes = (): Promise<DictionaryRecord[]> => findRecords({ parent_id: 0 });

/** Enabled entries of an enabled type. */
export async function dictionaryEntries(code: string): Promise<DictionaryRecord[]> {
  const type = await Dictionary.findOne({ where: { parent_id: 0, code, status: 1 } });
  // The database takes any two emoji for the same character.
  return type?.code.toLowerCase() === code.toLowerCase()
    ? findRecords({ parent_id: type.id, status: 1 })
    : [];
}

async function findRecords(where: { parent_id: number; status?: number }): Promise<DictionaryRecord[]> {
  const rows = await Dictionary.scope('withUse').findAll({ where, order: ['sort', 'id'] });
  return rows.map(withUse);
}

export async function createDictionary(fields: DictionaryFields): Promise<number> {
  const id = await refuseDuplicates(
    transact(async (t) => {
      const parent = fields.parent_id;
      if (parent) assertPlace('dictionary', await nodesOf(Dictionary, t), parent);
      return (await Dictionary.create(blankToNull(fields), { transaction: t })).id;
    }),
    duplicates,
  );
  announce(['dictionaries']);
  return id;
}

export async function updateDictionary(id: number, fields: Partial<DictionaryFields>): Promise<void> {
  await refuseDuplicates(
    transact(async (t) => {
      const entry =
        (await Dictionary.findByPk(id, { transaction: t, lock: true })) ?? fail('dictionary_not_found');
      const parent = fields.parent_id;
      if (parent && parent !== entry.parent_id)
        assertPlace('dictionary', await nodesOf(Dictionary, t), parent, id);
      await entry.update(blankToNull(fields), { transaction: t });
    }),
    duplicates,
  );
  announce(['dictionaries']);
}

export async function deleteDictionary(id: number): Promise<void> {
  await transact(async (t) => {
    const entry =
      (await Dictionary.findByPk(id, { transaction: t, lock: true })) ?? fail('dictionary_not_found');
    const child = await Dictionary.findOne({ where: { parent_id: id }, transaction: t, lock: true });
    if (child) fail('dictionary_has_children');
    await entry.destroy({ transaction: t });
  });
  announce(['dictionaries']);
}
