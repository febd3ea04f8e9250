/**
 * One line of RFC 4180. A cell that a spreadsheet would take for a formula is given an apostrophe, so that a name such as
 * "=HYPERLINK(...)" runs nothing on the machine of whoever opens the file.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** A cell may begin in its middle as well: where a comma is the decimal mark, spreadsheets divide at the semicolon. */
const FORMULA = /(^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠])/g;

function csvCell(text: string): string {
  const harmless = text.replace(FORMULA, "$1'");
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
