// Moves of tree entries: the resulting tree, and the writes that make the service equal to it.

export interface Entry {
  id: number;
  title: string;
  sort: number;
  children?: Entry[];
}

export type Step = 'up' | 'down' | 'in' | 'out';

/** What changes of the place of one entry. Parent 0 is the root. */
export interface Place {
  id: number;
  parent_id?: number;
  sort?: number;
}

interface Found {
  entry: Entry;
  siblings: readonly Entry[];
  at: number;
  parents: readonly Entry[];
}

export function find(tree: readonly Entry[], id: number, parents: readonly Entry[] = []): Found | undefined {
  for (const [at, entry] of tree.entries()) {
    if (entry.id === id) return { entry, siblings: tree, at, parents };
    const found = find(entry.children ?? [], id, [...parents, entry]);
    if (found) return found;
  }
  return undefined;
}

const without = (tree: readonly Entry[], id: number): Entry[] =>
  tree
    .filter((entry) => entry.id !== id)
    .map((entry) => (entry.children ? { ...entry, children: without(entry.children, id) } : entry));

const inserted = (tree: readonly Entry[], entry: Entry, parent: number | null, at: number): Entry[] =>
  parent === null
    ? [...tree.slice(0, at), entry, ...tree.slice(at)]
    : tree.map((one) => {
        const children = one.children ?? [];
        if (one.id === parent) return { ...one, children: inserted(children, entry, null, at) };
        return children.length > 0 ? { ...one, children: inserted(children, entry, parent, at) } : one;
      });

/**
 * Moves an entry with its subtree to a position among the children of another; not below itself.
 *
 * @param at counted without the entry
 */
export function moved(
  tree: readonly Entry[],
  id: number,
  parent: number | null,
  at: number,
): readonly Entry[] {
  const found = find(tree, id);
  if (!found || (parent !== null && (parent === id || find(found.entry.children ?? [], parent)))) return tree;
  return inserted(without(tree, id), found.entry, parent, at);
}

/**
 * One step by keyboard: past a neighbour, into the one above, or out of its parent. Returns the same tree if
 * the step is impossible.
 */
export function stepped(tree: readonly Entry[], id: number, step: Step): readonly Entry[] {
  const found = find(tree, id);
  if (!found) return tree;
  const { siblings, at, parents } = found;
  const parent = parents.at(-1);
  if (step === 'up') return at === 0 ? tree : moved(tree, id, parent?.id ?? null, at - 1);
  if (step === 'down') return at === siblings.length - 1 ? tree : moved(tree, id, parent?.id ?? null, at + 1);
  if (step === 'in') {
    const above = siblings[at - 1];
    return above ? moved(tree, id, above.id, above.children?.length ?? 0) : tree;
  }
  if (!parent) return tree;
  const place = find(tree, parent.id);
  return moved(tree, id, parents.at(-2)?.id ?? null, (place?.at ?? 0) + 1);
}

const gap = 10;

const isInOrder = (siblings: readonly Entry[]): boolean =>
  siblings.every(({ sort, id }, at) => {
    const before = siblings[at - 1];
    return !before || before.sort < sort || (before.sort === sort && before.id < id);
  });

function placesOf(tree: readonly Entry[], parent = 0): Required<Place>[] {
  const isKept = isInOrder(tree);
  return tree.flatMap(({ id, sort, children = [] }, at) => [
    { id, parent_id: parent, sort: isKept ? sort : (at + 1) * gap },
    ...placesOf(children, id),
  ]);
}

const numbered = (tree: readonly Entry[], sorts: ReadonlyMap<number, number>): Entry[] =>
  tree.map((entry) => ({
    ...entry,
    sort: sorts.get(entry.id) ?? entry.sort,
    ...(entry.children && { children: numbered(entry.children, sorts) }),
  }));

/** The necessary writes. Siblings that are in order as they were before keep their positions. */
export function changesOf(before: readonly Entry[], after: readonly Entry[]): Place[] {
  const known = new Map(placesOf(before).map((place) => [place.id, place]));
  const sorts = new Map([...known].map(([id, { sort }]) => [id, sort]));
  return placesOf(numbered(after, sorts)).flatMap(({ id, parent_id, sort }) => {
    const old = known.get(id);
    const change = {
      ...(old?.parent_id !== parent_id && { parent_id }),
      ...(old?.sort !== sort && { sort }),
    };
    return Object.keys(change).length > 0 ? [{ id, ...change }] : [];
  });
}

const sorted = (tree: readonly Entry[]): Entry[] =>
  tree
    .map((entry) => ({ ...entry, ...(entry.children && { children: sorted(entry.children) }) }))
    .sort((one, other) => one.sort - other.sort || one.id - other.id);

/** Makes the changes again, in a tree that may be another one by now: what no longer fits is left out. */
export function placed(tree: readonly Entry[], places: readonly Place[]): readonly Entry[] {
  const sorts = new Map(places.flatMap(({ id, sort }) => (sort === undefined ? [] : [[id, sort] as const])));
  const all = places.reduce((before, { id, parent_id }) => {
    if (parent_id === undefined) return before;
    const parent = find(before, id)?.parents.at(-1)?.id ?? 0;
    const hasParent = parent_id === 0 || find(before, parent_id);
    return parent === parent_id || !hasParent ? before : moved(before, id, parent_id || null, 0);
  }, tree);
  return sorted(numbered(all, sorts));
}
