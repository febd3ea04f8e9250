import { hash } from 'node:crypto';
import type { ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { JSONSchemaFaker } from 'json-schema-faker';
import { isObject, type Json, type Operation, type Schema } from '../../src/contract/document.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { examplesOf, headersOf, schemaOf, successOf } from './declared-responses.ts';
import { inServerOrder, uuidOf } from './written-body.ts';

/** The data for responses: the contract's examples or, with a seed, data that is generated from the schemas. */
export type DataSet = {
  readonly source: ResponseSource;
  readonly collections: readonly Collection[];
  readonly isDynamic: boolean;
};

type DataSetOptions = {
  readonly operations: readonly Operation[];
  readonly ajv: Ajv2020;
  /** The seed of generated data. If it is omitted, the contract's examples are used. */
  readonly seed: string | undefined;
};

export function createDataSet({ operations, ajv, seed }: DataSetOptions): DataSet {
  const isDynamic = seed !== undefined;
  const source = createResponseSource({ ajv, seed });
  return { source, isDynamic, collections: createCollections(operations, { ajv, source, isDynamic }) };
}

export type Collection = {
  readonly path: string;
  /** The items of the list, which are the same for every request. They fill several pages of the usual size. */
  readonly items: readonly Json[];
  /** The items in the examples of all operations below the path, by id. */
  readonly examples: ReadonlyMap<unknown, Json>;
  /** Whether the list is a feed. In a feed, even the last page has a cursor. */
  readonly isFeed: boolean;
  /** The types of the events in the feed, such as "parent_program.created". */
  readonly eventTypes: readonly unknown[];
};

type CollectionDeps = { readonly ajv: Ajv2020; readonly source: ResponseSource; readonly isDynamic: boolean };

const ITEMS = 60;

function createCollections(operations: readonly Operation[], deps: CollectionDeps): readonly Collection[] {
  const collections = operations.map((operation) =>
    createCollection(operation, { ...deps, examples: itemExamples(operations, operation) }),
  );
  return collections.filter((collection) => collection !== undefined);
}

/**
 * Returns the collection of a list operation. The successful response of a list operation has `data` and `page`. Returns
 * `undefined` if the operation does not read a list.
 */
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
    // The items are created when they are first used, because a mock with its own initial data does not need them.
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

/** Returns whether the operation lists a feed. Each page of a feed has the member `has_more`. */
function isFeed(operation: Operation): boolean {
  return schemaOf(operation, successOf(operation))?.properties?.['page']?.properties?.['has_more'] !== undefined;
}

/**
 * Returns the collection that an operation reads or changes: an operation on the list, an operation on an item, or an action.
 * Returns `undefined` if there is no such collection.
 */
export function collectionOf(operation: Operation, collections: readonly Collection[]): Collection | undefined {
  const path = actionOn(operation)?.itemPath ?? operation.path;
  return collections.find((collection) => collection.path === path || isItemPath(path, collection.path));
}

/**
 * Returns the verb of an action and the path of its item; `undefined` if the operation is not an action. For "POST
 * /api/parent_programs/{id}/archive", the verb is "archive".
 */
export function actionOn({ method, path }: Operation): { itemPath: string; verb: string } | undefined {
  const [, itemPath, verb] = /^(.*\/\{[^}]+\})\/([^/{}]+)$/.exec(path) ?? [];
  return method === 'post' && itemPath !== undefined && verb !== undefined ? { itemPath, verb } : undefined;
}

export function findItem({ items, examples }: Collection, id: string): Json | undefined {
  return items.find((item) => item['id'] === id) ?? examples.get(id);
}

function isItemPath(path: string, listPath: string): boolean {
  return path !== listPath && path.replace(/\/\{[^}]+\}$/, '') === listPath;
}

/**
 * Returns the items in the examples, by id. If several examples have the same id, the example of the operation that reads an item
 * takes precedence, then that of the list operation.
 */
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

/** Returns the items in the list's examples, followed by modified copies of them. */
function exampleItems(operation: Operation, examples: Collection['examples']): Json[] {
  const listed = examplesOf(operation, successOf(operation)).flatMap(([, { value }]) => itemsIn(value));
  const distinct = [...new Map(listed.map((item) => [item['id'], examples.get(item['id']) ?? item])).values()];
  const unique = uniqueFieldsIn(schemaOf(operation, successOf(operation)));
  const rounds = distinct.length === 0 ? 0 : Math.ceil(ITEMS / distinct.length);
  return Array.from({ length: rounds }, (_, round) => distinct.map((item) => copyOf(item, { round, unique })))
    .flat()
    .slice(0, ITEMS);
}

/** Returns the names of all fields in the schema, at any depth, whose description says that their values are unique. */
function uniqueFieldsIn(schema: unknown): Set<string> {
  const names = new Set<string>();
  JSON.stringify(schema, (name, value) => {
    if (isObject(value) && /\bunique in your organization\b/.test(String(value['description']))) names.add(name);
    return value;
  });
  return names;
}

/**
 * Returns a copy of the item in which some values are changed: those that must or should differ between items. Recognizes such
 * values by the names of fields in the contract.
 */
function copyOf(item: Json, { round, unique }: { round: number; unique: ReadonlySet<string> }): Json {
  if (round === 0) return item;
  const change = ([name, value]: [string, unknown]): [string, unknown] => {
    // An object with an id is the item of an event.
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

/** Returns another id. If the id is a UUID of version 7, its time is `days` days later. */
function laterId(id: string, days: number): string {
  const [, time, rest = ''] = /^([0-9a-f]{8}-[0-9a-f]{4})(-7.*)$/.exec(id) ?? [];
  const other = uuidOf(`${id} ${days}`);
  if (time === undefined) return other;
  const milliseconds = Number.parseInt(time.replace('-', ''), 16) + days * DAY_MS;
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${rest.slice(0, 5)}${other.slice(18)}`;
}

function itemsIn(body: unknown): Json[] {
  const data = isObject(body) ? body['data'] : undefined;
  return Array.isArray(data) ? data.filter(isObject) : [];
}

/** A response of the contract: the first example of each header, and a body, which is `undefined` if the response has none. */
export type ContractResponse = { readonly headers: Readonly<Record<string, string>>; readonly body: unknown };

type ResponseQuery = {
  readonly operation: Operation;
  readonly status: number;
  /** The name of an example in the contract. If it is omitted, the first example is used or, with a seed, generated data. */
  readonly example?: string | undefined;
  /** The text from which the data is generated, together with the seed. The same text always gives the same data. */
  readonly seedText: string;
};

/** Returns the data of a response: one of the contract's examples or, with a seed, data that the schema allows. */
type ResponseSource = (query: ResponseQuery) => ContractResponse;

function createResponseSource({ ajv, seed }: { ajv: Ajv2020; seed: string | undefined }): ResponseSource {
  return ({ operation, status, example, seedText }) => {
    const headers = headersOf(operation, status);
    const schema = schemaOf(operation, status);
    const examples = examplesOf(operation, status);
    const isGenerated = seed !== undefined && example === undefined && schema !== undefined;
    const generated = isGenerated
      ? generate(schema, {
          seed: `${seed} ${operation.operationId} ${status} ${seedText}`,
          validate: ajv.compile(schema),
        })
      : undefined;
    const [, shown] = examples.find(([name]) => example === undefined || name === example) ?? [];
    return { headers, body: generated ?? shown?.value };
  };
}

/**
 * The maximum number of attempts to generate a valid value. The first attempt usually succeeds; a difficult schema needs a few.
 */
const MAX_ATTEMPTS = 20;
const MAX_PROPERTIES = 4;

const FIRST_MS = Date.UTC(2024, 0, 1);
const RANGE_MS = 3 * 365 * 24 * 3_600_000;

/**
 * Returns the first generated value that the schema allows. The same seed always gives the same value. Returns `undefined` if no
 * attempt was valid.
 */
function generate(schema: Schema, { seed, validate }: { seed: string; validate: ValidateFunction }): unknown {
  const narrow = narrowSchema(schema);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    JSONSchemaFaker.option({ alwaysFakeOptionals: true, maxItems: 10, random: randomOf(`${seed} ${attempt}`) });
    JSONSchemaFaker.format('instant', () => {
      return new Date(FIRST_MS + JSONSchemaFaker.random.number(0, RANGE_MS)).toISOString();
    });
    const value = JSONSchemaFaker.generate(narrow);
    if (validate(value)) return value;
  }
  return undefined;
}

/**
 * Returns the schema for the generator. From the original schema, the generator would generate timestamps without milliseconds
 * and in any year. It would also add members wherever a schema allows additional members, as schemas of responses do, up to a
 * high `maxProperties`.
 */
function narrowSchema(schema: Schema): object {
  return JSON.parse(JSON.stringify(schema), (_, node) => {
    if (!isObject(node)) return node;
    if (node['format'] === 'date-time') return { type: node['type'], format: 'instant' };
    if (isObject(node['properties'])) node['additionalProperties'] ??= false;
    if (Number(node['maxProperties']) > MAX_PROPERTIES) node['maxProperties'] = MAX_PROPERTIES;
    return node;
  });
}

/**
 * Returns a generator of numbers from 0 to 1 (mulberry32). The same seed always gives the same numbers. The generator must be
 * fast, because an item needs thousands of numbers.
 */
function randomOf(seed: string): () => number {
  let state = Number.parseInt(hash('sha256', seed).slice(0, 8), 16);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
