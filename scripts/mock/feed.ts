import { v7 as newId } from 'uuid';
import type { Json } from '../../src/contract/document.ts';
import type { Collection } from './collection.ts';
import type { Store } from './store.ts';

export type Change = {
  readonly kind: 'created' | 'updated' | 'deleted';
  /** The item after the change, or before its deletion. */
  readonly item: Json;
  readonly at: Date;
};

export type Feed = { readonly store: Store; readonly collections: readonly Collection[] };

/** Adds the event of a change to the feed, where the contract has a type for it: "parent_program.created". */
export function recordEvent({ store, collections }: Feed, list: string, { kind, item, at }: Change): void {
  const type = `${list.split('/').at(-1)?.replace(/s$/, '')}.${kind}`;
  const feed = collections.find(({ isFeed, eventTypes }) => isFeed && eventTypes.includes(type));
  if (feed !== undefined) store.put(feed.path, { id: newId(), type, timestamp: at.toISOString(), data: item });
}
