/** How a CSV file is written, apart from its content. */
export type CsvFormat = {
  readonly delimiter: string;
  /** As `TextDecoder` names it. */
  readonly encoding: string;
  readonly lineEnd: string;
  readonly hasByteOrderMark: boolean;
  /** Whether a first line says what the delimiter is, such as `sep=;`, which some spreadsheets need. */
  readonly hasSeparatorLine: boolean;
  /** Whether every cell is in quotation marks, even if it does not need them. */
  readonly quotesAll: boolean;
};

const LINE_END = /\r\n|\n|\r/;

/** Spreadsheets that do not know such a line fill its row up with empty cells: `"sep=;",,`. Blanks may follow. */
const SEPARATOR_LINE = /^"?sep=([^"\r\n])"?(?:([^"\r\n\w ])(?:"")?(?:\2(?:"")?)*)? *(?:\r\n|\n|\r|$)/i;

export type Start = Omit<CsvFormat, 'encoding' | 'delimiter'> & {
  /** The delimiter that the first line names, or with which it was filled up. */
  readonly delimiter: string | undefined;
  /** The text from the row of the column names on. */
  readonly rest: string;
};

/**
 * Reads how a file is written from its first lines. Returns `null` if the text ends before the row of the column names does,
 * unless it is the whole file.
 */
export function startOf(text: string, { delimiter, isWhole }: { delimiter: string; isWhole: boolean }): Start | null {
  const hasByteOrderMark = text.startsWith('\uFEFF');
  const unmarked = hasByteOrderMark ? text.slice(1) : text;
  const [line = '', named, filler = named] = SEPARATOR_LINE.exec(unmarked) ?? [];
  const rest = unmarked.slice(line.length);
  const header = headerIn(rest) ?? (isWhole ? rest : null);
  if (header === null) return null;
  return {
    delimiter: filler,
    hasByteOrderMark,
    hasSeparatorLine: named !== undefined,
    lineEnd: LINE_END.exec(line)?.[0] ?? LINE_END.exec(rest.slice(header.length))?.[0] ?? '\r\n',
    quotesAll: hasOnlyQuotedCells(header.trim(), filler ?? delimiter),
    rest,
  };
}

/** The first line that is not blank, and the lines before it. A quoted name may hold line breaks. */
function headerIn(text: string): string | null {
  let isQuoted = false;
  let isBlank = true;
  // The last character may be the first half of a line end.
  for (let at = 0; at < text.length - 1; at += 1) {
    const character = text.charAt(at);
    if (character === '"') isQuoted = !isQuoted;
    if (/\S/.test(character)) isBlank = false;
    else if (/[\r\n]/.test(character) && !isQuoted && !isBlank) return text.slice(0, at);
  }
  return null;
}

function hasOnlyQuotedCells(line: string, delimiter: string): boolean {
  const between = delimiter.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
  const cell = '"(?:[^"]|"")*"';
  return new RegExp(`^${cell}(?:${between}${cell})*$`).test(line);
}

/** One row, with its line end. */
export function csvLine(cells: readonly string[], { delimiter, lineEnd, quotesAll }: CsvFormat): string {
  const mustQuote = (cell: string) => quotesAll || [delimiter, '"', '\r', '\n'].some((each) => cell.includes(each));
  return `${cells.map((cell) => (mustQuote(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter)}${lineEnd}`;
}
