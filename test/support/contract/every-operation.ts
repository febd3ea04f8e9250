// Builds a valid request for any operation from the contract's own examples, so that tests of all operations cover a
// new one without a change.
import { firstExample, successesOf } from '../../../src/contract/document.ts';
import type { Client, Reply, Sending } from '../clients/client.ts';
import { createTestOrganization, type TestOrganization, type TestServer } from '../servers/server.ts';
import type { Operation } from './contract.ts';
import { createItem, createReferences, createRow, type References, resourceOf, withReferences } from './resources.ts';

export { successOf } from '../../../src/contract/document.ts';

export type ValidRequest = { method: string; url: string; body: unknown; headers: Record<string, string> };

/** The path with `id` as its parameter, the ids of `references`, and the contract's examples for every other required value. */
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

/** The largest body that the operation reads. */
export function maxBodyBytesOf({ requestBody }: Operation): number {
  return requestBody?.['x-max-bytes'] ?? 100 * 1024;
}

/** The status of a valid request for something that does not exist. */
export function statusOfUnknown(operation: Operation): number {
  return operation.responses[404] === undefined ? Math.max(...successesOf(operation)) : 404;
}

/** Sends the request with some parts replaced. */
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

/** A valid request, and an organization that may send it. */
export async function prepare(
  server: TestServer,
  operation: Operation,
  options?: Parameters<typeof createTestOrganization>[1],
): Promise<Prepared> {
  return prepareFor(await createTestOrganization(server, options), operation);
}

/** A valid request of the organization. */
export async function prepareFor(ours: TestOrganization, operation: Operation): Promise<Prepared> {
  const { client } = ours;
  const [id, references] = [await createItem(client, operation), await createReferences(client, operation)];
  return { ours, client, request: requestFor(operation, { id, references }), references };
}

/** The id of a new parent program. */
export async function createProgram({ client }: TestOrganization, name = 'Nordic Scholars'): Promise<string> {
  return createRow(client, programs, { name });
}

const programs = resourceOf({ path: '/api/parent_programs' });

/** The same request with one more parameter. */
export function withQuery(url: string, parameter: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${parameter}`;
}

/** The permissions of which the contract requires one; empty if it requires none. */
export function permissionsOf({ security }: Operation): readonly string[] {
  return security.flatMap((alternative) => Object.values(alternative)).flat();
}
