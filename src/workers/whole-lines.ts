/**
 * Passes on what arrives in pieces, but only whole lines: processes that write to one pipe at the same time would otherwise
 * tear each other's lines.
 */
export class WholeLines {
  readonly #write: (lines: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(write: (lines: Buffer) => void) {
    this.#write = write;
  }

  push(piece: Buffer): void {
    const end = piece.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest = Buffer.concat([this.#rest, piece]);
      return;
    }
    this.#write(Buffer.concat([this.#rest, piece.subarray(0, end)]));
    this.#rest = piece.subarray(end);
  }

  /** Passes on a last line without an end. A killed process may leave one. */
  end(): void {
    if (this.#rest.length > 0) this.#write(Buffer.concat([this.#rest, Buffer.from('\n')]));
    this.#rest = Buffer.alloc(0);
  }
}
