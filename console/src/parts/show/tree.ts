// Entries of a tree.

/** All of them, each before those below it. */
export const flat = <T extends { children?: readonly T[] }>(tree: readonly T[]): T[] =>
  tree.flatMap((one) => [one, ...flat(one.children ?? [])]);

export const idsOf = <T extends { id: number; children?: readonly T[] }>(tree: readonly T[]): number[] =>
  flat(tree).map(({ id }) => id);
