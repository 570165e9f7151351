// The trees that administrators arrange: menus, departments, dictionaries.
import type { Model, ModelStatic, Transaction } from 'sequelize';
import { fail } from '../../lib/errors/app-error.js';
import { isTooDeep, maxDepth, withDescendants, type Node } from '../../lib/values/tree.js';

/**
 * Ids and parents of all rows; in a transaction they are locked: two moves at once could close a cycle that
 * neither makes alone.
 */
export function nodesOf<M extends Model & Node>(model: ModelStatic<M>, t?: Transaction): Promise<M[]> {
  return model.findAll({
    attributes: ['id', 'parent_id'],
    order: ['id'],
    transaction: t,
    lock: t !== undefined,
  });
}

/**
 * A new row, or the one of that id with all below it, may be put below that parent.
 *
 * @throws `<noun>_unknown`, `<noun>_cycle`, `<noun>_too_deep`
 */
export function assertPlace(
  noun: 'menu' | 'department' | 'dictionary',
  rows: Node[],
  parent: number,
  id?: number,
): void {
  const field = 'parent_id';
  if (!rows.some((row) => row.id === parent)) fail(`${noun}_unknown`, { field });
  if (id !== undefined && withDescendants(rows, id).has(parent)) fail(`${noun}_cycle`, { field });
  if (isTooDeep(rows, parent, id)) fail(`${noun}_too_deep`, { field, params: { depth: maxDepth } });
}
