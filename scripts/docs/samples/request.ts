import { firstExample, type Operation, type Parameter, successOf } from '../../../src/api/document.ts';

/** A valid request of the operation. */
export type SampleRequest = {
  /** In upper case. */
  readonly method: string;
  /** As the contract has it: "/api/parent_programs/{id}". */
  readonly template: string;
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: readonly SampleHeader[];
  /** Undefined where the operation takes none. */
  readonly body: unknown;
  readonly hasResponseBody: boolean;
  /** Its answer is one page of several. */
  readonly isPaged: boolean;
};
/** `isFresh`: every request needs another value. */
export type SampleHeader = { readonly name: string; readonly value: string; readonly isFresh: boolean };

/** Optional, and yet in every good call; what else is optional filters, guards or pages, and stands in the reference. */
const RECOMMENDED = new Set(['limit', 'Idempotency-Key']);

export function requestOf(operation: Operation): SampleRequest {
  const sent = (operation.parameters ?? []).filter(({ required, name }) => required || RECOMMENDED.has(name));
  const given = (location: Parameter['in']) =>
    sent
      .filter((parameter) => parameter.in === location)
      .map(({ name, examples }) => [name, firstExample(examples)] as const);
  const body = operation.requestBody?.content['application/json'];
  return {
    method: operation.method.toUpperCase(),
    template: operation.path,
    path: Object.fromEntries(given('path')),
    query: Object.fromEntries(given('query')),
    headers: given('header').map(([name, value]) => ({
      name,
      value: String(value),
      isFresh: name === 'Idempotency-Key',
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
