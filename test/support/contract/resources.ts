// The resources of the contract: how a row of each is created is derived from the document, so that the tests of all operations
// cover a new resource without a change.
import { firstExample, isObject, type Schema } from '../../../src/contract/document.ts';
import type { Client } from '../clients/client.ts';
import { type Operation, operations } from './contract.ts';

export type Resource = {
  /** The path of its list, on which rows are created. */
  readonly path: string;
  /** The name of the path and of the table. */
  readonly table: string;
  readonly creation: Operation;
};

export const resources: readonly Resource[] = operations
  .filter(({ method, responses }) => method === 'post' && responses[201] !== undefined)
  .map((creation) => ({ path: creation.path, table: creation.path.split('/').at(-1) ?? '', creation }));

/** The paths of all lists. Rows of a list without a creation are written by changes of the first resource, such as events. */
export const lists: readonly string[] = operations
  .filter(({ method, responses }) => {
    const { data, page } = responses[200]?.content?.['application/json']?.schema.properties ?? {};
    return method === 'get' && data !== undefined && page !== undefined;
  })
  .map(({ path }) => path);

const byTable = new Map(resources.map((resource) => [resource.table, resource]));

/** The resource of the operation's path; the first one if the path has none. */
export function resourceOf({ path }: Pick<Operation, 'path'>): Resource {
  const own = resources.find((resource) => isUnder(path, resource.path)) ?? resources[0];
  if (own === undefined) throw new Error('The contract creates nothing.');
  return own;
}

/** The list of the operation's path; that of the first resource if the path has none. */
export function listOf(operation: Pick<Operation, 'path'>): string {
  return lists.find((path) => isUnder(operation.path, path)) ?? resourceOf(operation).path;
}

function isUnder(path: string, list: string): boolean {
  return path === list || path.startsWith(`${list}/`);
}

/** The table behind the list of the operation's path. */
export function tableOf(operation: Pick<Operation, 'path'>): string {
  return listOf(operation).split('/').at(-1) ?? '';
}

/** A field or a parameter "parent_program_id" refers to a row of "parent_programs"; `undefined` if it refers to none. */
export function referredResourceOf(name: string): Resource | undefined {
  return name.endsWith('_id') ? byTable.get(`${name.slice(0, -'_id'.length)}s`) : undefined;
}

/** The fields of the operation's body that refer to rows, and the resources of these rows. */
export function referencesOf({ requestBody }: Pick<Operation, 'requestBody'>): [string, Resource][] {
  const { properties = {} } = requestBody?.content['application/json']?.schema ?? {};
  // The changes of a batch have the bodies of other operations.
  const changes: readonly Schema[] = [Object(Object(properties['changes']).items).oneOf ?? []].flat();
  const bodies = changes.map((change) => Object(Object(change.properties)['body']).properties ?? {});
  const names = [properties, ...bodies].flatMap((each) => Object.keys(each));
  return [...new Set(names)].flatMap((field): [string, Resource][] => {
    const referred = referredResourceOf(field);
    return referred === undefined ? [] : [[field, referred]];
  });
}

/** The field whose description says "unique in your organization". Throws if there is none. */
export function uniqueFieldOf({ path, creation }: Resource): string {
  const { properties = {} } = creation.requestBody?.content['application/json']?.schema ?? {};
  const [name] =
    Object.entries(properties).find(([, field]) => /\bunique in your organization\b/.test(JSON.stringify(field))) ?? [];
  if (name === undefined) throw new Error(`No field of ${path} is described as "unique in your organization".`);
  return name;
}

/** Ids of existing rows, by the name of the field that refers to them. */
export type References = Readonly<Record<string, string>>;

/** Creates a row for each reference in the body of the operation. */
export async function createReferences(client: Client, operation: Operation): Promise<References> {
  const created: [string, string][] = [];
  for (const [name, resource] of referencesOf(operation)) created.push([name, await createRow(client, resource)]);
  return Object.fromEntries(created);
}

/** The id of a new row, from the first example of the contract. Fields that the resource does not have are left out. */
export async function createRow(client: Client, { path, creation }: Resource, changes: object = {}): Promise<string> {
  const { schema = {}, examples = {} } = creation.requestBody?.content['application/json'] ?? {};
  const body = withReferences(firstExample(examples), await createReferences(client, creation));
  const known = Object.entries(changes).filter(([name]) => Object.hasOwn(schema.properties ?? {}, name));
  const { status, text, body: created } = await client.post(path, { ...Object(body), ...Object.fromEntries(known) });
  if (status !== 201) throw new Error(`No row of ${path} was created: ${status} ${text}`);
  return created.id;
}

/** A new item of the operation's list, by what the operation's path has: the id of the item, or the client's own id. */
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

/** The body with existing ids in place of the example's, in the changes of a batch, too. */
export function withReferences(body: unknown, references: References): unknown {
  if (Array.isArray(body)) return body.map((item) => withReferences(item, references));
  if (!isObject(body)) return body;
  const members = Object.entries(body).map(([name, value]) => [
    name,
    references[name] ?? withReferences(value, references),
  ]);
  return Object.fromEntries(members);
}

/** Everything that the API returns for the organization of the client, as text. */
export async function snapshotOf(client: Client): Promise<string> {
  const pages = await Promise.all(lists.map((path) => client.get(`${path}?limit=100`)));
  return JSON.stringify(pages.map(({ body }) => body));
}
