// A page within grouped rows: its groups, and its offset in them.

/** So many rows match; the page begins behind `offset` of them and has `size`. */
export interface Part {
  matching: number;
  offset: number;
  size: number;
}

/**
 * The groups of a page.
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
