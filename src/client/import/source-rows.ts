import { createHash } from 'node:crypto';
import { type Columns, type Upsert, upsertOf } from './columns.ts';
import type { Row } from './csv-rows.ts';
import { type Layout, layoutOf, type RefusedRows } from './refused-rows.ts';

export type SourceOptions = {
  readonly columns: Columns;
  readonly header: readonly string[];
  readonly delimiter: string;
  readonly refused: Pick<RefusedRows, 'add'>;
};

/** The rows of the file as changes. Rows that cannot be one are refused. */
export class SourceRows {
  readonly #rows: AsyncIterable<Row>;
  readonly #options: SourceOptions;
  readonly #layout: Layout;
  readonly #rowOf = new WeakMap<object, Row>();
  /** The first row of each ID, with a digest of its values. */
  readonly #firstOf = new Map<string, { readonly number: number; readonly digest: string }>();
  share: number | undefined;
  /** The rows whose ID begins or ends with a blank, and the first of them. */
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

  rowOf(change: object): Row {
    const row = this.#rowOf.get(change);
    if (row === undefined) throw new Error('The change is not of this file.');
    return row;
  }

  /** Why the cells may be those of other columns. */
  #miscount({ cells }: Row): string | null {
    const { header, delimiter } = this.#options;
    const { own, message, width } = this.#layout;
    if (cells.length < width)
      return `The row has ${counted(cells.length)} instead of ${width}. Put each value into its column. If the last cells are empty: empty this cell.`;
    const rest = cells.slice(width);
    if (cells.length > header.length || rest.some((cell) => cell.trim() !== ''))
      return `The row has ${counted(cells.length)} instead of ${width}. Put each value into its column and empty this cell. After the last column: ${rest.join(delimiter)}`.trimEnd();
    // A spreadsheet fills up such a row, and keeps the reason for which it was refused.
    const reason = message === undefined ? '' : (cells[message] ?? '');
    const [, had, needed] = /^The row has (\d+) cells? instead of (\d+)\./.exec(reason) ?? [];
    if (had === undefined) return null;
    const isFilled = Number(had) < Number(needed) && own.some((at) => at >= Number(had) && (cells[at] ?? '') !== '');
    return isFilled ? null : reason;
  }

  /** Two rows with the same ID and other values: the file does not tell which one is right. */
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

function counted(cells: number): string {
  return `${cells} ${cells === 1 ? 'cell' : 'cells'}`;
}
