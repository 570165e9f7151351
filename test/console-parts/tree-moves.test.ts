// Moving entries of the menu: nothing is lost or moved below itself, and the requests produce the same tree in the service.
import test from 'ava';
import fc from 'fast-check';
import { consoleModule } from '../support/console-module.js';

interface Entry {
  id: number;
  title: string;
  sort: number;
  children?: Entry[];
}

interface Place {
  id: number;
  parent_id?: number;
  sort?: number;
}

const { changesOf, moved, placed, stepped } = await consoleModule<{
  changesOf: (before: readonly Entry[], after: readonly Entry[]) => Place[];
  moved: (tree: readonly Entry[], id: number, parent: number | null, at: number) => readonly Entry[];
  placed: (tree: readonly Entry[], places: readonly Place[]) => readonly Entry[];
  stepped: (tree: readonly Entry[], id: number, step: string) => readonly Entry[];
}>('access/tree-moves.ts');

const entry = (id: number, sort: number, children: Entry[] = []): Entry => ({
  ...{ id, sort, children },
  title: `entry ${id}`,
});

const tree = [
  entry(1, 0, [entry(11, 0), entry(12, 0), entry(13, 5)]),
  entry(2, 10, [entry(21, 1, [entry(211, 0)])]),
  entry(3, 20),
];

type Shape = [number, Shape[]];
const shapeOf = (entries: readonly Entry[]): Shape[] =>
  entries.map(({ id, children = [] }) => [id, shapeOf(children)]);

// As the service does: every write by itself, children by position and id.
function written(before: readonly Entry[], places: readonly Place[]): Entry[] {
  const rows = new Map<number, Required<Place>>();
  const read = (entries: readonly Entry[], parent_id: number): void => {
    for (const { id, sort, children = [] } of entries) {
      rows.set(id, { id, parent_id, sort });
      read(children, id);
    }
  };
  read(before, 0);
  for (const place of places) {
    for (let above = place.parent_id ?? 0; above !== 0; above = rows.get(above)?.parent_id ?? 0)
      if (above === place.id) throw new Error(`${place.id} would stand below itself`);
    rows.set(place.id, { ...(rows.get(place.id) as Required<Place>), ...place });
  }
  const below = (parent: number): Entry[] =>
    [...rows.values()]
      .filter(({ parent_id }) => parent_id === parent)
      .sort((one, other) => one.sort - other.sort || one.id - other.id)
      .map(({ id, sort }) => entry(id, sort, below(id)));
  return below(0);
}

test('an entry moves up, down, into its neighbour and out of its parent', (t) => {
  t.deepEqual(
    shapeOf(stepped(tree, 3, 'up')).map(([id]) => id),
    [1, 3, 2],
  );
  t.deepEqual(
    shapeOf(stepped(tree, 1, 'down')).map(([id]) => id),
    [2, 1, 3],
  );
  t.deepEqual(shapeOf(stepped(tree, 3, 'in'))[1], [
    2,
    [
      [21, [[211, []]]],
      [3, []],
    ],
  ]);
  t.deepEqual(
    shapeOf(stepped(tree, 21, 'out')).map(([id]) => id),
    [1, 2, 21, 3],
  );
});

test('a move without a target changes nothing', (t) => {
  for (const [id, step] of [
    [1, 'up'],
    [3, 'down'],
    [1, 'in'],
    [2, 'out'],
    [99, 'up'],
  ] as const)
    t.is(stepped(tree, id, step), tree);
  t.is(moved(tree, 2, 211, 0), tree, 'below itself');
});

test('the writes of any moves lead to the tree shown', (t) => {
  const ids = [1, 2, 3, 11, 12, 13, 21, 211];
  const move = fc.record({
    id: fc.constantFrom(...ids),
    parent: fc.constantFrom(null, ...ids),
    at: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 6 }), (moves) => {
      const after = moves.reduce<readonly Entry[]>(
        (now, { id, parent, at }) => moved(now, id, parent, at),
        tree,
      );
      const places = changesOf(tree, after);
      t.deepEqual(shapeOf(written(tree, places)), shapeOf(after));
      t.deepEqual(shapeOf(placed(tree, places)), shapeOf(after), 'made again');
      const step = (now: Place[], { id, parent, at }: (typeof moves)[number]) =>
        changesOf(tree, moved(placed(tree, now), id, parent, at));
      t.deepEqual(moves.reduce(step, []), places, 'one after the other');
    }),
  );
  const back = stepped(placed(tree, changesOf(tree, stepped(tree, 13, 'up'))), 13, 'down');
  t.deepEqual(changesOf(tree, back), [], 'and back');
  t.deepEqual(changesOf(tree, tree), []);
  t.deepEqual(
    changesOf(tree, stepped(tree, 13, 'up')).map(({ id }) => id),
    [11, 13, 12],
  );
});

test('changes made again in a tree that others have changed leave out what no longer fits', (t) => {
  const places = [
    { id: 11, parent_id: 2, sort: 0 },
    { id: 12, parent_id: 3, sort: 0 },
    { id: 13, parent_id: 0, sort: 30 },
    { id: 1, parent_id: 2, sort: 5 },
  ];
  // Without 3 and 13, with 2 below 1 and a new 14.
  const later = [entry(1, 0, [entry(2, 0), entry(11, 0), entry(12, 0), entry(14, 7)])];
  t.deepEqual(shapeOf(placed(later, places)), [
    [
      1,
      [
        [2, [[11, []]]],
        [12, []],
        [14, []],
      ],
    ],
  ]);
  t.deepEqual(
    shapeOf(placed([entry(2, 0, [entry(1, 0)]), entry(3, 5)], changesOf(tree, stepped(tree, 3, 'up')))),
    [
      [3, []],
      [2, [[1, []]]],
    ],
    'what somebody else has moved stays below its new parent',
  );
});
