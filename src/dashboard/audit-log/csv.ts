/**
 * One line of CSV (RFC 4180). A cell that a spreadsheet would evaluate as a formula gets an apostrophe in front, so that a
 * name such as "=HYPERLINK(...)" runs nothing for the person who opens the file.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Also after a semicolon: where the comma is the decimal mark, spreadsheets split cells there. */
const FORMULA = /(^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠])/g;

function csvCell(text: string): string {
  const harmless = text.replace(FORMULA, "$1'");
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
