import { v7 as newId } from 'uuid';
import type { Json, Operation } from '../../src/contract/document.ts';
import { DomainError, invalidField } from '../../src/domain/errors.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { usedKeyError } from '../../src/service/resources/writing.ts';
import { IDEMPOTENCY_HOURS } from '../../src/store/resources/idempotency-keys.ts';
import type { Collection } from './data-set.ts';
import { examplesOf } from './declared-responses.ts';
import { FIRST_ORGANIZATION } from './mock-api.ts';

/** The request for which an idempotency key was used, and the body of the response. */
type Creation = { readonly request: string; readonly item: Json };

type StoreOptions = {
  readonly collections: readonly Pick<Collection, 'path' | 'items'>[];
  readonly now: () => Date;
  /** Called with a sentence when the store removes something because it is full. */
  readonly onLimit: (warning: string) => void;
};

/** Items, by the path of their list. */
export type Items = ReadonlyMap<string, readonly Json[]>;

export const MAX_ITEMS = 10_000;
const MAX_IDEMPOTENCY_KEYS = 10_000;

/** The data of a stateful mock, in memory. */
export class Store {
  readonly #options: StoreOptions;
  /** The items by id, for each path of a list. A Map keeps the order in which items were added. */
  readonly #items = new Map<string, Map<string, Json>>();
  readonly #creations = new Map<string, Creation & { readonly at: number }>();

  /** Creates a store with the items in `data`. The default is those of the contract's examples. */
  constructor(options: StoreOptions, data?: Items) {
    this.#options = options;
    this.reset(data);
  }

  /** Removes everything, and adds the items in `data`. The default is those of the contract's examples. */
  reset(data?: Items): void {
    this.#creations.clear();
    for (const collection of this.#options.collections) {
      const items = data === undefined ? collection.items : (data.get(collection.path) ?? []);
      this.#items.set(collection.path, new Map(items.map((item) => [String(item['id']), item])));
    }
  }

  /** Returns a function that undoes all later changes of items. */
  remember(): () => void {
    const before = [...this.#items].map(([path, items]) => [path, new Map(items)] as const);
    return () => {
      for (const [path, items] of before) this.#items.set(path, items);
    };
  }

  itemsOf(path: string): readonly Json[] {
    return [...this.#of(path).values()];
  }

  find(path: string, id: string): Json | undefined {
    return this.#of(path).get(id);
  }

  /** Adds or replaces an item. Removes the oldest item if there are too many. */
  put(path: string, item: Json): void {
    const items = this.#of(path);
    items.set(String(item['id']), item);
    const [oldest] = items.keys();
    if (items.size <= MAX_ITEMS || oldest === undefined) return;
    items.delete(oldest);
    this.#options.onLimit(`The mock keeps ${MAX_ITEMS} items of ${path}, and has removed the oldest one, ${oldest}.`);
  }

  remove(path: string, id: string): void {
    this.#of(path).delete(id);
  }

  /**
   * Returns the body of the first response to the request. Returns `undefined` if the key was never used, or so long ago that a
   * server would have forgotten it. Throws a 422 if the key was used for another request.
   */
  findCreation(idempotencyKey: string | undefined, request: string): Json | undefined {
    const creation = this.#creations.get(idempotencyKey ?? '');
    const expiresAt = (creation?.at ?? 0) + IDEMPOTENCY_HOURS * HOUR_MS;
    if (creation === undefined || expiresAt <= this.#options.now().getTime()) return undefined;
    if (creation.request !== request) throw usedKeyError();
    return creation.item;
  }

  recordCreation(idempotencyKey: string | undefined, creation: Creation): void {
    if (idempotencyKey === undefined) return;
    this.#creations.delete(idempotencyKey);
    this.#creations.set(idempotencyKey, { ...creation, at: this.#options.now().getTime() });
    const [oldest] = this.#creations.keys();
    if (this.#creations.size > MAX_IDEMPOTENCY_KEYS && oldest !== undefined) this.#creations.delete(oldest);
  }

  #of(path: string): Map<string, Json> {
    const items = this.#items.get(path);
    if (items === undefined) throw new Error(`The mock keeps no items of ${path}.`);
    return items;
  }
}

/** The stores of the organizations. The first organization begins with data, all others with empty lists. */
export class Stores {
  readonly #options: StoreOptions;
  readonly #all: Map<string, Store>;

  constructor(options: StoreOptions, data?: Items) {
    this.#options = options;
    this.#all = new Map([[FIRST_ORGANIZATION, new Store(options, data)]]);
  }

  /** Returns the store of the organization, which is created when it is first needed. */
  of(organizationId: string): Store {
    const store = this.#all.get(organizationId) ?? new Store(this.#options, new Map());
    this.#all.set(organizationId, store);
    return store;
  }

  /** Resets all stores. `data` are the items of the first organization; by default, those of the contract's examples. */
  reset(data?: Items): void {
    for (const [organizationId, store] of this.#all)
      store.reset(organizationId === FIRST_ORGANIZATION ? data : new Map());
  }
}

export type Change = {
  readonly kind: 'created' | 'updated' | 'deleted' | { readonly verb: string };
  /** The item after the change, or before its deletion. */
  readonly item: Json;
  readonly at: Date;
};

type Feed = { readonly store: Store; readonly collections: readonly Collection[] };

/**
 * Adds the event of a change to the feed. The contract must have a type for it, such as "parent_program.created". The type for an
 * action begins with the action's verb after the dot: "parent_program.archived" for "archive". If there is no such type, the
 * event is that of an update.
 */
export function recordEvent({ store, collections }: Feed, list: string, { kind, item, at }: Change): void {
  const noun = list.split('/').at(-1)?.replace(/s$/, '');
  const feed = collections.find(({ isFeed }) => isFeed);
  const types = feed?.eventTypes.map(String) ?? [];
  const isOf = (start: string) => (type: string) => type.startsWith(`${noun}.${start}`);
  const type =
    typeof kind === 'string'
      ? types.find(isOf(kind))
      : (types.find(isOf(kind.verb.replace(/e$/, ''))) ?? types.find(isOf('updated')));
  if (feed !== undefined && type !== undefined)
    store.put(feed.path, { id: newId(), type, timestamp: at.toISOString(), data: item });
}

// References between items of different lists. They are recognized by the names in the contract: "parent_program_id" is the id of
// an item of "/api/parent_programs".

/** Throws the server's 422 if a field of the request refers to an item that does not exist. */
export function requireReferences(item: Json, operation: Operation, { store, collections }: Feed): void {
  const { properties = {} } = operation.requestBody?.content['application/json']?.schema ?? {};
  for (const field of Object.keys(properties)) {
    const id = item[field];
    const referred = collections.find(({ path }) => referenceTo(path) === field);
    if (referred === undefined || typeof id !== 'string' || store.find(referred.path, id.toLowerCase()) !== undefined)
      continue;
    const noun = field.replace(/_id$/, '').replaceAll('_', ' ');
    throw invalidField(field, `is not the id of any ${noun} of your organization.`);
  }
}

/** Deletes an item and, like the server's database, all items that refer to it. */
export function removeWithReferring(feed: Feed, { list, item, at }: { list: string; item: Json; at: Date }): void {
  const { store, collections } = feed;
  store.remove(list, String(item['id']));
  recordEvent(feed, list, { kind: 'deleted', item, at });
  for (const { path, isFeed } of collections) {
    if (isFeed) continue;
    for (const other of store.itemsOf(path))
      if (other[referenceTo(list)] === item['id']) removeWithReferring(feed, { list: path, item: other, at });
  }
}

function referenceTo(list: Collection['path']): string {
  return `${list.slice(list.lastIndexOf('/') + 1).replace(/s$/, '')}_id`;
}

/** Matches a field and its value as the message of a conflict quotes them: `external_id "sis-20417"`. */
const QUOTED = /(\w+) ("(?:[^"\\]|\\.)*")/;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The contract's 409 for a value that another item already has. */
export class TakenError extends DomainError {
  readonly field: string;
  readonly value: unknown;
  readonly holderId: unknown;

  constructor(message: string, { field, value, holderId }: { field: string; value: unknown; holderId: unknown }) {
    super('conflict', message);
    this.field = field;
    this.value = value;
    this.holderId = holderId;
  }
}

/** A field whose values must be unique. The contract names it in an example of a 409. */
export class UniqueField {
  readonly name: string;
  readonly #quoted: string;
  readonly #message: string;

  private constructor(name: string, quoted: string, message: string) {
    this.name = name;
    this.#quoted = quoted;
    this.#message = message;
  }

  static listOf(operation: Operation): UniqueField[] {
    const fields = examplesOf(operation, 409).flatMap(([, { value }]): [string, UniqueField][] => {
      const message = String(Object(value).message);
      const [, name, quoted] = QUOTED.exec(message) ?? [];
      return name === undefined || quoted === undefined ? [] : [[name, new UniqueField(name, quoted, message)]];
    });
    return [...new Map(fields).values()];
  }

  /** Throws a TakenError if another item has the same value. Any number of items may have the value `null`. */
  requireUnique(item: Json, items: readonly Json[]): void {
    const value = item[this.name];
    if (value === null || value === undefined) return;
    const holder = items.find((other) => other[this.name] === value && other['id'] !== item['id']);
    if (holder === undefined) return;
    const message = this.#message
      .replace(UUID, () => String(holder['id']))
      .replace(this.#quoted, () => JSON.stringify(value));
    throw new TakenError(message, { field: this.name, value, holderId: holder['id'] });
  }
}
