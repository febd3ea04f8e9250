import type { SignedInContext } from './request-context.ts';
import type { View } from './view.ts';

/** The columns of a file, in order. Each is a function that returns the cell's text for a row. */
type Columns<Row> = Readonly<Record<string, (row: Row) => string | null>>;

export type CsvFile<Row> = {
  readonly name: string;
  readonly columns: Columns<Row>;
  readonly pages: AsyncIterable<readonly Row[]>;
};

/** Returns a CSV file of the rows as a download. Its name ends in the current date. */
export function csvFile<Row>(context: SignedInContext, { name, columns, pages }: CsvFile<Row>): View {
  const fileName = `${name}-${context.now.toISOString().slice(0, 10)}.csv`;
  return { kind: 'download', fileName, lines: csvLines(columns, inTurns(pages, context)) };
}

/** Reads each page in a turn of its own, so that a client that reads slowly does not delay other clients. */
async function* inTurns<T>(pages: AsyncIterable<T>, { inTurn }: SignedInContext): AsyncGenerator<T> {
  const rest = pages[Symbol.asyncIterator]();
  const next = () => inTurn(() => rest.next());
  for (let page = await next(); page.done !== true; page = await next()) yield page.value;
}

async function* csvLines<Row>(columns: Columns<Row>, pages: AsyncIterable<readonly Row[]>): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(Object.keys(columns));
  for await (const rows of pages) {
    yield rows.map((row) => csvLine(Object.values(columns).map((cell) => cell(row) ?? ''))).join('');
  }
}

/**
 * Returns one line of CSV (RFC 4180, section 2). Puts an apostrophe before text that a spreadsheet would evaluate as a formula.
 * The attack: a user is named "=HYPERLINK(...)", and the formula runs for the person who opens the file.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Some spreadsheets read UTF-8 as windows-1252 unless the file begins with a byte order mark. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The place before the first character of a formula. Where the comma is the decimal separator, spreadsheets separate cells with
 * semicolons, so a formula can also follow a semicolon.
 */
const FORMULA = /(^|[;\t\r\n])(?=[\s\p{C}]*[=+\-@＝＋－＠])/gu;

/** Some programs treat a control character, such as Ctrl+Z, as the end of the file. */
const CONTROL_CHARACTER = /(?![\t\r\n])\p{Cc}/gu;

function csvCell(text: string): string {
  const harmless = text.replaceAll(FORMULA, "$1'").replaceAll(CONTROL_CHARACTER, '\uFFFD');
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
