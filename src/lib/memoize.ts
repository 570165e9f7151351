// Results of pure functions of short texts, remembered.

/** Longer texts are rarely asked for twice, and would fill the memory. */
const maxLength = 256;

/**
 * Remembers what a function makes of a text. What it returns is shared: nobody may change it.
 *
 * @param make depends on nothing but the text; what it throws is not remembered
 * @param max texts at most; then it begins anew
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
