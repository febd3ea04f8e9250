import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { decoderOf } from './encodings.ts';
import { ImportError } from './options.ts';

/**
 * The maximum size of a row. A longer row is a mistake: a missing quotation mark, for example, turns the rest of the file into
 * one row.
 */
const MAX_ROW_BYTES = 1_048_576;

export type Row = {
  /** The number of the row as a spreadsheet shows it. The row with the column names has the number 1. */
  readonly number: number;
  readonly cells: readonly string[];
  /** The part of the file that has been read, from 0 to 1; `undefined` if the size of the file is unknown. */
  readonly share: number | undefined;
};

/** Some old programs write Ctrl+Z at the end of a file. */
const END_OF_FILE = '\x1A';

type Place = { readonly records: number; readonly empty_lines: number };
type Parsed = { readonly record: string[]; readonly info: Place & { readonly bytes: number } };

export type CsvFile = {
  readonly format: CsvFormat;
  /**
   * All rows except blank ones. The first is the row with the column names. The file is read only as fast as the rows are
   * consumed.
   */
  readonly rows: AsyncGenerator<Row, void, void>;
};

type ReadOptions = {
  /** The delimiter. If it is `undefined`, the first line of the file may name a delimiter. */
  readonly delimiter: string | undefined;
  readonly encoding: string;
  /** Called as soon as the file seems to be in another encoding. */
  readonly warn?: ((words: string) => void) | undefined;
};

/** Opens a CSV file (RFC 4180). The caller must read `rows` to the end or call `return()`. */
export async function openCsv(file: string, { delimiter, encoding, warn }: ReadOptions): Promise<CsvFile> {
  try {
    const texts = textsOf(file, { encoding, warn });
    let text = '';
    let start: Start | null = null;
    while (start === null) {
      const { value = '', done = false } = await texts.next();
      text += value;
      const isWhole = done || text.length > MAX_ROW_BYTES;
      start = startOf(text, { delimiter: delimiter ?? DEFAULT_DELIMITER, isWhole });
    }
    const { rest, delimiter: named, ...format } = start;
    if (delimiter !== undefined && named !== undefined && named !== delimiter)
      throw new ImportError(
        `The first line of ${file} says that ${JSON.stringify(named)} separates the cells, but --delimiter is ${JSON.stringify(delimiter)}. Correct one of them.`,
      );
    const known = { ...format, encoding, delimiter: named ?? delimiter ?? DEFAULT_DELIMITER };
    return { format: known, rows: rowsOf(file, { format: known, texts: startingWith(rest, texts) }) };
  } catch (error) {
    throw readableErrorOf(error, { file, encoding });
  }
}

const DEFAULT_DELIMITER = ',';

async function* startingWith(first: string, others: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield first;
  yield* others;
}

type Source = { readonly format: CsvFormat; readonly texts: AsyncIterable<string> };

async function* rowsOf(file: string, { format, texts }: Source): AsyncGenerator<Row, void, void> {
  const { delimiter, encoding } = format;
  try {
    const { size } = await stat(file);
    const parser = parse({
      delimiter,
      // By default, csv-parse uses only the line end of the first row. Other line ends would then be part of a cell.
      record_delimiter: ['\r\n', '\n', '\r'],
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_ROW_BYTES,
    });
    // An error of a stream also ends the parser, so that the following loop throws that error.
    pipeline(Readable.from(texts), parser, () => {});
    // The assertion is needed because the types of csv-parse do not declare what the parser emits.
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (record.every((cell) => cell.replace(END_OF_FILE, '').trim() === '')) continue;
      const share = size === 0 ? undefined : Math.min(1, info.bytes / size);
      yield { number: numberOf(info), cells: record, share };
    }
  } catch (error) {
    throw readableErrorOf(error, { file, encoding });
  }
}

async function* textsOf(
  file: string,
  { encoding, warn }: Pick<ReadOptions, 'encoding' | 'warn'>,
): AsyncGenerator<string, void, void> {
  const decoder = decoderOf(encoding);
  let start: Buffer | undefined = Buffer.of();
  let isAscii = true;
  for await (const chunk of createReadStream(file)) {
    // A pipe may deliver a byte order mark in several pieces.
    const bytes: Buffer = start === undefined ? chunk : Buffer.concat([start, chunk]);
    if (start !== undefined) {
      start = bytes;
      if (bytes.length < MARK_BYTES) continue;
      requireSameMark(bytes, { file, encoding });
      start = undefined;
    }
    // The earlier text was only ASCII, which is the same in both encodings.
    if (isAscii && !encoding.startsWith('utf-') && isProbablyUtf8(bytes))
      warn?.(`${file} is probably encoded as UTF-8, not as ${encoding}. If so, leave out --encoding.`);
    isAscii &&= bytes.every(isAsciiByte);
    yield decoder.decode(bytes);
  }
  if (start !== undefined) yield decoder.decode(start);
  yield decoder.decode();
}

/** The byte order marks. Spreadsheets write them at the start of "Unicode text" and "CSV UTF-8" files. */
const MARKS = { fffe: 'utf-16le', feff: 'utf-16be', efbbbf: 'utf-8' };
const MARK_BYTES = 3;

function requireSameMark(start: Buffer, { file, encoding }: { file: string; encoding: string }): void {
  const hex = start.toString('hex', 0, MARK_BYTES);
  const [, marked] = Object.entries(MARKS).find(([mark]) => hex.startsWith(mark)) ?? [];
  if (marked === undefined || marked === encoding) return;
  throw new ImportError(
    marked === 'utf-8'
      ? `${file} is encoded as UTF-8, not as ${encoding}. Leave out --encoding.`
      : `${file} is encoded as UTF-16. Save it as UTF-8, or use --encoding ${marked}.`,
  );
}

/** Returns whether the bytes are valid UTF-8 and contain characters other than ASCII. */
function isProbablyUtf8(bytes: Buffer): boolean {
  if (bytes.every(isAsciiByte)) return false;
  try {
    // With `stream`, the decoder accepts a character at the end that continues in the next chunk.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function isAsciiByte(byte: number): boolean {
  return byte < 0x80;
}

function numberOf({ records, empty_lines: emptyLines }: Place): number {
  return records + emptyLines;
}

const QUOTATION = 'A cell with a quotation mark is written in quotation marks, and each one in it twice: "5"" disk".';

function readableErrorOf(error: unknown, { file, encoding }: { file: string; encoding: string }): unknown {
  const code: unknown = Object(error).code;
  if (error instanceof CsvError) {
    // The line number in csv-parse's message is not the number of the row in a spreadsheet. The number of records is known, but
    // the type of the error does not declare it.
    const problem =
      error.code === 'CSV_MAX_RECORD_SIZE'
        ? 'it has more than 1 MiB. Is a quotation mark missing?'
        : `${error.message.replace(/ at line .*/s, '')}. ${QUOTATION}`;
    return new ImportError(`${file} is not a valid CSV file. Row ${numberOf(Object(error)) + 1}: ${problem}`);
  }
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new ImportError(`${file} is not encoded as ${encoding}. Use --encoding, such as --encoding windows-1252.`);
  return readableFileErrorOf(error, { file, verb: 'read' });
}

/** Returns an ImportError with a clear message for a file system error. Returns other errors unchanged. */
export function readableFileErrorOf(error: unknown, { file, verb }: { file: string; verb: 'read' | 'write' }): unknown {
  const code: unknown = Object(error).code;
  switch (code) {
    case 'ENOENT':
      return new ImportError(
        verb === 'read' ? `There is no file ${file}. Check the path.` : `There is no folder for ${file}. Create it.`,
      );
    case 'EISDIR':
      return new ImportError(`${file} is a folder. Name a ${verb === 'read' ? 'CSV ' : ''}file.`);
    case 'EACCES':
      return new ImportError(`You may not ${verb} ${file}. Change its permissions.`);
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return new ImportError(`Cannot ${verb} ${file}: ${code}.`);
  return error;
}

/** The format of a CSV file. */
export type CsvFormat = {
  readonly delimiter: string;
  /** The name of the encoding, as in `TextDecoder`. */
  readonly encoding: string;
  readonly lineEnd: string;
  readonly hasByteOrderMark: boolean;
  /** Whether the first line names the delimiter, as in `sep=;`. Some spreadsheets need such a line. */
  readonly hasSeparatorLine: boolean;
  /** Whether every cell is in quotation marks, even a cell that does not need them. */
  readonly quotesAll: boolean;
};

const LINE_END = /\r\n|\n|\r/;

/**
 * Matches a line that names the delimiter. A spreadsheet that does not know such lines adds empty cells, as in `"sep=;",,`.
 * Spaces may follow.
 */
const SEPARATOR_LINE = /^"?sep=([^"\r\n])"?(?:([^"\r\n\w ])(?:"")?(?:\2(?:"")?)*)? *(?:\r\n|\n|\r|$)/i;

export type Start = Omit<CsvFormat, 'encoding' | 'delimiter'> & {
  /**
   * The delimiter that the first line names. If a spreadsheet has added empty cells to that line, the delimiter between these
   * cells.
   */
  readonly delimiter: string | undefined;
  /** The text from the row with the column names to the end. */
  readonly rest: string;
};

/**
 * Returns the format of a file, derived from its first lines. Returns `null` if more text is needed: the row with the column
 * names is incomplete, and the text is not the whole file.
 */
function startOf(text: string, { delimiter, isWhole }: { delimiter: string; isWhole: boolean }): Start | null {
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

/**
 * Returns the text up to the end of the first line that is not blank, or `null` if that line is incomplete. A line break in
 * quotation marks does not end the line.
 */
function headerIn(text: string): string | null {
  let isQuoted = false;
  let isBlank = true;
  // The last character is not checked, because it may be the first half of a line end.
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

/** Returns the line of a row, with its line end. */
export function csvLine(cells: readonly string[], { delimiter, lineEnd, quotesAll }: CsvFormat): string {
  const mustQuote = (cell: string) => quotesAll || [delimiter, '"', '\r', '\n'].some((each) => cell.includes(each));
  return `${cells.map((cell) => (mustQuote(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter)}${lineEnd}`;
}
