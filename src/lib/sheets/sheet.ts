// A table to be written to a file: columns, and rows from the database.

/** As the driver returns it: DECIMAL and DATETIME columns are texts. */
export type Cell = string | number | null;

export interface SheetColumn {
  /** In the reader's language. */
  title: string;
  /** amount: a decimal text of two places; time: YYYY-MM-DD HH:mm:ss; integer: a number. */
  kind: 'text' | 'integer' | 'amount' | 'time';
  /** Converts a non-null cell for display. */
  show?: (cell: string | number) => string | number;
}

export interface Sheet {
  title: string;
  columns: SheetColumn[];
  /** Pages of rows. The first cell of a row is the key of its record and is not shown. */
  pages: AsyncIterable<Cell[][]>;
}

// Prefixes that a spreadsheet program runs as a formula, also after blanks that an import may strip, and in
// full-width form.
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Prefixes a text that a spreadsheet would run with an apostrophe (OWASP, CSV injection). */
export function neutralise(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe that `neutralise` has added. */
export function restore(text: string): string {
  return text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text;
}
