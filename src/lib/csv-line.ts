// Writes lines of CSV files that spreadsheets open (RFC 4180).

/** What a file begins with, so that spreadsheets take it for UTF-8. */
export const byteOrderMark = '\ufeff';

/** One line with its end. A cell that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const harmless = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
