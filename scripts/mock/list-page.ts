import {
  DIFFERENCES_OF_LIST,
  differencesOfFeed,
  listOf,
  nextPageUrlOf,
  openCursor,
  sealCursor,
} from '../../src/api/list-page.ts';
import type { Json } from '../../src/contract/document.ts';
import { positionBefore } from '../../src/domain/resources/event-position.ts';
import { parseInstant } from '../../src/domain/resources/instant.ts';
import type { Collection } from './data-set.ts';

type Query = Readonly<Record<string, unknown>>;
/** A request for a list: its path with the parameters filled in, and its query. */
type Called = { readonly path: string; readonly query: Query };

/** The key with which the mock signs its cursors. A server refuses these cursors. */
const CURSOR_KEY = 'The mock of Charter signs cursors';

/**
 * Returns one page of the items, filtered and sorted by the query. Recognizes filters and sort orders by their names in the
 * contract. The default sort order is by id.
 */
export function pageOf(
  items: readonly Json[],
  { path, query }: Called,
  { isFeed, eventTypes }: Pick<Collection, 'isFeed' | 'eventTypes'>,
): { body: Json; headers: Record<string, string> } {
  // In a feed, `since` is where the first page begins. The other pages begin at their cursor, so `since` is not part of their
  // query.
  const { since, ...others } = query;
  const followed = isFeed ? others : query;
  const { limit = items.length, cursor, ...filters } = followed;
  const seal = { key: CURSOR_KEY, list: listOf(path, filters) };
  const listed = {
    path,
    query: filters,
    ...(isFeed ? differencesOfFeed(eventTypes.map(String)) : DIFFERENCES_OF_LIST),
  };
  const before = typeof cursor === 'string' ? openCursor(seal, cursor, listed) : null;
  const isSince = isFeed && since !== undefined && before === null;
  const order = orderOf(query['sort']);
  const all = items.filter((item) => matches(item, isSince ? { ...filters, since } : filters)).toSorted(order.compare);
  const start = before === null ? 0 : startAfter(before, { all, order });
  const data = all.slice(start, start + Number(limit));
  const hasMore = start + data.length < all.length;
  const last = data.at(-1);
  const end =
    last === undefined
      ? (before ??
        (isSince ? positionOf({ id: positionBefore(parseInstant(String(since))) }, order) : Buffer.from(' ')))
      : positionOf(last, order);
  const nextCursor = hasMore || isFeed ? sealCursor(seal, end) : null;
  const page = { limit, next_cursor: nextCursor, ...(isFeed && { has_more: hasMore }) };
  return { body: { data, page }, headers: hasMore ? linkTo({ path, query: followed }, nextCursor) : {} };
}

/** Returns the Link header to the next page; no header if `nextCursor` is not a string. */
export function linkTo({ path, query }: Called, nextCursor: unknown): Record<string, string> {
  return typeof nextCursor === 'string' ? { Link: `<${nextPageUrlOf(path, query, nextCursor)}>; rel="next"` } : {};
}

type Order = { readonly field: string; readonly compare: (a: Json, b: Json) => number };

function orderOf(sort: unknown): Order {
  const [, minus, field = ''] = /^(-?)(\w+)$/.exec(String(sort)) ?? [];
  const sign = minus === '-' ? -1 : 1;
  return { field, compare: (a, b) => sign * (compareTexts(a[field], b[field]) || compareTexts(a['id'], b['id'])) };
}

/**
 * Returns the values that determine the position of an item. With these values, the next page can begin after an item that has
 * been deleted in the meantime.
 */
function positionOf(item: Json, { field }: Order): Buffer {
  return Buffer.from(`${item['id']} ${item[field] ?? ''}`);
}

function startAfter(position: Buffer, { all, order }: { all: readonly Json[]; order: Order }): number {
  const [, id, value] = /^(\S*) (.*)$/s.exec(position.toString()) ?? [];
  const start = all.findIndex((item) => order.compare(item, { [order.field]: value, id }) > 0);
  return start < 0 ? all.length : start;
}

function matches(item: Json, query: Query): boolean {
  return Object.entries(query).every(([name, value]) => {
    if (name === 'search') return searchFormOf(String(item['name'])).includes(searchFormOf(String(value)));
    if (name === 'updated_since') return new Date(String(item['updated_at'])) >= parseInstant(String(value));
    if (name === 'since') return new Date(String(item['timestamp'])) >= parseInstant(String(value));
    return !Object.hasOwn(item, name) || item[name] === value;
  });
}

/** Compares texts by Unicode code point, like the server. The bytes of UTF-8 have the same order. */
function compareTexts(a: unknown, b: unknown): number {
  if (a === b || a === undefined || b === undefined) return 0;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

/** Matches the Cherokee letters, which case folding maps to upper case rather than lower case. */
const CHEROKEE = /[\u13a0-\u13ff\uab70-\uabbf]/;
const DOTLESS_I = 'ı';

/**
 * Returns the form in which searches compare texts. This form does not depend on letter case or normalization form:
 * NFC(toCasefold(NFD(text))), with the full default case folding of Unicode. The server does the same in SQL ("search_form" in
 * prisma/migrations).
 */
export function searchFormOf(text: string): string {
  return Array.from(text.normalize('NFD'), foldingOf).join('').normalize('NFC');
}

function foldingOf(character: string): string {
  if (character === DOTLESS_I) return character;
  if (CHEROKEE.test(character)) return character.toUpperCase();
  // Converts to lower case first, because the capital sharp s is its own upper case.
  return character.toLowerCase().toUpperCase().toLowerCase();
}
