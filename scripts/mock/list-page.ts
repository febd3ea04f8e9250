import { nextPage, openCursor, sealCursor } from '../../src/api/cursor.ts';
import type { Json } from '../../src/api/document.ts';
import { readInstant } from '../../src/api/instant.ts';
import type { Collection } from './collection.ts';

type Query = Readonly<Record<string, unknown>>;
/** `path` has its parameters filled in. */
export type Called = { readonly path: string; readonly query: Query };

/** Signs the mock's cursors; a server refuses them. */
const CURSOR_KEY = 'The mock of Charter signs cursors';

/** One page of a collection, filtered and sorted as the query says, by the names that the contract uses. */
export function pageOf(
  { items }: Collection,
  { path, query }: Called,
): { body: Json; headers: Record<string, string> } {
  const { limit = items.length, cursor, ...rest } = query;
  const seal = { key: CURSOR_KEY, list: JSON.stringify(rest) };
  const all = sort(
    items.filter((item) => matches(item, rest)),
    query['sort'],
  );
  const start = typeof cursor === 'string' ? positionAfter(openCursor(seal, cursor).toString(), all) : 0;
  const data = all.slice(start, start + Number(limit));
  const last = start + data.length < all.length ? data.at(-1) : undefined;
  const nextCursor = last === undefined ? null : sealCursor(seal, Buffer.from(String(last['id'])));
  return { body: { data, page: { limit, next_cursor: nextCursor } }, headers: linkTo({ path, query }, nextCursor) };
}

/** The Link header to the next page; none where `nextCursor` is null. */
export function linkTo({ path, query }: Called, nextCursor: unknown): Record<string, string> {
  return typeof nextCursor === 'string' ? { Link: `<${nextPage(path, query, nextCursor)}>; rel="next"` } : {};
}

function positionAfter(id: string, items: readonly Json[]): number {
  return items.findIndex((item) => String(item['id']) === id) + 1;
}

function matches(item: Json, query: Query): boolean {
  return Object.entries(query).every(([name, value]) => {
    if (name === 'search') return String(item['name']).toLowerCase().includes(String(value).toLowerCase());
    if (name === 'updated_since') return new Date(String(item['updated_at'])) >= readInstant(String(value));
    return !Object.hasOwn(item, name) || item[name] === value;
  });
}

function sort(items: readonly Json[], order: unknown): Json[] {
  const [, minus, field = ''] = /^(-?)(\w+)$/.exec(String(order)) ?? [];
  const sign = minus === '-' ? -1 : 1;
  return items.toSorted((a, b) => sign * (compare(a[field], b[field]) || compare(a['id'], b['id'])));
}

function compare(a: unknown, b: unknown): number {
  if (a === b || a === undefined || b === undefined) return 0;
  return String(a) < String(b) ? -1 : 1;
}
