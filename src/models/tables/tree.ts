// Rows with a parent_id as trees, which administrators arrange: menus, departments, dictionaries.
import type { Model, ModelStatic, Transaction } from 'sequelize';
import { fail } from '../../lib/errors/app-error.js';

interface Node {
  id: number;
  parent_id: number;
}

export type Tree<T> = T & { children: Tree<T>[] };

/** Nests rows below their parents in their order; rows with a missing parent become roots. */
export function toTree<T extends Node>(rows: T[]): Tree<T>[] {
  const nodes = new Map(rows.map((row) => [row.id, { ...row, children: [] as Tree<T>[] }]));
  const roots: Tree<T>[] = [];
  for (const node of nodes.values()) (nodes.get(node.parent_id)?.children ?? roots).push(node);
  return roots;
}

/** The ids of a row and its descendants. */
export function withDescendants(rows: Node[], id: number): Set<number> {
  const found = new Set([id]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const row of rows) if (found.has(row.parent_id)) found.add(row.id);
  }
  return found;
}

/** The ids of the rows and of all their ancestors. */
export function withAncestors(rows: Node[], ids: Iterable<number>): Set<number> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = new Set<number>();
  for (let id of ids) {
    while (byId.has(id) && !found.has(id)) {
      found.add(id);
      id = (byId.get(id) as Node).parent_id;
    }
  }
  return found;
}

/** Max levels of a tree. */
const maxDepth = 10;

/** Whether a row, with all rows below it, would be too deep under that parent; a new row has no id. */
function isTooDeep(rows: Node[], parentId: number, id?: number): boolean {
  return withAncestors(rows, [parentId]).size + (id === undefined ? 1 : heightOf(rows, id)) > maxDepth;
}

/** The height of a subtree: 1 for a leaf. */
function heightOf(rows: Node[], id: number): number {
  const children = rows.filter((row) => row.parent_id === id && row.id !== id);
  return 1 + Math.max(0, ...children.map((child) => heightOf(rows, child.id)));
}

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
