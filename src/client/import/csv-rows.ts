import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ImportError } from './import-error.ts';

/** Longer rows are a mistake, such as a quotation mark without its end, which would make one row of the rest of the file. */
const MAX_ROW_CHARACTERS = 1_048_576;

export type Row = {
  /** As in a spreadsheet: the row of the column names is 1. */
  readonly number: number;
  readonly cells: readonly string[];
  /** How much of the file has been read, from 0 to 1; undefined if its size is not known. */
  readonly share: number | undefined;
};

type Place = { readonly records: number; readonly empty_lines: number };
type Parsed = { readonly record: string[]; readonly info: Place & { readonly bytes: number } };

/** The rows of a CSV file (RFC 4180), that of the column names included, blank rows excluded. Reads as fast as rows are taken. */
export async function* rowsOf(
  file: string,
  { delimiter, encoding }: { delimiter: string; encoding: string },
): AsyncGenerator<Row, void, void> {
  try {
    const { size } = await stat(file);
    const parser = parse({
      delimiter,
      // By default, those of the first row, so that others would be part of a cell.
      record_delimiter: ['\r\n', '\n', '\r'],
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_ROW_CHARACTERS,
    });
    // An error of any part also ends the parser, from which the loop gets it.
    pipeline(Readable.from(textOf(file, encoding)), parser, () => {});
    // The types of csv-parse do not say what it emits.
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (record.every((cell) => cell.trim() === '')) continue;
      const share = size === 0 ? undefined : Math.min(1, info.bytes / size);
      yield { number: numberOf(info), cells: record, share };
    }
  } catch (error) {
    throw readableError(error, { file, encoding });
  }
}

async function* textOf(file: string, encoding: string): AsyncGenerator<string, void, void> {
  // It removes a byte order mark, which spreadsheets write.
  const decoder = new TextDecoder(encoding, { fatal: true });
  let isFirst = true;
  for await (const chunk of createReadStream(file)) {
    if (isFirst) refuseOtherMark(chunk, { file, encoding });
    isFirst = false;
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

/** Spreadsheets write it at the start of "Unicode text". */
function refuseOtherMark(chunk: Buffer, { file, encoding }: { file: string; encoding: string }): void {
  const marked = { fffe: 'utf-16le', feff: 'utf-16be' }[chunk.toString('hex', 0, 2)];
  if (marked !== undefined && marked !== encoding)
    throw new ImportError(`${file} is encoded as UTF-16. Save it as UTF-8, or use --encoding ${marked}.`);
}

function numberOf({ records, empty_lines: emptyLines }: Place): number {
  return records + emptyLines;
}

function readableError(error: unknown, { file, encoding }: { file: string; encoding: string }): unknown {
  const code: unknown = Object(error).code;
  if (error instanceof CsvError) {
    // Its lines are not the rows of a spreadsheet. Its type lacks what says how many rows come before.
    const problem = error.message.replace(/ at line .*/s, '');
    return new ImportError(`${file} is not a valid CSV file. Row ${numberOf(Object(error)) + 1}: ${problem}.`);
  }
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new ImportError(`${file} is not encoded as ${encoding}. Use --encoding, such as --encoding windows-1252.`);
  switch (code) {
    case 'ENOENT':
      return new ImportError(`There is no file ${file}. Check the path.`);
    case 'EISDIR':
      return new ImportError(`${file} is a folder. Name a CSV file.`);
    case 'EACCES':
      return new ImportError(`You may not read ${file}. Change its permissions.`);
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return new ImportError(`Cannot read ${file}: ${code}.`);
  return error;
}
