import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../src/contract/document.ts';
import { invalidField } from '../../src/domain/errors.ts';
import type { Disconnect, Match as GivenMatch, SentRequest } from './package/types.ts';

/** A response that is forced independently of the application that calls the mock. */
export type Override = {
  readonly id: number;
  /** An operationId, or "*" for every operation that has the response. */
  readonly operation: string;
  /** The status of the response; `null` if `example` alone names the response, or if the operation's usual response is sent. */
  readonly status: number | null;
  readonly example: string | null;
  /** The body that replaces the contract's example. It may be `null`, so it is omitted if there is no such body. */
  readonly body?: unknown;
  /**
   * Creates the body of the response to a request. Rejects if the contract does not allow this body. The function is omitted if
   * the body is always the same.
   */
  readonly createBody?: (request: SentRequest) => Promise<unknown>;
  /** Headers that replace the response's headers with the same names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the connection is closed without a response, before or after the request is handled; omitted if not. */
  readonly disconnect?: Disconnect;
  /** Whether the status and the body are sent in response to every request, even if the contract forbids them. */
  readonly allowInvalid?: boolean;
  /** The requests of the operation that get the response. The default is all of its requests. */
  readonly match?: Match;
  readonly delay_ms: number;
  /** The number of remaining responses; `null` if the override applies until it is removed. */
  readonly left: number | null;
};

export type NewOverride = Omit<Override, 'id'>;

export const ALL_OPERATIONS = '*';
export const MAX_OVERRIDES = 100;

/** The overrides in the order in which they were added. Editing the contract does not remove them. */
export class Overrides {
  #all: Override[] = [];
  #lastId = 0;

  get all(): readonly Override[] {
    return this.#all;
  }

  add(override: NewOverride): Override {
    this.#lastId += 1;
    const added = { id: this.#lastId, ...override };
    this.#all.push(added);
    return added;
  }

  /** Removes the override with this id; without an id, all overrides. Returns the number of removed overrides. */
  clear(id?: number): number {
    const before = this.#all.length;
    this.#all = id === undefined ? [] : this.#all.filter((override) => override.id !== id);
    return before - this.#all.length;
  }

  /** Returns whether the mock must read the body of a request to know the response. */
  dependOnBody(fits: (override: Override) => boolean): boolean {
    return this.#all.some(
      ({ match, createBody, ...override }) => (match?.body !== undefined || createBody !== undefined) && fits(override),
    );
  }

  /**
   * Returns the first override that fits the operation and matches the request, and decreases its number of remaining responses.
   * Returns `undefined` if there is no such override.
   */
  take(request: Matched, fits: (override: Override) => boolean): Override | undefined {
    const taken = this.#all.find((override) => fits(override) && isMatch(override.match, request));
    if (taken === undefined || taken.left === null) return taken;
    const rest = { ...taken, left: taken.left - 1 };
    this.#all = this.#all.flatMap((override) => (override !== taken ? [override] : rest.left > 0 ? [rest] : []));
    return rest;
  }
}

/** Returns the override as a `Prefer` header, such as `code=503, delay=500`. */
export function preferHeaderOf({ status, example, delay_ms: delay }: Override): string {
  const preferences = { code: status, example, delay: delay === 0 ? null : delay };
  return Object.entries(preferences)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
    .join(', ');
}

/** A valid match. The values of its query are strings. */
export type Match = Omit<GivenMatch, 'query'> & { readonly query?: Readonly<Record<string, string>> };

type Matched = {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON of the body. */
  readonly body: unknown;
};

function isMatch(match: Match = {}, { url, headers, body }: Matched): boolean {
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
  const parameters = new URLSearchParams(query);
  return (
    (match.path === undefined || isOfPattern(path, match.path)) &&
    Object.entries(match.query ?? {}).every(([name, value]) => parameters.getAll(name).includes(value)) &&
    Object.entries(match.header ?? {}).every(([name, value]) => String(headers[name.toLowerCase()]) === value) &&
    (match.body === undefined || contains(body, match.body))
  );
}

const FIELDS = ['path', 'query', 'header', 'body'];

/** Returns the match. Throws a 422 if the value is not a valid match. */
export function readMatch(value: unknown): Match {
  if (!isObject(value)) throw invalidField('match', 'must be an object.');
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw invalidField(`match.${unknown.slice(0, 100)}`, `is not known. Fields: ${FIELDS.join(', ')}.`);
  const { path, query, header, body } = value;
  if (path !== undefined && (typeof path !== 'string' || !path.startsWith('/')))
    throw invalidField(
      'match.path',
      'must begin with "/", such as /api/key or /api/parent_programs/*. A * stands for any characters.',
    );
  if (path?.includes('?')) throw invalidField('match.path', 'must not have a query. Put it into match.query.');
  return {
    ...(path !== undefined && { path }),
    ...(query !== undefined && { query: valuesOf(query, 'match.query') }),
    ...(header !== undefined && { header: valuesOf(header, 'match.header') }),
    ...(body !== undefined && { body }),
  };
}

/** Returns the values as strings. Throws a 422 unless the value is an object of strings, numbers and booleans. */
export function valuesOf(value: unknown, field: string): Record<string, string> {
  if (!isObject(value)) throw invalidField(field, 'must be an object of names and values.');
  const wrong = Object.entries(value).find(([, each]) => !['string', 'number', 'boolean'].includes(typeof each));
  if (wrong !== undefined) throw invalidField(`${field}.${wrong[0].slice(0, 100)}`, 'must be a string.');
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)]));
}

/**
 * Returns whether the text matches the pattern. Does not use a regular expression, which would be slow for a pattern with many
 * stars.
 */
function isOfPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let position = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position <= text.length - last.length;
}

function contains(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(value) &&
      value.length === expected.length &&
      expected.every((member, i) => contains(value[i], member))
    );
  if (isObject(expected))
    return (
      isObject(value) &&
      Object.entries(expected).every(([name, member]) => Object.hasOwn(value, name) && contains(value[name], member))
    );
  return value === expected;
}

/**
 * The bodies that the mock was given for successes. The key is the headers object of the request, because handlers get only the
 * headers, not the whole request.
 */
export class OwnBodies {
  readonly #bodies = new WeakMap<IncomingHttpHeaders, { readonly body: unknown }>();

  set(headers: IncomingHttpHeaders, body: unknown): void {
    this.#bodies.set(headers, { body });
  }

  /** Returns the body for the request; `undefined` if the request gets the usual body. */
  find(headers: IncomingHttpHeaders): { readonly body: unknown } | undefined {
    return this.#bodies.get(headers);
  }
}
