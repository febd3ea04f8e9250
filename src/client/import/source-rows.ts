import { type Columns, type Upsert, upsertOf } from './columns.ts';
import type { Row } from './csv-rows.ts';
import type { RefusedRows } from './refused-rows.ts';

export type SourceOptions = {
  readonly columns: Columns;
  /** The number of cells that each row must have. */
  readonly width: number;
  readonly refused: RefusedRows;
};

/** The rows of the file as changes. Rows that cannot be one are refused. */
export class SourceRows {
  readonly #rows: AsyncIterable<Row>;
  readonly #options: SourceOptions;
  readonly #rowOf = new WeakMap<object, Row>();
  share: number | undefined;

  constructor(rows: AsyncIterable<Row>, options: SourceOptions) {
    this.#rows = rows;
    this.#options = options;
  }

  async *changes(): AsyncGenerator<Upsert, void, void> {
    const { columns, width, refused } = this.#options;
    for await (const row of this.#rows) {
      this.share = row.share;
      if (row.cells.length === width) {
        const change = upsertOf(row.cells, columns);
        this.#rowOf.set(change, row);
        yield change;
      } else {
        const message = `The row has ${row.cells.length} cells instead of ${width}.`;
        await refused.add([{ row, status: undefined, message }]);
      }
    }
  }

  rowOf(change: object): Row {
    const row = this.#rowOf.get(change);
    if (row === undefined) throw new Error('The change is not of this file.');
    return row;
  }
}
