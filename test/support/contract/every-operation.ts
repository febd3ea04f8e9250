// Makes a valid request for any operation from the contract's own examples, so that tests of all operations also cover a new
// operation.
import { firstExample, successesOf } from '../../../src/contract/document.ts';
import type { Client, Reply, Sending } from '../clients/client.ts';
import { createTestOrganization, type TestOrganization, type TestServer } from '../servers/server.ts';
import type { Operation } from './contract.ts';
import { createItem, createReferences, createRow, type References, resourceOf, withReferences } from './resources.ts';

export { successOf } from '../../../src/contract/document.ts';

export type ValidRequest = { method: string; url: string; body: unknown; headers: Record<string, string> };

/**
 * Returns a request with `id` in the path, `references` in the body, and the contract's examples for all other required values.
 */
export function requestFor(
  operation: Operation,
  { id, references = {} }: { id: string; references?: References },
): ValidRequest {
  const required = (operation.parameters ?? []).filter((parameter) => parameter.required === true);
  const valuesIn = (location: string) =>
    required
      .filter((parameter) => parameter.in === location)
      .map(({ name, examples }): [string, string] => [name, String(firstExample(examples))]);
  const path = operation.path.replace(/\{[^}]+\}/, () => id);
  const query = String(new URLSearchParams(valuesIn('query')));
  const examples = operation.requestBody?.content['application/json']?.examples;
  return {
    method: operation.method.toUpperCase(),
    url: query === '' ? path : `${path}?${query}`,
    body: examples === undefined ? undefined : withReferences(firstExample(examples), references),
    headers: Object.fromEntries(valuesIn('header')),
  };
}

export function maxBodyBytesOf({ requestBody }: Operation): number {
  return requestBody?.['x-max-bytes'] ?? 100 * 1024;
}

/** Returns the status of a valid request that names a row that does not exist. */
export function statusOfUnknown(operation: Operation): number {
  return operation.responses[404] === undefined ? Math.max(...successesOf(operation)) : 404;
}

export function sendTo(
  client: Client,
  request: ValidRequest,
  changes: Partial<Omit<ValidRequest, 'headers'>> & Sending = {},
): Promise<Reply> {
  const { method, url, body, headers, ...rest } = { ...request, ...changes };
  return client.send(method, url, {
    ...rest,
    ...(body !== undefined && { body }),
    headers: { ...request.headers, ...headers },
  });
}

export type Prepared = {
  readonly ours: TestOrganization;
  readonly client: Client;
  readonly request: ValidRequest;
  readonly references: References;
};

/** Creates an organization and a valid request that the organization may send. */
export async function prepare(
  server: TestServer,
  operation: Operation,
  options?: Parameters<typeof createTestOrganization>[1],
): Promise<Prepared> {
  return prepareFor(await createTestOrganization(server, options), operation);
}

/** Creates the rows that a valid request needs, and returns the request. */
export async function prepareFor(ours: TestOrganization, operation: Operation): Promise<Prepared> {
  const { client } = ours;
  const [id, references] = [await createItem(client, operation), await createReferences(client, operation)];
  return { ours, client, request: requestFor(operation, { id, references }), references };
}

export async function createProgram({ client }: TestOrganization, name = 'Nordic Scholars'): Promise<string> {
  return createRow(client, programs, { name });
}

const programs = resourceOf({ path: '/api/parent_programs' });

export function withQuery(url: string, parameter: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${parameter}`;
}
