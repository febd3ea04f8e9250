import { v5 as nameBasedId } from 'uuid';
import {
  firstExample,
  lastExample,
  type Operation,
  type Parameter,
  successOf,
} from '../../../src/contract/document.ts';

/** A valid request of the operation. */
export type SampleRequest = {
  /** The method in upper case. */
  readonly method: string;
  /** The contract's path: "/api/parent_programs/{id}". */
  readonly template: string;
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: readonly SampleHeader[];
  /** Undefined if the operation has no body. */
  readonly body: unknown;
  readonly hasResponseBody: boolean;
  /** The response is a list page. */
  readonly isPaged: boolean;
};
/** `isFresh`: every request needs a new value. */
type SampleHeader = { readonly name: string; readonly value: string; readonly isFresh: boolean };

const IDEMPOTENCY_KEY = 'Idempotency-Key';
/** Optional parameters that every good request has. The reference explains the others. */
const RECOMMENDED = new Set(['limit', IDEMPOTENCY_KEY]);

/** Each operation has a key of its own, because a key that was sent to another operation is refused. */
function idempotencyKeyOf({ operationId }: Operation): string {
  return nameBasedId(operationId, nameBasedId.URL);
}

export function requestOf(operation: Operation): SampleRequest {
  const sent = (operation.parameters ?? []).filter(({ required, name }) => required || RECOMMENDED.has(name));
  // A deletion takes another row, which the samples of the other operations do not need afterwards.
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

/** "/api/parent_programs?limit=100", encoded. */
export function targetOf({ template, path, query }: SampleRequest): string {
  const filled = template.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

const NAME = /^[A-Za-z_$][\w$]*$/;
const WIDEST = 60;

/** A JavaScript literal, on one line if it is short. */
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

/** Joins the lines; null stands for no line. */
export function lines(...parts: readonly (string | readonly string[] | null)[]): string {
  return parts
    .flat()
    .filter((line) => line !== null)
    .join('\n');
}
