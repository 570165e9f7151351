// File names given by users: stored for people to read, never used as a path.

/** Max characters of a name. */
const longest = 255;

/** Max characters of a name with its path, as given: cleaning tens of thousands would take seconds. */
const longestGiven = 4096;

// Control characters, direction marks, zero-width spaces, line separators, byte order marks.
const unseen = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * A cleaned name: without path, control characters and direction marks, without trailing dots and blanks.
 *
 * @returns undefined when nothing usable remains or it exceeds 255 characters
 */
export function cleanFilename(given: string): string | undefined {
  if (given.length > longestGiven) return undefined;
  // Through a buffer, so that half a surrogate pair becomes a storable character.
  const text = Buffer.from(given.normalize('NFC')).toString();
  const base = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  const name = base
    .replace(unseen, '')
    .trim()
    .replace(/[\s.]+$/u, '');
  return name === '' || name.length > longest ? undefined : name;
}

/** The part after the last dot, in lower case; empty when there is none, or nothing before it. */
export function extensionOf(filename: string): string {
  return /[^.].*\.([^.]*)$/su.exec(filename)?.[1]?.toLowerCase() ?? '';
}
