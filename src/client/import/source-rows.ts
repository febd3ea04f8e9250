import { createHash } from 'node:crypto';
import type { Row } from './csv.ts';
import { FIELDS, ImportError, isField, METADATA, REQUIRED_FIELDS, type Upsert } from './options.ts';
import { type Layout, layoutOf, type RefusedRows } from './refused-rows.ts';

export type SourceOptions = {
  readonly columns: Columns;
  readonly header: readonly string[];
  readonly delimiter: string;
  readonly refused: Pick<RefusedRows, 'add'>;
};

/** Turns the rows of the file into changes. Refuses a row if that is not possible. */
export class SourceRows {
  readonly #rows: AsyncIterable<Row>;
  readonly #options: SourceOptions;
  readonly #layout: Layout;
  readonly #rowOf = new WeakMap<object, Row>();
  /** The first row with each ID: its number, and a digest of its values. */
  readonly #firstOf = new Map<string, { readonly number: number; readonly digest: string }>();
  share: number | undefined;
  /** The number of rows whose ID begins or ends with a space, and the number of the first such row. */
  readonly blanks = { count: 0, first: 0 };

  constructor(rows: AsyncIterable<Row>, options: SourceOptions) {
    this.#rows = rows;
    this.#options = options;
    this.#layout = layoutOf(options.header);
  }

  async *changes(): AsyncGenerator<Upsert, void, void> {
    for await (const row of this.#rows) {
      this.share = row.share;
      const change = upsertOf(row.cells, this.#options.columns);
      const message = this.#miscount(row) ?? this.#repetition(change, row);
      if (message === null) {
        this.#rowOf.set(change, row);
        this.#lookForBlanks(change, row);
        yield change;
      } else await this.#options.refused.add([{ row, status: undefined, message }]);
    }
  }

  /** Returns whether the file contains this ID. All rows must have been read. */
  has(externalId: string): boolean {
    return this.#firstOf.has(externalId);
  }

  rowOf(change: object): Row {
    const row = this.#rowOf.get(change);
    if (row === undefined) throw new Error('The change is not of this file.');
    return row;
  }

  /** Returns why cells may be in the wrong columns, or `null` if the row has the right number of cells. */
  #miscount({ cells }: Row): string | null {
    const { header, delimiter } = this.#options;
    const { own, message, width } = this.#layout;
    if (cells.length < width)
      return `The row has ${formatCells(cells.length)} instead of ${width}. Put each value into its column. If the last cells are empty: empty this cell.`;
    const rest = cells.slice(width);
    if (cells.length > header.length || rest.some((cell) => cell.trim() !== ''))
      return `The row has ${formatCells(cells.length)} instead of ${width}. Put each value into its column and empty this cell. After the last column: ${rest.join(delimiter)}`.trimEnd();
    // The earlier report refused the row because of missing cells. A spreadsheet may have added empty cells since, but the reason
    // is still in the row.
    const reason = message === undefined ? '' : (cells[message] ?? '');
    const [, had, needed] = /^The row has (\d+) cells? instead of (\d+)\./.exec(reason) ?? [];
    if (had === undefined) return null;
    const isFilled = Number(had) < Number(needed) && own.some((at) => at >= Number(had) && (cells[at] ?? '') !== '');
    return isFilled ? null : reason;
  }

  /**
   * Returns why the row is refused if an earlier row has the same ID but other values. The file does not show which row is right.
   */
  #repetition({ external_id: id, body }: Upsert, { number, cells }: Row): string | null {
    const { message } = this.#layout;
    if (id === '') return null;
    const start = `The external_id ${JSON.stringify(id)} is also in row `;
    const reason = message === undefined ? '' : (cells[message] ?? '');
    if (reason.startsWith(start)) return reason;
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64');
    const first = this.#firstOf.get(id);
    if (first === undefined) this.#firstOf.set(id, { number, digest });
    return first === undefined || first.digest === digest
      ? null
      : `${start}${first.number}, with other values. Correct it, or delete the row. To replace the values of row ${first.number}, empty this cell.`;
  }

  #lookForBlanks({ external_id: id }: Upsert, { number }: Row): void {
    if (!/^[\s\p{C}]|[\s\p{C}]$/u.test(id)) return;
    if (this.blanks.count === 0) this.blanks.first = number;
    this.blanks.count += 1;
  }
}

function formatCells(cells: number): string {
  return `${cells} ${cells === 1 ? 'cell' : 'cells'}`;
}

export type Columns = {
  /** The fields by the index of their column. */
  readonly fields: ReadonlyMap<number, string>;
  /** The columns that fill no field, in words for the user; empty if there are none. */
  readonly ignored: string;
  /** The fields for which the file has no column. */
  readonly missing: readonly string[];
};

/**
 * Returns the columns of the file. Throws an ImportError if a column in the map does not exist, or if a required field has no
 * column.
 */
export function columnsOf(header: readonly string[], map: ReadonlyMap<string, string>): Columns {
  const names = header.map((name) => name.trim());
  const listed = `The columns of the file: ${listOf(names)}.`;
  if (names.some((name) => name.includes('\0')))
    throw new ImportError('The first row has NUL characters. Is it UTF-16? Use --encoding utf-16le or utf-16be.');
  const unknown = [...map.keys()].find((column) => !names.includes(column));
  if (unknown !== undefined)
    throw new ImportError(
      `--map names the column "${unknown}", which does not exist. ${delimiterAdvice(names) ?? ''}${listed}`,
    );
  const mapped = new Set(map.values());
  const fields = new Map<number, string>();
  for (const [at, name] of names.entries()) {
    const field = map.get(name) ?? (mapped.has(name) ? undefined : name);
    if (field === undefined || (!isField(field) && !map.has(name))) continue;
    if (!isField(field)) throw new ImportError(`--map names the field "${field}". ${ALLOWED}`);
    if ([...fields.values()].includes(field)) throw new ImportError(`Several columns are for the field "${field}".`);
    fields.set(at, field);
  }
  const found = [...fields.values()];
  const ignored = names.filter((_, at) => !fields.has(at));
  const missing = Object.keys(FIELDS).filter((field) => !found.includes(field));
  for (const field of REQUIRED_FIELDS) {
    if (found.includes(field)) continue;
    const similar = ignored.find((name) => isSimilar(name, field));
    const remedy =
      similar === undefined
        ? `Name one with --map "COLUMN=${field}", or the right --delimiter. `
        : `Did you mean --map "${similar}=${field}"? `;
    throw new ImportError(`No column is for the field "${field}". ${delimiterAdvice(names) ?? remedy}${listed}`);
  }
  return {
    fields,
    ignored: listOf(ignored, (name) => {
      const meant = metadataFieldOf(name) ?? missing.find((field) => isSimilar(name, field));
      return meant === undefined || found.includes(meant) ? name : `${name} (did you mean ${meant}?)`;
    }),
    missing: found.some((field) => field.startsWith(METADATA)) ? missing : [...missing, 'metadata'],
  };
}

function delimiterAdvice(names: readonly string[]): string | undefined {
  const [found] = names.length === 1 ? (/[,;\t|]/.exec(names[0] ?? '') ?? []) : [];
  return found && `Did you mean --delimiter ${found === '\t' ? 'tab' : `"${found}"`}? `;
}

/** Returns the names as a list in words. Cells without a name, which spreadsheets add after the last column, are only counted. */
function listOf(names: readonly string[], describe = (name: string) => name): string {
  const named = names.filter((name) => name !== '');
  const unnamed = names.length - named.length;
  return [...named.map(describe), ...(unnamed === 0 ? [] : [`${unnamed} without a name`])].join(', ');
}

/** Returns the metadata field that a name such as "Metadata region" probably means. */
function metadataFieldOf(name: string): string | undefined {
  const [, key] = /^metadata[\W_]+(.+)$/is.exec(name) ?? [];
  return key && `${METADATA}${key}`;
}

const ALLOWED = `A field is ${Object.keys(FIELDS).join(', ')}, or ${METADATA}KEY with a key of your own.`;

/** Returns the change for a row. If a cell is empty, its field gets no value. */
function upsertOf(cells: readonly string[], { fields }: Pick<Columns, 'fields'>): Upsert {
  const entries = [...fields].map(([at, field]): [string, string] => [field, cells[at] ?? '']);
  const filled = entries.filter(([field, cell]) => cell !== '' || REQUIRED_FIELDS.includes(field));
  const isMetadata = ([field]: [string, string]) => field.startsWith(METADATA);
  const { external_id: externalId = '', ...content } = Object.fromEntries(filled.filter((each) => !isMetadata(each)));
  const metadata = Object.fromEntries(
    filled.filter(isMetadata).map(([field, cell]) => [field.slice(METADATA.length), cell]),
  );
  // The assertion is safe: columnsOf requires a column for each required field, and all these fields are strings.
  return { action: 'upsert', external_id: externalId, body: { ...content, metadata } as Upsert['body'] };
}

/** Returns whether a name is probably a variant of the other: with another case, other separators or a typing mistake. */
function isSimilar(name: string, other: string): boolean {
  const [written, meant] = [lettersOf(name), lettersOf(other)];
  return distance(written, meant) <= meant.length / 4;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_.-]/g, '');
}

/** Returns the Levenshtein distance: the number of characters to insert, delete or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const replaced = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
