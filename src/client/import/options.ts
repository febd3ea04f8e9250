import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ChangeOf } from '../charter-client.ts';
import { requireApiKey } from '../settings.ts';
import { proxyAdvice } from './progress.ts';

/**
 * An error whose message tells the user what to do. `isMisuse` means that the command line is wrong, and nothing was read or
 * sent.
 */
export class ImportError extends Error {
  readonly isMisuse: boolean;

  constructor(message: string, { isMisuse = false }: { isMisuse?: boolean } = {}) {
    super(message);
    this.isMisuse = isMisuse;
  }
}

export const PATH = '/api/parent_programs';

export type Upsert = Extract<ChangeOf<typeof PATH>, { action: 'upsert' }>;

type Content = Omit<Upsert['body'], 'metadata'>;

/**
 * The fields that a column can fill, and whether each row needs them. The type requires exactly the fields of the contract. It
 * accepts only strings: cells would have to be converted for a field of another type.
 */
export const FIELDS: { readonly external_id: 'required' } & {
  readonly [Field in keyof Content]-?: NonNullable<Content[Field]> extends string
    ? undefined extends Content[Field]
      ? 'optional'
      : 'required'
    : never;
} = {
  external_id: 'required',
  name: 'required',
  description: 'optional',
};

export const REQUIRED_FIELDS = Object.entries(FIELDS).flatMap(([field, need]) => (need === 'required' ? [field] : []));

/** The prefix of a column name for one entry of the metadata. */
export const METADATA = 'metadata.';

export function isField(name: string): boolean {
  return Object.hasOwn(FIELDS, name) || (name.startsWith(METADATA) && name.length > METADATA.length);
}

/** The percentage of the parent programs that `--delete-missing` can delete without `--delete-at-most`. */
export const MAX_DELETED_PERCENT = 10;

export const HELP = `Usage: charter-import FILE.csv [options]

Creates a parent program for each row of a CSV file, or replaces the one with the same external_id. It is safe to repeat:
rows that have not changed change nothing.

The first row has the names of the columns. A column that has the name of a field is imported into this field:
  ${Object.keys(FIELDS).join(', ')}, ${METADATA}KEY
Columns with other names are ignored, unless --map says where they belong. A field without a column becomes empty, also
in parent programs that exist.

Rows that are refused are written into a report, in the encoding and with the delimiter of the file: correct them there,
and import the report with the same options.

  --map COLUMN=FIELD    import this column into this field; can be given several times
  --dry-run             have the server check every row, and change nothing
  --delete-missing      after the import, delete the parent programs that have an external_id and are not in the file,
                        unless a row was refused; with --dry-run, list them
  --delete-at-most N    delete nothing if more than N parent programs are missing (default: ${MAX_DELETED_PERCENT}% of those that
                        have an external_id)
  --refused FILE        where to write the rows that are refused (default: FILE.refused.csv, and FILE.refused-2.csv for
                        the rows of that report that are refused again)
  --delimiter CHARACTER what separates the cells: one character, or "tab" (default: what a first line such as "sep=;"
                        says, otherwise a comma)
  --encoding NAME       how the characters are encoded, such as windows-1252 (default: utf-8)
  --url URL             the address of Charter (default: $CHARTER_URL)
  --help                show this help

The API key is read from the environment variable CHARTER_API_KEY. It needs the permissions to read and to write.

Exit status: 0 if every row was imported, 1 if rows were refused or the import failed, 2 for a wrong command line.
`;

/** The message if the report of refused rows would overwrite the imported file while that file is being read. */
export const SAME_FILE = '--refused must not be the file itself. Name another file.';

export type Options = {
  readonly file: string;
  readonly url: string;
  readonly apiKey: string;
  /** The fields by the name of their column. */
  readonly map: ReadonlyMap<string, string>;
  readonly isDryRun: boolean;
  /** Whether to delete the parent programs that are not in the file. */
  readonly deletesMissing: boolean;
  /** The largest number of deletions; `undefined` for the default. */
  readonly deleteAtMost: number | undefined;
  readonly refused: string;
  /** The delimiter. If it is `undefined`, the first line of the file may name a delimiter. */
  readonly delimiter: string | undefined;
  readonly encoding: string;
  /** What to advise if no response arrives; see `proxyAdvice`. */
  readonly proxyAdvice: string;
};

/**
 * Returns the options. Throws an ImportError if the command line is wrong. The message never contains the value of an option or a
 * variable.
 */
export function readOptions(parameters: readonly string[], env: Readonly<NodeJS.ProcessEnv>): Options | 'help' {
  const { values, positionals } = parseParameters(parameters);
  if (values.help) return 'help';
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw misuseError('Name one CSV file.');
  if (file === '-') throw misuseError('The command does not read its standard input. Write it to a file first.');
  const url = (values.url ?? env['CHARTER_URL'])?.trim();
  if (!url) throw misuseError('Set CHARTER_URL to the address of Charter, or use --url.');
  if (!/^https?:\/\//i.test(url))
    throw misuseError(
      'The address of Charter must begin with https:// or http://, such as https://charter.example.org.',
    );
  // A variable that was filled from a file often ends with the file's line break.
  const apiKey = env['CHARTER_API_KEY']?.trim();
  if (!apiKey) throw misuseError('Set the environment variable CHARTER_API_KEY to the API key.');
  requireKey(apiKey);
  const refused = values.refused ?? reportOf(file);
  if (resolve(refused) === resolve(file)) throw misuseError(SAME_FILE);
  const delimiter = values.delimiter === 'tab' ? '\t' : values.delimiter;
  if (delimiter !== undefined && !/^[^"\r\n]$/.test(delimiter))
    throw misuseError('--delimiter must be one character, or "tab", and no quotation mark or line break.');
  return {
    ...{ file, url, apiKey, refused, delimiter },
    map: mapOf(values.map ?? []),
    isDryRun: values['dry-run'] ?? false,
    deletesMissing: values['delete-missing'] ?? false,
    deleteAtMost: readBound(values),
    encoding: readEncoding(values.encoding ?? 'utf-8'),
    proxyAdvice: proxyAdvice(url, env),
  };
}

/**
 * Returns the default path of the report. If the imported file is itself a report, the path contains the next number, because the
 * new report must not replace a file that is being read.
 */
function reportOf(file: string): string {
  const name = file.replace(/\.csv$/i, '');
  const [, start, number = 1] = /^(.+\.refused)(?:-(\d{1,9}))?$/.exec(name) ?? [];
  return start === undefined ? `${name}.refused.csv` : `${start}-${Number(number) + 1}.csv`;
}

function parseParameters(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        map: { type: 'string', multiple: true },
        'dry-run': { type: 'boolean' },
        'delete-missing': { type: 'boolean' },
        'delete-at-most': { type: 'string' },
        refused: { type: 'string' },
        delimiter: { type: 'string' },
        encoding: { type: 'string' },
        url: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    // Keeps only the first sentence of Node's message. The rest explains how to pass a file name that begins with a hyphen, which
    // is rarely the mistake.
    throw misuseError(`${String(Object(error).message).split(/\.\s|\.?$/, 1)[0]}.`);
  }
}

function requireKey(apiKey: string): void {
  try {
    requireApiKey(apiKey, 'CHARTER_API_KEY');
  } catch (error) {
    throw misuseError(String(Object(error).message));
  }
}

/**
 * Returns the fields by the name of their column. The last "=" of a pair separates the column from the field, because the name of
 * a column may contain "=".
 */
function mapOf(pairs: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=');
    const [column, field] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
    if (column === '' || field === '')
      throw misuseError('--map must be COLUMN=FIELD, such as --map "Program name=name".');
    if (map.has(column)) throw misuseError(`--map names the column "${column}" more than once.`);
    map.set(column, field);
  }
  return map;
}

function readBound(values: { 'delete-missing'?: boolean; 'delete-at-most'?: string }): number | undefined {
  const bound = values['delete-at-most'];
  if (bound === undefined) return undefined;
  if (values['delete-missing'] !== true) throw misuseError('--delete-at-most needs --delete-missing.');
  if (!/^\d{1,9}$/.test(bound)) throw misuseError('--delete-at-most must be a whole number, such as 50.');
  return Number(bound);
}

function readEncoding(encoding: string): string {
  try {
    return new TextDecoder(encoding).encoding;
  } catch {
    throw misuseError('--encoding is not the name of an encoding, such as utf-8, utf-16le or windows-1252.');
  }
}

function misuseError(message: string): ImportError {
  return new ImportError(`${message} To see all options: charter-import --help`, { isMisuse: true });
}
