// A table on its way into a file: columns, and rows as the database gives them.

/** As the driver gives it: DECIMAL and DATETIME columns are texts. */
export type Cell = string | number | null;

export interface SheetColumn {
  /** In the reader's language. */
  title: string;
  /** amount: a decimal text of two places; time: YYYY-MM-DD HH:mm:ss; integer: a number. */
  kind: 'text' | 'integer' | 'amount' | 'time';
  /** What is shown for a cell that is not null, when that is not the cell itself. */
  show?: (cell: string | number) => string | number;
}

export interface Sheet {
  title: string;
  columns: SheetColumn[];
  /** Pages of rows. The first cell of a row is the key of its record and is not shown; the columns follow. */
  pages: AsyncIterable<Cell[][]>;
}

// What a spreadsheet program takes for a formula, also behind blanks that an import may strip, and in its full-width form.
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** A text that no spreadsheet program runs as a formula (OWASP, CSV injection); others stay as they are. */
export function neutralise(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** A text that comes back from a spreadsheet, without the apostrophe that `neutralise` puts before a formula. */
export function restore(text: string): string {
  return text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text;
}
