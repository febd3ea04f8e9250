import type { Ajv2020 } from 'ajv/dist/2020.js';
import { invalidTextsIn, Violations } from '../../src/api/violations.ts';
import { closeSchema } from '../../src/contract/conformity.ts';
import { isObject, type Json, type Operation, type Schema } from '../../src/contract/document.ts';
import { invalidField } from '../../src/domain/errors.ts';
import { schemaOf, successOf } from './declared-responses.ts';
import { type Items, MAX_ITEMS, UniqueField } from './store.ts';
import { emptyValueOf, inServerOrder, uuidOf } from './written-body.ts';

/** Returns the initial items of a mock. Throws a 422 that names every mistake in the seed. */
export type ReadSeed = (seed: unknown) => Items;

type SeedDeps = {
  readonly operations: readonly Operation[];
  readonly lists: readonly string[];
  readonly ajv: Ajv2020;
  readonly now: () => Date;
};

/** What the contract says about the items of a list. */
type Described = {
  readonly path: string;
  readonly name: string;
  readonly schema: Schema;
  /** The schema of the request body that creates an item; `undefined` if no operation creates items. */
  readonly creation: Schema | undefined;
  readonly unique: readonly UniqueField[];
};

/**
 * Creates the reader of a seed. A seed contains items by the name of their list, as in `{ "parent_programs": [{ "name": "Nordic
 * Scholars Exchange" }] }`.
 */
export function createSeedReader({ operations, lists, ajv, now }: SeedDeps): ReadSeed {
  const described = new Map(lists.map((path) => describe(path, operations)).map((each) => [each.name, each] as const));
  return (seed) => {
    const names = [...described.keys()].join(', ');
    if (!isObject(seed))
      throw invalidField('data', `must be an object with items by the name of their list: ${names}.`);
    const violations = new Violations();
    const items = new Map<string, readonly Json[]>();
    for (const [name, given] of Object.entries(seed)) {
      const list = described.get(name);
      if (list === undefined) violations.add(name, `is not a list of this API. Lists: ${names}.`);
      else if (!Array.isArray(given)) violations.add(name, 'must be an array of items.');
      else if (given.length > MAX_ITEMS) violations.add(name, `must have at most ${MAX_ITEMS} items.`);
      else items.set(list.path, readItems(given, list, { ajv, violations, now: now().getTime() }));
    }
    violations.throwIfAny();
    return items;
  };
}

function describe(path: string, operations: readonly Operation[]): Described {
  const of = (method: string) => operations.find((each) => each.path === path && each.method === method);
  const [list, create] = [of('get'), of('post')];
  return {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    schema: closeSchema((list && schemaOf(list, successOf(list))?.properties?.['data']?.items) ?? {}),
    creation: create?.requestBody?.content['application/json']?.schema,
    unique: create === undefined ? [] : UniqueField.listOf(create),
  };
}

type Reading = { readonly ajv: Ajv2020; readonly violations: Violations; readonly now: number };

function readItems(given: readonly unknown[], list: Described, { ajv, violations, now }: Reading): Json[] {
  const { name, schema, creation, unique } = list;
  const validate = ajv.compile(schema);
  const validateCreation = ajv.compile(creation ?? true);
  const vocabulary = { queryNames: [], headerNames: new Map(), subject: name };
  const uniqueNames = ['id', ...unique.map((field) => field.name)];
  const seen = new Map<string, number>();
  return given.map((sent, i) => {
    const place = `${name}[${i}]`;
    const add = ({ errors }: Pick<typeof validate, 'errors'>) => {
      const placed = (errors ?? []).map((error) => ({
        ...error,
        instancePath: `/requestBody/${place}${error.instancePath}`,
      }));
      violations.addAll(placed, vocabulary);
    };
    if (!isObject(sent)) {
      violations.add(place, 'must be an object.');
      return {};
    }
    // The times are one millisecond apart, so that lists have the order of the seed.
    const item = complete(sent, { list, place, at: new Date(now - given.length + i).toISOString() });
    if (!validate(item)) add(validate);
    // The schema of a request is stricter than that of a response: it forbids blank names, for example.
    if (!validateCreation(writablePart(sent, creation))) add(validateCreation);
    add({ errors: invalidTextsIn(sent) });
    for (const field of uniqueNames) {
      const value = `${field} ${JSON.stringify(item[field])}`;
      const before = seen.get(value);
      if (typeof item[field] === 'string' && before !== undefined)
        violations.add(`${place}.${field}`, `must be unique; ${name}[${before}] has the same.`);
      else seen.set(value, i);
    }
    return inServerOrder(item, schema);
  });
}

/** Adds what a server adds to an item: the id, the times, and empty values for fields that a request may omit. */
function complete(sent: Json, { list, place, at }: { list: Described; place: string; at: string }): Json {
  const { schema, creation } = list;
  const properties = Object.entries(schema.properties ?? {});
  // A time that can be null, such as "archived_at", belongs to something that has not happened yet.
  const isTime = (of: Schema) => of.format === 'date-time' && emptyValueOf(of) === undefined;
  const time = properties.map(([name, of]) => isTime(of) && sent[name]).find((value) => typeof value === 'string');
  const added = properties.flatMap(([name, of]): [string, unknown][] => {
    if (Object.hasOwn(sent, name)) return [[name, sent[name]]];
    if (name === 'id') return [[name, uuidOf(`seed ${place} ${JSON.stringify(sent)}`)]];
    if (isTime(of)) return [[name, time ?? at]];
    if (of.format === 'date-time') return [[name, null]];
    const empty = creation?.properties?.[name] === undefined ? undefined : emptyValueOf(of);
    return empty === undefined ? [] : [[name, empty]];
  });
  return { ...Object.fromEntries(added), ...sent };
}

function writablePart(sent: Json, creation: Schema | undefined): Json {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => Object.hasOwn(creation?.properties ?? {}, name)));
}
