// dictionaries: types (parent 0) and their entries.
import type { Transaction } from 'sequelize';
import { refuseDuplicates } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { withDescendants } from '../../lib/tree.js';
import { VersionedCache } from '../tables/versioned-cache.js';
import { changing } from '../tables/versions.js';
import { Dictionary } from './tables.js';
import { type Fields, type Listed, listed } from '../tables/table.js';
import { columnsOf, selection } from '../tables/selection.js';
import { over } from '../tables/sql.js';

export type DictionaryFields = Fields<Dictionary>;

export type DictionaryRecord = Listed<Dictionary>;

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

const dictionaries = selection(columnsOf(Dictionary, 'd'), 'dictionaries d');
const duplicates = { uq_dictionaries_code: { slug: 'dictionary_code_exists', field: 'code' } } as const;
const entriesOfTypes = selection(
  columnsOf(Dictionary, 'd'),
  'dictionaries d',
  'JOIN dictionaries type ON type.id = d.parent_id',
);

const sql = over({ 'dictionaries d': Dictionary, 'dictionaries type': Dictionary });

const cache = new VersionedCache<string, DictionaryRecord[]>({
  scope: 'dictionaries',
  max: 1000,
  load: (code) =>
    entriesOfTypes.where(
      sql(
        `WHERE type.parent_id = 0 AND type.code = :code AND type.status = 1 AND d.status = 1 ORDER BY d.sort, d.id`,
        { code },
      ),
    ),
});

export async function listDictionaries(query: DictionaryFilter): Promise<Page<DictionaryRecord>> {
  const where = new Where()
    .equals('d.parent_id', query.parent_id)
    .contains('d.code', query.code)
    .contains('d.name', query.name)
    .equals('d.status', query.status)
    .during('d.created_at', query);
  return dictionaries.page(query, where);
}

/** @throws dictionary_not_found */
export async function getDictionary(id: number): Promise<DictionaryRecord> {
  return listed((await Dictionary.findByPk(id)) ?? fail('dictionary_not_found'));
}

/** Every type, disabled ones too. */
export function dictionaryTypes(): Promise<DictionaryRecord[]> {
  return dictionaries.rows('WHERE d.parent_id = 0 ORDER BY d.sort, d.id');
}

/**
 * Enabled entries of an enabled type, kept by this process until a dictionary changes anywhere.
 *
 * @param mark of the scope `dictionaries` as read at the start of the request
 */
export function dictionaryEntries(code: string, mark: string | undefined): Promise<DictionaryRecord[]> {
  return cache.get(code, mark);
}

export async function createDictionary(fields: DictionaryFields): Promise<number> {
  const id = await refuseDuplicates(
    changing(['dictionaries'], async (t) => {
      await assertParent(fields.parent_id, t);
      return (await Dictionary.create(fields, { transaction: t })).id;
    }),
    duplicates,
  );
  return id;
}

export async function updateDictionary(id: number, fields: Partial<DictionaryFields>): Promise<void> {
  await refuseDuplicates(
    changing(['dictionaries'], async (t) => {
      const entry =
        (await Dictionary.findByPk(id, { transaction: t, lock: true })) ?? fail('dictionary_not_found');
      if (fields.parent_id) await assertNoCycle(id, fields.parent_id, t);
      await entry.update(fields, { transaction: t });
    }),
    duplicates,
  );
}

export async function deleteDictionary(id: number): Promise<void> {
  await changing(['dictionaries'], async (t) => {
    const entry =
      (await Dictionary.findByPk(id, { transaction: t, lock: true })) ?? fail('dictionary_not_found');
    const child = await Dictionary.findOne({ where: { parent_id: id }, transaction: t, lock: true });
    if (child) fail('dictionary_has_children');
    await entry.destroy({ transaction: t });
  });
}

const tree = selection(columnsOf(Dictionary, 'd', 'id', 'parent_id'), 'dictionaries d');

async function assertParent(id: number | undefined, t: Transaction): Promise<void> {
  if (!id) return;
  const found = await tree.one(sql('WHERE d.id = :id FOR UPDATE', { id }), { t });
  if (!found) fail('dictionary_unknown', { field: 'parent_id' });
}

async function assertNoCycle(id: number, parentId: number, t: Transaction): Promise<void> {
  const rows = await tree.rows('ORDER BY d.id FOR UPDATE', [], { t });
  if (!rows.some((row) => row.id === parentId)) fail('dictionary_unknown', { field: 'parent_id' });
  if (withDescendants(rows, id).has(parentId)) fail('dictionary_cycle', { field: 'parent_id' });
}
