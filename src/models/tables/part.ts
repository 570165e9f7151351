// A page among rows that are counted by group: the groups it lies in, and where it begins in them.

/** So many rows match; the page begins behind `offset` of them and has `size`. */
export interface Part {
  matching: number;
  offset: number;
  size: number;
}

/**
 * The groups that a page lies in.
 *
 * @param ordered every group with its rows, in the order of the list
 * @param whole the page among all of them
 */
export function narrowed<K>(
  ordered: Iterable<readonly [K, number]>,
  { offset, size }: Part,
): { touched: K[]; part: Part } {
  const touched: K[] = [];
  let [passed, before, matching] = [0, 0, 0];
  for (const [group, rows] of ordered) {
    if (rows > 0 && passed + rows > offset && passed < offset + size) {
      if (touched.length === 0) before = passed;
      touched.push(group);
      matching += rows;
    }
    passed += rows;
  }
  return { touched, part: { matching, offset: offset - before, size } };
}
