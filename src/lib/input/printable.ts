// Invisible characters that change how a text is read: control characters, direction overrides, halves of characters.

const unseen = String.raw`\p{Cs}\u202a-\u202e\u2066-\u2069`;
const outOfLine = new RegExp(String.raw`[\p{Cc}\u2028\u2029${unseen}]`, 'u');
const outOfLines = new RegExp(`[^\\P{Cc}\\t\\r\\n]|[${unseen}]`, 'u');
const blanks = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Whether a text of one line has visible characters only. */
export const isPrintable = (text: string): boolean => !outOfLine.test(text);

/** As `isPrintable`; tabs and line breaks are allowed. */
export const arePrintableLines = (text: string): boolean => !outOfLines.test(text);

/** Whether a text has no visible character. */
export const isBlank = (text: string): boolean => blanks.test(text);

/** The text with every invisible character as a JSON escape (`\u001b`), for terminals. */
export const escaped = (text: string): string => text.replace(hidden, escapes);

const escapes = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
