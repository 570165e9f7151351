// The names that users give to files: kept for people to read, never used as a path.

/** Longest name in characters. */
const longest = 255;

// Control characters, marks that turn the reading direction, zero-width blanks, line separators, byte order marks.
const unseen = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * A name as it is kept: without path, control characters and marks that change how it reads, without dots and blanks at
 * its end.
 *
 * @returns undefined when nothing usable remains or it is longer than 255 characters
 */
export function cleanFilename(given: string): string | undefined {
  // Over a buffer, so that half a character becomes a whole one that can be stored.
  const text = Buffer.from(given.normalize('NFC')).toString();
  const base = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  const name = base
    .replace(unseen, '')
    .trim()
    .replace(/[\s.]+$/u, '');
  return name === '' || name.length > longest ? undefined : name;
}

/** What stands behind the last dot, in lower case; empty when there is none, or nothing before it. */
export function extensionOf(filename: string): string {
  return /[^.].*\.([^.]*)$/su.exec(filename)?.[1]?.toLowerCase() ?? '';
}
