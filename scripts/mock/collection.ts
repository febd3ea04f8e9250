import { createHash } from 'node:crypto';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject, type Json, type Operation } from '../../src/contract/document.ts';
import { DAY_MS } from '../../src/domain/duration.ts';
import { examplesOf, schemaOf, successOf } from './declared-responses.ts';
import { inServerOrder } from './merge-patch.ts';
import type { ResponseSource } from './response-source.ts';

export type Collection = {
  /** The path of the list operation. */
  readonly path: string;
  /** The items of the list, the same for every request: enough for several list pages of the usual size. */
  readonly items: readonly Json[];
  /** The items of all examples of the operations under the path, by id. */
  readonly examples: ReadonlyMap<unknown, Json>;
  /** The list is a feed, whose last page has a cursor, too. */
  readonly isFeed: boolean;
  /** The types of the events in the feed, such as "parent_program.created". */
  readonly eventTypes: readonly unknown[];
};

export type CollectionDeps = { readonly ajv: Ajv2020; readonly source: ResponseSource; readonly isDynamic: boolean };

const ITEMS = 60;

export function createCollections(operations: readonly Operation[], deps: CollectionDeps): readonly Collection[] {
  const collections = operations.map((operation) =>
    createCollection(operation, { ...deps, examples: itemExamples(operations, operation) }),
  );
  return collections.filter((collection) => collection !== undefined);
}

/** Returns `undefined` if the operation lists nothing. A list's success has `data` and `page`. */
function createCollection(
  operation: Operation,
  { ajv, source, isDynamic, examples }: CollectionDeps & Pick<Collection, 'examples'>,
): Collection | undefined {
  const { data, page } = schemaOf(operation, successOf(operation))?.properties ?? {};
  if (data?.items === undefined || page === undefined) return undefined;
  const itemSchema = data.items;
  let items: readonly Json[] | undefined;
  return {
    path: operation.path,
    // Made when they are first used: a mock that begins with data of its own needs none.
    get items() {
      if (items !== undefined) return items;
      const validate = ajv.compile(itemSchema);
      const made = isDynamic ? generateItems(operation, source) : exampleItems(operation, examples);
      items = made.filter((item) => validate(item)).map((item) => inServerOrder(item, itemSchema));
      return items;
    },
    examples: isDynamic ? new Map() : examples,
    isFeed: isFeed(operation),
    eventTypes: data.items.properties?.['type']?.enum ?? [],
  };
}

/** A feed says on each page whether there are more items now. */
function isFeed(operation: Operation): boolean {
  return schemaOf(operation, successOf(operation))?.properties?.['page']?.properties?.['has_more'] !== undefined;
}

/** The collection that an operation reads or changes: of a list, of its items, or neither. */
export function collectionOf({ path }: Operation, collections: readonly Collection[]): Collection | undefined {
  return collections.find((collection) => collection.path === path || isItemPath(path, collection.path));
}

export function findItem({ items, examples }: Collection, id: string): Json | undefined {
  return items.find((item) => item['id'] === id) ?? examples.get(id);
}

function isItemPath(path: string, listPath: string): boolean {
  return path !== listPath && path.replace(/\/\{[^}]+\}$/, '') === listPath;
}

/** If several examples have one id, the one of the operation that reads an item counts, then the one of the list. */
function itemExamples(operations: readonly Operation[], list: Operation): Collection['examples'] {
  const ofItems = operations.filter(({ path }) => isItemPath(path, list.path));
  const ofList = operations.filter(({ path }) => path === list.path);
  const byPriority = [...ofItems.filter(({ method }) => method === 'get'), list, ...ofList, ...ofItems];
  const examples = new Map<unknown, Json>();
  for (const operation of byPriority) {
    for (const [, { value }] of examplesOf(operation, successOf(operation))) {
      for (const item of operation === list ? itemsIn(value) : [value].filter(isObject))
        if (!examples.has(item['id'])) examples.set(item['id'], item);
    }
  }
  return examples;
}

function generateItems(operation: Operation, source: ResponseSource): Json[] {
  const items: Json[] = [];
  for (let i = 0; i < ITEMS && items.length < ITEMS; i += 1) {
    const { body } = source({ operation, status: successOf(operation), seedText: `${operation.path} ${i}` });
    items.push(...itemsIn(body));
  }
  return items.slice(0, ITEMS);
}

/** The items of the list's examples, then copies of them that differ. */
function exampleItems(operation: Operation, examples: Collection['examples']): Json[] {
  const listed = examplesOf(operation, successOf(operation)).flatMap(([, { value }]) => itemsIn(value));
  const distinct = [...new Map(listed.map((item) => [item['id'], examples.get(item['id']) ?? item])).values()];
  const unique = uniqueFieldsIn(schemaOf(operation, successOf(operation)));
  const rounds = distinct.length === 0 ? 0 : Math.ceil(ITEMS / distinct.length);
  return Array.from({ length: rounds }, (_, round) => distinct.map((item) => copyOf(item, { round, unique })))
    .flat()
    .slice(0, ITEMS);
}

/** The fields of the schema and of all within it whose descriptions say that they are unique. */
function uniqueFieldsIn(schema: unknown): Set<string> {
  const names = new Set<string>();
  JSON.stringify(schema, (name, value) => {
    if (isObject(value) && /\bunique in your organization\b/.test(String(value['description']))) names.add(name);
    return value;
  });
  return names;
}

/** Changes what must or should differ between items, by the names that the contract uses. */
function copyOf(item: Json, { round, unique }: { round: number; unique: ReadonlySet<string> }): Json {
  if (round === 0) return item;
  const change = ([name, value]: [string, unknown]): [string, unknown] => {
    // The item that an event is about.
    if (isObject(value) && 'id' in value) return [name, copyOf(value, { round, unique })];
    if (typeof value !== 'string') return [name, value];
    if (name === 'id') return [name, laterId(value, round)];
    if (name === 'name') return [name, `${value} ${round + 1}`];
    if (unique.has(name)) return [name, `${value}-${round + 1}`];
    if (name.endsWith('_at') || name === 'timestamp')
      return [name, new Date(Date.parse(value) + round * DAY_MS).toISOString()];
    return [name, value];
  };
  return Object.fromEntries(Object.entries(item).map(change));
}

/** Another id, whose time is so many days later if the id is a UUID of version 7. */
function laterId(id: string, days: number): string {
  const [, time, rest = ''] = /^([0-9a-f]{8}-[0-9a-f]{4})(-7.*)$/.exec(id) ?? [];
  const other = uuidOf(`${id} ${days}`);
  if (time === undefined) return other;
  const milliseconds = Number.parseInt(time.replace('-', ''), 16) + days * DAY_MS;
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${rest.slice(0, 5)}${other.slice(18)}`;
}

/** A UUID in the form of version 7, the same for the same text. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function itemsIn(body: unknown): Json[] {
  const data = isObject(body) ? body['data'] : undefined;
  return Array.isArray(data) ? data.filter(isObject) : [];
}
