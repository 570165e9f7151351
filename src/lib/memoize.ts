// Memoizes pure functions of short texts.

/** Longer texts rarely repeat and would fill the memory. */
const maxLength = 256;

/**
 * Caches the results of a function. They are shared and must not be modified.
 *
 * @param make depends on nothing but the text; errors are not cached
 * @param max texts at most; then the cache is cleared
 */
export function memoized<V>(make: (text: string) => V, max = 2000): (text: string) => V {
  const known = new Map<string, V>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (text.length > maxLength) return made;
    if (known.size >= max) known.clear();
    known.set(text, made);
    return made;
  };
}
