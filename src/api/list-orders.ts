import type { PageQuery, SortField } from '../store/list.ts';
import type { Listed } from './cursor.ts';

type Order = Pick<PageQuery, 'sortField' | 'descending'>;

/** The orders of a list by the values of `sort`. */
export const ORDERS: Readonly<Record<SortField | `-${SortField}`, Order>> = {
  created_at: { sortField: 'created_at', descending: false },
  '-created_at': { sortField: 'created_at', descending: true },
  updated_at: { sortField: 'updated_at', descending: false },
  '-updated_at': { sortField: 'updated_at', descending: true },
  name: { sortField: 'name', descending: false },
  '-name': { sortField: 'name', descending: true },
};

/** What a list and the feed say about a cursor of another list. */
export const OF_LIST: Differences = { choices: { sort: Object.keys(ORDERS) }, parameters: 'sort and filters' };
export function ofFeed(types: readonly string[]): Differences {
  return { choices: { type: types }, parameters: 'type' };
}

type Differences = Pick<Listed, 'choices' | 'parameters'>;
