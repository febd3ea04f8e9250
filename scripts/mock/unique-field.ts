import type { Json, Operation } from '../../src/contract/document.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { exampleMessageOf } from './declared-responses.ts';

/** A field and its value, as the message of a conflict quotes them: `external_id "sis-20417"`. */
const QUOTED = /(\w+) ("(?:[^"\\]|\\.)*")/;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The contract's 409 for a value that another item has. */
export class TakenError extends DomainError {
  readonly field: string;
  readonly value: unknown;
  readonly holderId: unknown;

  constructor(message: string, { field, value, holderId }: { field: string; value: unknown; holderId: unknown }) {
    super('conflict', message);
    this.field = field;
    this.value = value;
    this.holderId = holderId;
  }
}

/** The field whose values must differ, which the contract names in its example of a 409. */
export class UniqueField {
  readonly name: string;
  readonly #quoted: string;
  readonly #message: string;

  private constructor(name: string, quoted: string, message: string) {
    this.name = name;
    this.#quoted = quoted;
    this.#message = message;
  }

  /** `undefined` if the operation has none. */
  static of(operation: Operation): UniqueField | undefined {
    const message = exampleMessageOf(operation, 409) ?? '';
    const [, name, quoted] = QUOTED.exec(message) ?? [];
    return name === undefined || quoted === undefined ? undefined : new UniqueField(name, quoted, message);
  }

  /** Throws a TakenError where another item has the same value; null is not a value. */
  refuseTaken(item: Json, items: readonly Json[]): void {
    const value = item[this.name];
    if (value === null || value === undefined) return;
    const holder = items.find((other) => other[this.name] === value && other['id'] !== item['id']);
    if (holder === undefined) return;
    const message = this.#message
      .replace(UUID, () => String(holder['id']))
      .replace(this.#quoted, () => JSON.stringify(value));
    throw new TakenError(message, { field: this.name, value, holderId: holder['id'] });
  }
}
