// Trees out of rows with a parent_id.
import test from 'ava';
import fc from 'fast-check';
import {
  depthOf,
  heightOf,
  toTree,
  withAncestors,
  withDescendants,
  type Tree,
} from '../../src/models/tables/tree.js';

interface Row {
  id: number;
  parent_id: number;
}

/** Rows 1…n in any order, each below 0 or a row with a smaller id. */
const forest = (): fc.Arbitrary<Row[]> =>
  fc
    .array(fc.nat(), { maxLength: 40 })
    .map((seeds) => seeds.map((seed, index) => ({ id: index + 1, parent_id: seed % (index + 1) })))
    .chain((rows) => fc.shuffledSubarray(rows, { minLength: rows.length }));

const flat = (nodes: Tree<Row>[]): Tree<Row>[] => nodes.flatMap((node) => [node, ...flat(node.children)]);

test('every row appears once below its parent in the order of the rows', (t) => {
  fc.assert(
    fc.property(forest(), (rows) => {
      const tree = toTree(rows);
      const nodes = flat(tree);
      const order = new Map(rows.map(({ id }, index) => [id, index]));
      const inOrder = (siblings: Tree<Row>[]) =>
        siblings.every(
          (node, index) =>
            index === 0 || (order.get(siblings[index - 1]?.id ?? 0) ?? 0) < (order.get(node.id) ?? 0),
        );
      return (
        nodes.length === rows.length &&
        tree.every(({ parent_id }) => parent_id === 0) &&
        nodes.every((node) => node.children.every(({ parent_id }) => parent_id === node.id)) &&
        [tree, ...nodes.map(({ children }) => children)].every(inOrder)
      );
    }),
  );
  t.deepEqual(
    toTree([{ id: 5, parent_id: 9 }]),
    [{ id: 5, parent_id: 9, children: [] }],
    'an orphan becomes a root',
  );
});

test('ancestors and descendants mirror each other', (t) => {
  const height = (node: Tree<Row>): number => 1 + Math.max(0, ...node.children.map(height));
  fc.assert(
    fc.property(forest(), (rows) => {
      const nodes = flat(toTree(rows));
      return rows.every(({ id }) => {
        const below = withDescendants(rows, id);
        const mirrored = rows.every(
          (other) => below.has(other.id) === withAncestors(rows, [other.id]).has(id),
        );
        const parent = rows.find((row) => row.id === id)?.parent_id ?? 0;
        const node = nodes.find((candidate) => candidate.id === id) as Tree<Row>;
        return (
          mirrored && depthOf(rows, id) === depthOf(rows, parent) + 1 && heightOf(rows, id) === height(node)
        );
      });
    }),
    { numRuns: 40 },
  );
  t.is(depthOf([], 0), 0);
});

test('rows that form a cycle cause no endless search', (t) => {
  const circle = [
    { id: 1, parent_id: 2 },
    { id: 2, parent_id: 1 },
  ];
  t.deepEqual([...withDescendants(circle, 1)].sort(), [1, 2]);
  t.deepEqual([...withAncestors(circle, [1])].sort(), [1, 2]);
});
