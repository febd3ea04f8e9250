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
/** `path` has its parameters filled in. */
type Called = { readonly path: string; readonly query: Query };

/** Signs the mock's cursors; a server refuses them. */
const CURSOR_KEY = 'The mock of Charter signs cursors';

/**
 * One page of the items, filtered and sorted as the query says, by the names that the contract uses. Items without a sort order
 * are sorted by id.
 */
export function pageOf(
  items: readonly Json[],
  { path, query }: Called,
  { isFeed, eventTypes }: Pick<Collection, 'isFeed' | 'eventTypes'>,
): { body: Json; headers: Record<string, string> } {
  // The cursor of a feed tells where to go on, whatever `since` the first page began with.
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

/** The Link header to the next page; none where `nextCursor` is null. */
export function linkTo({ path, query }: Called, nextCursor: unknown): Record<string, string> {
  return typeof nextCursor === 'string' ? { Link: `<${nextPageUrlOf(path, query, nextCursor)}>; rel="next"` } : {};
}

type Order = { readonly field: string; readonly compare: (a: Json, b: Json) => number };

function orderOf(sort: unknown): Order {
  const [, minus, field = ''] = /^(-?)(\w+)$/.exec(String(sort)) ?? [];
  const sign = minus === '-' ? -1 : 1;
  return { field, compare: (a, b) => sign * (compareTexts(a[field], b[field]) || compareTexts(a['id'], b['id'])) };
}

/** The values that determine the order, so that a page can start where an item was that has since been deleted. */
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

/** Compares by Unicode code point, as the server does. The bytes of UTF-8 have the same order. */
function compareTexts(a: unknown, b: unknown): number {
  if (a === b || a === undefined || b === undefined) return 0;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

/** Letters whose folding is not the lower case of their upper case: Cherokee is folded to capitals. */
const CHEROKEE = /[\u13a0-\u13ff\uab70-\uabbf]/;
const DOTLESS_I = 'ı';

/**
 * The form in which searches compare texts, without differences of letter case and of normal forms: NFC(toCasefold(NFD(text))),
 * with the full default case folding of Unicode. The server has it in SQL ("search_form" in prisma/migrations).
 */
export function searchFormOf(text: string): string {
  return Array.from(text.normalize('NFD'), foldingOf).join('').normalize('NFC');
}

function foldingOf(character: string): string {
  if (character === DOTLESS_I) return character;
  if (CHEROKEE.test(character)) return character.toUpperCase();
  // Lower case first, because the capital sharp s is its own upper case.
  return character.toLowerCase().toUpperCase().toLowerCase();
}
