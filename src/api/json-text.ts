/** JSON that is written already, by PostgreSQL for one. In pieces: encoded apart, they take half the time of the whole. */
export class JsonText {
  // A private member makes the class nominal: no object of the contract passes for one.
  readonly #pieces: readonly string[];

  constructor(...pieces: readonly string[]) {
    this.#pieces = pieces;
  }

  /** UTF-8. */
  encode(): Buffer {
    return Buffer.concat(this.#pieces.map((piece) => Buffer.from(piece)));
  }
}

/** UTF-8. */
export function encodeJson(value: unknown): Buffer {
  return value instanceof JsonText ? value.encode() : Buffer.from(JSON.stringify(value));
}
