// Items that refer to items of other lists, by the names that the contract uses: "parent_program_id" is the id of an item of
// "/api/parent_programs".
import type { Json, Operation } from '../../src/contract/document.ts';
import { invalidField } from '../../src/domain/errors.ts';
import type { Collection } from './collection.ts';
import { type Feed, recordEvent } from './feed.ts';

/** Throws the server's 422 for a field of the request that is not the id of an item. */
export function refuseDangling(item: Json, operation: Operation, { store, collections }: Feed): void {
  const { properties = {} } = operation.requestBody?.content['application/json']?.schema ?? {};
  for (const field of Object.keys(properties)) {
    const id = item[field];
    const referred = collections.find(({ path }) => referenceTo(path) === field);
    if (referred === undefined || typeof id !== 'string' || store.find(referred.path, id.toLowerCase()) !== undefined)
      continue;
    const noun = field.replace(/_id$/, '').replaceAll('_', ' ');
    throw invalidField(field, `is not the id of a ${noun} of your organization.`);
  }
}

/** Deletes an item and, as the database of the server does, all items that refer to it. */
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
