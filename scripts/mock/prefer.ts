import { clip } from '../../src/api/clip.ts';
import type { Operation } from '../../src/api/document.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { examplesOf, statusesOf, successOf } from './declared-responses.ts';
import { type Preferences, readPreferences } from './preferences.ts';

/** The response that a `Prefer` header (RFC 7240) names; `example` undefined: the one that fits best. */
export type Preference = { readonly status: number; readonly example: string | undefined };

/** The contract's maximum of messages for one field. */
const MAX_MESSAGES = 10;
/** Of the client's own text in a message. */
const MAX_QUOTED_CHARACTERS = 60;

/**
 * Reads a header such as `Prefer: code=422, example=limit`; undefined: it names no response. An example alone means the
 * success that has it, else the first status that has it. Throws a 422 that lists what the operation has.
 */
export function preferenceOf(header: string | string[] | undefined, operation: Operation): Preference | undefined {
  return responseOf(readPreferences(header), operation);
}

/** `code` and `example` as a `Prefer` header names them. Throws a 422 for a response that the operation does not have. */
export function responseOf(
  { code, example }: Pick<Preferences, 'code' | 'example'>,
  operation: Operation,
): Preference | undefined {
  if (code !== undefined && !statusesOf(operation).includes(Number(code))) throw unknownStatus(code, operation);
  if (example === undefined) return code === undefined ? undefined : { status: Number(code), example };
  const status = statusesToSearch(code, operation).find((each) =>
    examplesOf(operation, each).some(([name]) => name === example),
  );
  if (status === undefined) throw unknownExample(example, code, operation);
  return { status, example };
}

function statusesToSearch(code: string | undefined, operation: Operation): number[] {
  return code === undefined ? [successOf(operation), ...statusesOf(operation)] : [Number(code)];
}

function unknownStatus(code: string, operation: Operation): DomainError {
  const problem = `asks for the status ${clip(code, MAX_QUOTED_CHARACTERS)}, which ${operation.operationId} does not have.`;
  const message = `${problem} It has: ${statusesOf(operation).join(', ')}.`;
  return new DomainError('invalid', `Prefer ${message}`, { Prefer: [message] });
}

function unknownExample(example: string, code: string | undefined, operation: Operation): DomainError {
  const statuses = code === undefined ? statusesOf(operation) : [Number(code)];
  const available = statuses.flatMap((status) => {
    const names = examplesOf(operation, status).map(([name]) => name);
    return names.length === 0 ? [] : [`with ${status}: ${names.join(', ')}`];
  });
  const where = code === undefined ? '' : ` with the status ${code}`;
  const quoted = clip(example, MAX_QUOTED_CHARACTERS);
  const message = `asks for the example ${quoted}, which ${operation.operationId} does not have${where}.`;
  const lines =
    available.length === 0 ? ['It has none.'] : joined(available, MAX_MESSAGES - 1).map((line) => `It has ${line}.`);
  return new DomainError('invalid', `Prefer ${message} ${lines[0]}`, { Prefer: [message, ...lines] });
}

/** Joins neighbours until at most `maxLines` are left. */
function joined(texts: readonly string[], maxLines: number): string[] {
  const size = Math.ceil(texts.length / maxLines);
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, i) =>
    texts.slice(i * size, (i + 1) * size).join('; '),
  );
}
