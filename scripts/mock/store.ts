import type { Json } from '../../src/contract/document.ts';
import { HOUR_MS } from '../../src/domain/duration.ts';
import { IDEMPOTENCY_HOURS } from '../../src/store/idempotency-keys.ts';
import type { Collection } from './collection.ts';

/** What an idempotency key was used for. */
export type Creation = { readonly request: string; readonly item: Json };

export type StoreOptions = {
  readonly collections: readonly Pick<Collection, 'path' | 'items'>[];
  readonly now: () => Date;
  /** Called with a sentence where the store forgets something. */
  readonly onLimit: (warning: string) => void;
};

/** Items by the path of their list. */
export type Items = ReadonlyMap<string, readonly Json[]>;

export const MAX_ITEMS = 10_000;
const MAX_IDEMPOTENCY_KEYS = 10_000;

/** The data of `--stateful`, in memory. It begins with the items of the contract's examples. */
export class Store {
  readonly #options: StoreOptions;
  /** Items by id, by the path of their list. A Map keeps the order in which they were created. */
  readonly #items = new Map<string, Map<string, Json>>();
  readonly #creations = new Map<string, Creation & { readonly at: number }>();

  /** `data` are the items to begin with. */
  constructor(options: StoreOptions, data?: Items) {
    this.#options = options;
    this.reset(data);
  }

  /** Forgets everything, and begins again with these items by the path of their list, or with the examples. */
  reset(data?: Items): void {
    this.#creations.clear();
    for (const collection of this.#options.collections) {
      const items = data === undefined ? collection.items : (data.get(collection.path) ?? []);
      this.#items.set(collection.path, new Map(items.map((item) => [String(item['id']), item])));
    }
  }

  /** Returns a function that undoes all changes of items from now on. */
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

  /** `undefined` if the key was not used, or longer ago than the server remembers. */
  findCreation(idempotencyKey: string): Creation | undefined {
    const creation = this.#creations.get(idempotencyKey);
    const expiresAt = (creation?.at ?? 0) + IDEMPOTENCY_HOURS * HOUR_MS;
    return expiresAt > this.#options.now().getTime() ? creation : undefined;
  }

  recordCreation(idempotencyKey: string, creation: Creation): void {
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
