import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { type CsvFormat, csvLine, type Row, readableFileErrorOf } from './csv.ts';
import { type Encoder, encoderOf } from './encodings.ts';
import { ImportError } from './options.ts';

const ADDED = ['import_row', 'import_status', 'import_message'] as const;

export type Refusal = { readonly row: Row; readonly status: number | undefined; readonly message: string };

/** The columns of a file that is possibly a report of refused rows. */
export type Layout = {
  /** The indexes of the columns that no report has added, up to the last column with a name. */
  readonly own: readonly number[];
  /** The index of the column with the messages; `undefined` if the file is not a report. */
  readonly message: number | undefined;
  /** The number of columns up to the last column with a name. */
  readonly width: number;
};

export function layoutOf(header: readonly string[]): Layout {
  const names = header.map((name) => name.trim());
  const isReport = ADDED.every((name) => names.includes(name));
  const isOwn = (name: string) => !isReport || !ADDED.some((added) => added === name);
  const isLast = (place: number) => names.slice(place).some((name) => name !== '' && isOwn(name));
  return {
    own: [...names.keys()].filter((place) => isOwn(names[place] ?? '') && isLast(place)),
    message: isReport ? names.indexOf('import_message') : undefined,
    width: names.reduce((width, name, place) => (name === '' ? width : place + 1), 0),
  };
}

type Options = {
  readonly format: CsvFormat;
  readonly header: readonly string[];
  /** Tells the user what happened to an earlier report. */
  readonly tell: (words: string) => void;
};

/**
 * The report of refused rows: a CSV file in the format of the imported file, with the reasons in additional columns. The user can
 * correct the report and import it with the same options. The file is created when the first row is refused.
 */
export class RefusedRows {
  readonly #path: string;
  readonly #options: Options;
  readonly #layout: Layout;
  #file: { readonly handle: FileHandle; readonly encode: Encoder } | undefined;
  count = 0;

  constructor(path: string, options: Options) {
    this.#path = path;
    this.#options = options;
    this.#layout = layoutOf(options.header);
  }

  /** Throws an ImportError if the report cannot be written, or if it would overwrite a file that is not a report. */
  async requirePlace(): Promise<void> {
    try {
      const earlier = await this.#findFile();
      if (earlier === 'other')
        throw new ImportError(
          `${this.#path} is not a report of refused rows. Move it, or name another file with --refused.`,
        );
      await (await open(this.#path, 'a')).close();
      if (earlier === 'nothing') await rm(this.#path);
    } catch (error) {
      throw this.#readableError(error);
    }
  }

  async add(refusals: readonly Refusal[]): Promise<void> {
    if (refusals.length === 0) return;
    this.count += refusals.length;
    const lines = refusals.map(({ row, status, message }) =>
      this.#line(row.cells, [String(row.number), String(status ?? ''), message]),
    );
    try {
      if (this.#file === undefined) {
        await this.#keepEdited();
        const handle = await open(this.#path, 'w');
        this.#file = { handle, encode: encoderOf(this.#options.format.encoding) };
        lines.unshift(this.#start());
      }
      const { handle, encode } = this.#file;
      await handle.writeFile(encode(lines.join('')));
      // Some file systems do not let a program set the times of a file. The report then seems to have been edited.
      await handle.utimes(...timesOfUnedited((await handle.stat()).size)).catch(() => {});
    } catch (error) {
      throw this.#readableError(error);
    }
  }

  async close(): Promise<void> {
    await this.#file?.handle.close();
  }

  /** Removes the report of an earlier import if this import has refused no rows. */
  async removeEarlier(): Promise<void> {
    if (this.#file !== undefined) return;
    await this.#keepEdited();
    if ((await this.#findFile()) !== 'report') return;
    await rm(this.#path);
    this.#options.tell(`Removed the earlier report ${this.#path}.`);
  }

  #start(): string {
    const { format, header } = this.#options;
    const mark = format.hasByteOrderMark ? '\uFEFF' : '';
    const separator = format.hasSeparatorLine ? `sep=${format.delimiter}${format.lineEnd}` : '';
    return `${mark}${separator}${this.#line(header, ADDED)}`;
  }

  /**
   * Returns the line of a row with the reasons. Adds empty cells if the row is too short, so that each reason is in its column.
   */
  #line(cells: readonly string[], added: readonly string[]): string {
    const own = this.#layout.own.map((place) => cells[place] ?? '');
    return csvLine([...own, ...added], this.#options.format);
  }

  async #findFile(): Promise<'report' | 'edited report' | 'other' | 'expendable' | 'nothing'> {
    const found = await stat(this.#path).catch((error: unknown) => {
      if (Object(error).code === 'ENOENT') return null;
      throw error;
    });
    if (found === null) return 'nothing';
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    // Replacing an empty file or a device, such as /dev/null, loses no data.
    if (!found.isFile() || found.size === 0) return 'expendable';
    if (!isReport(await startOfFile(this.#path))) return 'other';
    return Math.round(found.mtimeMs) % 1000 === millisecondsOf(found.size) ? 'report' : 'edited report';
  }

  /** Renames the report if it was edited, because its corrections may not have been imported yet. */
  async #keepEdited(): Promise<void> {
    if ((await this.#findFile()) !== 'edited report') return;
    let kept = `${this.#path}.edited`;
    for (let number = 2; await exists(kept); number += 1) kept = `${this.#path}.edited-${number}`;
    await rename(this.#path, kept);
    this.#options.tell(`The earlier report was edited. It is kept as ${kept}.`);
  }

  #readableError(error: unknown): unknown {
    const readable = readableFileErrorOf(error, { file: this.#path, verb: 'write' });
    if (!(readable instanceof ImportError) || readable === error) return readable;
    return new ImportError(`The report of refused rows: ${readable.message} Or name another file with --refused.`);
  }
}

/**
 * Returns the times for a new report. Their milliseconds depend on the size of the file. If the report is edited later, the times
 * and the size no longer match.
 */
function timesOfUnedited(size: number): [accessed: Date, modified: Date] {
  const time = new Date(Math.floor(Date.now() / 1000) * 1000 + millisecondsOf(size));
  return [time, time];
}

/**
 * Returns a number from 1 to 997. The number is never 0, because file systems that store only whole seconds give every edited
 * file 0 milliseconds, and an edited file must not match. `size` is in bytes.
 */
function millisecondsOf(size: number): number {
  return 1 + (size % 997);
}

const START_BYTES = 65_536;

async function startOfFile(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Returns whether the file has the column names of a report. The check works in any encoding and with any delimiter. */
function isReport(start: Buffer): boolean {
  const text = start.toString('latin1').replaceAll('\0', '');
  return /import_row"?[^\w"]{1,4}"?import_status"?[^\w"]{1,4}"?import_message"?[\r\n]/.test(text);
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
