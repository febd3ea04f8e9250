/**
 * One line of CSV (RFC 4180). A cell that a spreadsheet would evaluate as a formula gets an apostrophe in front, so that a
 * name such as "=HYPERLINK(...)" runs nothing for the person who opens the file.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Without it, some spreadsheets read UTF-8 as windows-1252. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** Also after a semicolon: where the comma is the decimal mark, spreadsheets split cells there. */
const FORMULA = /(^|[;\t\r\n])(?=[\s\p{C}]*[=+\-@＝＋－＠])/gu;

/** Some programs take one of them, such as Ctrl+Z, for the end of the file. */
const CONTROL_CHARACTER = /(?![\t\r\n])\p{Cc}/gu;

function csvCell(text: string): string {
  const harmless = text.replaceAll(FORMULA, "$1'").replaceAll(CONTROL_CHARACTER, '\uFFFD');
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
