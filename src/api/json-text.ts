import { stringifyJson } from '../domain/json.ts';

/** JSON that is already serialized, such as PostgreSQL's. Encoding it in pieces takes half the time of the joined text. */
export class JsonText {
  // A private member makes the class nominal, so no other object is accepted in its place.
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
  return value instanceof JsonText ? value.encode() : Buffer.from(stringifyJson(value));
}
