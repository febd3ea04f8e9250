import { v5 as nameBasedId } from 'uuid';
import {
  firstExample,
  lastExample,
  type Operation,
  type Parameter,
  successOf,
} from '../../../src/contract/document.ts';

/** A valid request of an operation. */
export type SampleRequest = {
  /** The method in upper case. */
  readonly method: string;
  /** The path in the contract, such as "/api/parent_programs/{id}". */
  readonly template: string;
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: readonly SampleHeader[];
  /** The body; `undefined` if the operation has no body. */
  readonly body: unknown;
  readonly hasResponseBody: boolean;
  /** Whether the response is a page of a list. */
  readonly isPaged: boolean;
};
/** A header of the request. `isFresh` means that every request needs a new value. */
type SampleHeader = { readonly name: string; readonly value: string; readonly isFresh: boolean };

const IDEMPOTENCY_KEY = 'Idempotency-Key';
/** Optional parameters that every sample sends. The samples leave out all other optional parameters. */
const RECOMMENDED = new Set(['limit', IDEMPOTENCY_KEY]);

/** Returns a different key for each operation, because the API refuses a key that was sent to another operation. */
function idempotencyKeyOf({ operationId }: Operation): string {
  return nameBasedId(operationId, nameBasedId.URL);
}

export function requestOf(operation: Operation): SampleRequest {
  const sent = (operation.parameters ?? []).filter(({ required, name }) => required || RECOMMENDED.has(name));
  // A deletion uses the last example of each parameter, and therefore another row, because the samples of other operations still
  // need the first row.
  const exampleOf = operation.method === 'delete' ? lastExample : firstExample;
  const parametersIn = (location: Parameter['in']) =>
    sent
      .filter((parameter) => parameter.in === location)
      .map(({ name, examples }) => [name, exampleOf(examples)] as const);
  const body = operation.requestBody?.content['application/json'];
  return {
    method: operation.method.toUpperCase(),
    template: operation.path,
    path: Object.fromEntries(parametersIn('path')),
    query: Object.fromEntries(parametersIn('query')),
    headers: parametersIn('header').map(([name, value]) => ({
      name,
      value: name === IDEMPOTENCY_KEY ? idempotencyKeyOf(operation) : String(value),
      isFresh: name === IDEMPOTENCY_KEY,
    })),
    body: body === undefined ? undefined : firstExample(body.examples),
    hasResponseBody: operation.responses[successOf(operation)]?.content !== undefined,
    isPaged: (operation.parameters ?? []).some(({ name }) => name === 'cursor'),
  };
}

/** Returns the path and the query, percent-encoded, such as "/api/parent_programs?limit=100". */
export function targetOf({ template, path, query }: SampleRequest): string {
  const filled = template.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

const NAME = /^[A-Za-z_$][\w$]*$/;
const WIDEST = 60;

/** Returns a JavaScript literal, on one line if it is short. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const within = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => literal(item, within))
    : Object.entries(value).map(
        ([name, member]) => `${NAME.test(name) ? name : literal(name)}: ${literal(member, within)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }'];
  const short = `${open}${members.join(', ')}${close}`;
  if (members.length === 0) return short.replaceAll(' ', '');
  if (short.length + indent.length <= WIDEST && !short.includes('\n')) return short;
  return `${open.trim()}\n${members.map((member) => `${within}${member},\n`).join('')}${indent}${close.trim()}`;
}

export function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** Joins the lines. Leaves out lines that are `null`. */
export function lines(...parts: readonly (string | readonly string[] | null)[]): string {
  return parts
    .flat()
    .filter((line) => line !== null)
    .join('\n');
}
