// The resources of the contract. How to create a row of each is derived from the contract, so that the tests of all operations
// also cover a new resource.
import { firstExample, isObject, type Schema } from '../../../src/contract/document.ts';
import type { Client } from '../clients/client.ts';
import { type Operation, operations } from './contract.ts';

export type Resource = {
  /** The path of the resource's list, where rows are also created. */
  readonly path: string;
  /** The name of the table, which is also the last part of the path. */
  readonly table: string;
  readonly creation: Operation;
};

export const resources: readonly Resource[] = operations
  .filter(({ method, responses }) => method === 'post' && responses[201] !== undefined)
  .map((creation) => ({ path: creation.path, table: creation.path.split('/').at(-1) ?? '', creation }));

/**
 * The paths of all lists. Some lists, such as the list of events, have no operation that creates a row. createItem() adds a row
 * to such a list by creating a row of `resources[0]`.
 */
export const lists: readonly string[] = operations
  .filter(({ method, responses }) => {
    const { data, page } = responses[200]?.content?.['application/json']?.schema.properties ?? {};
    return method === 'get' && data !== undefined && page !== undefined;
  })
  .map(({ path }) => path);

const byTable = new Map(resources.map((resource) => [resource.table, resource]));

/** Returns the resource that the operation's path belongs to, or the first resource if the path belongs to no resource. */
export function resourceOf({ path }: Pick<Operation, 'path'>): Resource {
  const own = resources.find((resource) => isUnder(path, resource.path)) ?? resources[0];
  if (own === undefined) throw new Error('The contract creates nothing.');
  return own;
}

/** Returns the path of the list that the operation's path belongs to, or otherwise the path of the first resource's list. */
export function listOf(operation: Pick<Operation, 'path'>): string {
  return lists.find((path) => isUnder(operation.path, path)) ?? resourceOf(operation).path;
}

function isUnder(path: string, list: string): boolean {
  return path === list || path.startsWith(`${list}/`);
}

export function tableOf(operation: Pick<Operation, 'path'>): string {
  return listOf(operation).split('/').at(-1) ?? '';
}

/**
 * Returns the resource that a field or parameter refers to, such as "parent_programs" for "parent_program_id", or `undefined` if
 * there is no such resource.
 */
export function referredResourceOf(name: string): Resource | undefined {
  return name.endsWith('_id') ? byTable.get(`${name.slice(0, -'_id'.length)}s`) : undefined;
}

/** Returns the fields of the operation's body that refer to rows, with the resources of these rows. */
export function referencesOf({ requestBody }: Pick<Operation, 'requestBody'>): [string, Resource][] {
  const { properties = {} } = requestBody?.content['application/json']?.schema ?? {};
  // The changes in a batch contain bodies of other operations.
  const changes: readonly Schema[] = [Object(Object(properties['changes']).items).oneOf ?? []].flat();
  const bodies = changes.map((change) => Object(Object(change.properties)['body']).properties ?? {});
  const names = [properties, ...bodies].flatMap((each) => Object.keys(each));
  return [...new Set(names)].flatMap((field): [string, Resource][] => {
    const referred = referredResourceOf(field);
    return referred === undefined ? [] : [[field, referred]];
  });
}

/**
 * Returns an object with a value of the field whose description contains "unique in your organization". Throws if there is no
 * such field. The value is the reversed example, which is probably valid, and which no row made from the examples has.
 */
export function uniqueValueOf({ path, creation }: Resource): Record<string, unknown> {
  const { properties = {} } = creation.requestBody?.content['application/json']?.schema ?? {};
  const [name, property] =
    Object.entries(properties).find(([, field]) => /\bunique in your organization\b/.test(JSON.stringify(field))) ?? [];
  if (name === undefined) throw new Error(`No field of ${path} is described as "unique in your organization".`);
  const [example] = property?.examples ?? [];
  return { [name]: typeof example === 'string' ? [...example].toReversed().join('') : example };
}

/** Ids of existing rows, by the name of the field that refers to the row. */
export type References = Readonly<Record<string, string>>;

/** Creates a row for each reference in the operation's body. */
export async function createReferences(client: Client, operation: Operation): Promise<References> {
  const created: [string, string][] = [];
  for (const [name, resource] of referencesOf(operation)) created.push([name, await createRow(client, resource)]);
  return Object.fromEntries(created);
}

/**
 * Creates a row from the first example of the contract, and returns its id. Leaves out changes of fields that the resource does
 * not have.
 */
export async function createRow(client: Client, { path, creation }: Resource, changes: object = {}): Promise<string> {
  const { schema = {}, examples = {} } = creation.requestBody?.content['application/json'] ?? {};
  const body = withReferences(firstExample(examples), await createReferences(client, creation));
  const known = Object.entries(changes).filter(([name]) => Object.hasOwn(schema.properties ?? {}, name));
  const { status, text, body: created } = await client.post(path, { ...Object(body), ...Object.fromEntries(known) });
  if (status !== 201) throw new Error(`No row of ${path} was created: ${status} ${text}`);
  return created.id;
}

/**
 * Creates a row in the operation's list, and returns the value that the operation's path needs: the id, or the client's own id.
 */
export async function createItem(client: Client, operation: Pick<Operation, 'path'>): Promise<string> {
  const [, ownId] = /\/by_(\w+)\/\{\1\}$/.exec(operation.path) ?? [];
  const value = crypto.randomUUID();
  const created = await createRow(client, resourceOf(operation), ownId === undefined ? {} : { [ownId]: value });
  if (ownId !== undefined) return value;
  const list = listOf(operation);
  if (list === resourceOf(operation).path) return created;
  const { body } = await client.get(`${list}?limit=100`);
  const added = body.data.at(-1);
  if (added === undefined) throw new Error(`A new row has added nothing to ${list}.`);
  return added.id;
}

/** Returns the body with the ids of existing rows in place of those in the example, also within the changes of a batch. */
export function withReferences(body: unknown, references: References): unknown {
  if (Array.isArray(body)) return body.map((item) => withReferences(item, references));
  if (!isObject(body)) return body;
  const members = Object.entries(body).map(([name, value]) => [
    name,
    references[name] ?? withReferences(value, references),
  ]);
  return Object.fromEntries(members);
}

/** Returns everything that the API lists for the client's organization, as text. */
export async function snapshotOf(client: Client): Promise<string> {
  const pages = await Promise.all(lists.map((path) => client.get(`${path}?limit=100`)));
  return JSON.stringify(pages.map(({ body }) => body));
}
