import { type FileHandle, open } from 'node:fs/promises';
import type { Row } from './csv-rows.ts';

const ADDED = ['import_row', 'import_status', 'import_message'];

export type Refusal = { readonly row: Row; readonly status: number | undefined; readonly message: string };

/**
 * A CSV file with the rows that were refused, as they were, and the reasons behind them: it can be corrected and imported. It is
 * created for the first one.
 */
export class RefusedRows {
  readonly #path: string;
  readonly #delimiter: string;
  readonly #header: readonly string[];
  #file: FileHandle | undefined;
  count = 0;

  constructor(path: string, { delimiter, header }: { delimiter: string; header: readonly string[] }) {
    this.#path = path;
    this.#delimiter = delimiter;
    this.#header = header;
  }

  async add(refusals: readonly Refusal[]): Promise<void> {
    if (refusals.length === 0) return;
    this.count += refusals.length;
    const lines = refusals.map(({ row, status, message }) =>
      this.#line(row.cells, [String(row.number), String(status ?? ''), message]),
    );
    if (this.#file === undefined) {
      this.#file = await open(this.#path, 'w');
      lines.unshift(this.#line(this.#header, ADDED));
    }
    await this.#file.write(lines.join(''));
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  /** Without the reasons of an earlier import of such a file. */
  #line(cells: readonly string[], added: readonly string[]): string {
    const own = cells.filter((_, at) => !ADDED.includes(this.#header[at] ?? ''));
    return `${[...own, ...added].map((cell) => this.#quoted(cell)).join(this.#delimiter)}\r\n`;
  }

  #quoted(cell: string): string {
    const isPlain = ![this.#delimiter, '"', '\r', '\n'].some((special) => cell.includes(special));
    return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
  }
}
