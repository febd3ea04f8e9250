import { clip } from '../../src/api/exceptions.ts';
import type { Operation } from '../../src/contract/document.ts';
import { DomainError, invalidField } from '../../src/domain/errors.ts';
import { examplesOf, statusesOf, successOf } from './declared-responses.ts';
import { type Preferences, readPreferences } from './preferences.ts';

/** The response that a `Prefer` header (RFC 7240) names; `example` undefined: the one that fits best. */
export type Preference = { readonly status: number; readonly example: string | undefined };

/** The contract's maximum of messages for one field. */
const MAX_MESSAGES = 10;
/** The characters of the client's own text in a message. */
const MAX_QUOTED_CHARACTERS = 60;

/**
 * Reads a header such as `Prefer: code=422, example=limit`; `undefined` if it names no response. An example alone means the
 * success that has it, else the first status that has it. Throws a 422 that lists what the operation has.
 */
export function preferenceOf(header: string | string[] | undefined, operation: Operation): Preference | undefined {
  return responseOf(readPreferences(header), operation);
}

export type Choice = Pick<Preferences, 'code' | 'example'>;

/** How a refusal begins: with the field that names the status or the example, and the words before its value. */
export type ChoiceWords = Readonly<Record<keyof Choice, readonly [field: string, words: string]>> & {
  /** Lists the examples in one message, which may be longer than the contract allows. */
  readonly isOneMessage: boolean;
};

const OF_HEADER: ChoiceWords = {
  code: ['Prefer', 'asks for the status'],
  example: ['Prefer', 'asks for the example'],
  isOneMessage: false,
};

/** `code` and `example` as a `Prefer` header names them. Throws a 422 for a response that the operation does not have. */
export function responseOf(
  choice: Choice,
  operation: Operation,
  words: ChoiceWords = OF_HEADER,
): Preference | undefined {
  const { code, example } = choice;
  if (code !== undefined && !statusesOf(operation).includes(Number(code))) throw unknownStatus(code, operation, words);
  if (example === undefined) return code === undefined ? undefined : { status: Number(code), example };
  const status = statusesToSearch(code, operation).find((each) =>
    examplesOf(operation, each).some(([name]) => name === example),
  );
  if (status === undefined) throw unknownExample({ code, example }, operation, words);
  return { status, example };
}

function statusesToSearch(code: string | undefined, operation: Operation): number[] {
  return code === undefined ? [successOf(operation), ...statusesOf(operation)] : [Number(code)];
}

function unknownStatus(code: string, operation: Operation, { code: [field, words] }: ChoiceWords): DomainError {
  const problem = `${words} ${clip(code, MAX_QUOTED_CHARACTERS)}, which ${operation.operationId} does not have.`;
  return invalidField(field, `${problem} It has: ${statusesOf(operation).join(', ')}.`);
}

function unknownExample(
  { code, example }: { readonly code: string | undefined; readonly example: string },
  operation: Operation,
  { example: [field, words], isOneMessage }: ChoiceWords,
): DomainError {
  const statuses = code === undefined ? statusesOf(operation) : [Number(code)];
  const available = statuses.flatMap((status) => {
    const names = examplesOf(operation, status).map(([name]) => name);
    return names.length === 0 ? [] : [`with ${status}: ${names.join(', ')}`];
  });
  const where = code === undefined ? '' : ` with the status ${code}`;
  const quoted = clip(example, MAX_QUOTED_CHARACTERS);
  const message = `${words} ${quoted}, which ${operation.operationId} does not have${where}.`;
  if (available.length === 0) return invalidField(field, `${message} It has none.`);
  if (isOneMessage) return invalidField(field, `${message} It has ${available.join('; ')}.`);
  const lines = joined(available, MAX_MESSAGES - 1).map((line) => `It has ${line}.`);
  return new DomainError('invalid', `${field} ${message} ${lines[0]}`, { [field]: [message, ...lines] });
}

/** Joins neighbours until at most `maxLines` are left. */
function joined(texts: readonly string[], maxLines: number): string[] {
  const size = Math.ceil(texts.length / maxLines);
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, i) =>
    texts.slice(i * size, (i + 1) * size).join('; '),
  );
}
