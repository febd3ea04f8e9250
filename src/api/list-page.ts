import { hash } from 'node:crypto';
import type { components } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/audit/actor.ts';
import { invalidField } from '../domain/errors.ts';
import { isSameText } from '../domain/text.ts';
import { cursorKeyOf, type RowPage } from '../service/resources/pages.ts';
import type { PageQuery, SortField } from '../store/resources/list.ts';
import type { Database } from '../store/sql/database.ts';
import { JsonText } from './response.ts';

/** The query of a list operation. All other members are filters. */
type ListQuery = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly sort: keyof typeof ORDERS;
};
type FiltersOf<Listing extends ListQuery> = Omit<Listing, keyof ListQuery>;

type PageResponse = {
  readonly status: 200;
  readonly headers: { readonly Link?: string };
  readonly body: JsonText;
  readonly version: string | undefined;
};

/** Reads a page of the list at the path, and responds with the rows and the cursor of the next page. */
export async function respondWithPage<Listing extends ListQuery>(
  db: Database,
  { query, caller }: { readonly query: Listing; readonly caller: Pick<Caller, 'scope' | 'cursorKey'> },
  { path, read }: { path: string; read: (page: PageQuery, filters: FiltersOf<Listing>) => Promise<RowPage> },
): Promise<PageResponse> {
  const { limit, cursor, sort, ...filters } = query;
  const listed = { sort, ...filters };
  const seal = { key: cursorKeyOf(db, caller), list: listOf(path, listed) };
  const after = cursor === undefined ? null : openCursor(seal, cursor, { path, query: listed, ...DIFFERENCES_OF_LIST });
  const { rows, version, next: position } = await read({ ...ORDERS[sort], limit, after }, filters);
  const next = position === null ? null : sealCursor(seal, position);
  const separated = rows.map((json, i) => (i === 0 ? json : `,${json}`));
  const page: components['schemas']['Page'] = { limit, next_cursor: next };
  return {
    status: 200,
    headers: next === null ? {} : { Link: `<${nextPageUrlOf(path, query, next)}>; rel="next"` },
    body: new JsonText('{"data":[', ...separated, '],"page":', JSON.stringify(page), '}'),
    version,
  };
}

type Order = Pick<PageQuery, 'sortField' | 'descending'>;

/** The order of a list for each value of the parameter `sort`. */
const ORDERS: Readonly<Record<SortField | `-${SortField}`, Order>> = {
  created_at: { sortField: 'created_at', descending: false },
  '-created_at': { sortField: 'created_at', descending: true },
  updated_at: { sortField: 'updated_at', descending: false },
  '-updated_at': { sortField: 'updated_at', descending: true },
  name: { sortField: 'name', descending: false },
  '-name': { sortField: 'name', descending: true },
};

/** The parameters that a 422 can suggest if a cursor belongs to another list. */
export const DIFFERENCES_OF_LIST: Differences = {
  choices: { sort: Object.keys(ORDERS) },
  parameters: 'sort and filters',
};
export function differencesOfFeed(types: readonly string[]): Differences {
  return { choices: { type: types }, parameters: 'type' };
}

type Differences = Pick<Listed, 'choices' | 'parameters'>;

// A cursor consists of a MAC of 22 characters (a SHA-256 in base64url, cut to 132 bits) and the position of a row in base64url.
// The key of the MAC belongs to the organization. The MAC covers the order and the filters of the list, and the encoded position.
// A cursor that was forged, or belongs to another organization or another list, is therefore refused, and each position has only
// one valid encoding. The MAC is computed from strings, because Node takes three times as long with a Buffer.

const MAC_CHARACTERS = 22;

/** The key of the MAC, and the name of the list that the MAC covers (listOf). */
export type CursorSeal = { readonly key: string; readonly list: string };

export function sealCursor(seal: CursorSeal, position: Buffer): string {
  const text = position.toString('base64url');
  return macOf(seal, text) + text;
}

type Query = Readonly<Record<string, unknown>>;

/**
 * Returns a name of the list that consists of the path, the order and the filters. A cursor of a list with another name is
 * refused.
 */
export function listOf(path: string, { sort, ...filters }: Query): string {
  return JSON.stringify([path, sort, ...Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** What a 422 needs to explain that a cursor belongs to another list. */
export type Listed = {
  readonly path: string;
  /** The order and the filters in the request. */
  readonly query: Query;
  /** The possible values of the parameters that have only a few possible values. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  /** The parameters that determine the list, such as "sort and filters". */
  readonly parameters: string;
  /** The name of the list in cursors of version 1.0 of the server. Such cursors never expire. */
  readonly earlierList?: string;
};

/** Returns the position in a cursor. Throws a 422 if the cursor belongs to another list or organization, or is damaged. */
export function openCursor(seal: CursorSeal, cursor: string, listed: Listed): Buffer {
  const text = cursor.slice(MAC_CHARACTERS);
  const isOf = (list: string) => isSameText(cursor.slice(0, MAC_CHARACTERS), macOf({ ...seal, list }, text));
  if (isOf(seal.list) || (listed.earlierList !== undefined && isOf(listed.earlierList)))
    return Buffer.from(text, 'base64url');
  const other = othersOf(listed).find(({ list }) => isOf(list));
  throw invalidField(
    'cursor',
    other === undefined
      ? `is not a cursor of this list. Send next_cursor unchanged with the same ${listed.parameters}, or start again without a cursor.`
      : `belongs to another list. Send it ${other.remedy}, or start again without a cursor.`,
  );
}

/**
 * Returns the lists that differ in one parameter from the request. A list with an additional filter, such as `search`, is not
 * included, because the value of that filter is unknown.
 */
function othersOf({ path, query, choices }: Listed): { list: string; remedy: string }[] {
  const without = Object.keys(query).map((name) => {
    const { [name]: _, ...others } = query;
    return { list: listOf(path, others), remedy: `without ${name}` };
  });
  const withOther = Object.entries(choices).flatMap(([name, values]) =>
    values.map((value) => ({ list: listOf(path, { ...query, [name]: value }), remedy: `with ${name}=${value}` })),
  );
  return [...without, ...withOther];
}

/**
 * Returns the URL of the next page. The URL is relative (RFC 8288 section 3.1), because behind a proxy only the client knows the
 * host name.
 */
export function nextPageUrlOf(path: string, query: Query, next: string): string {
  const { cursor: _, ...others } = query;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...others, cursor: next })) parameters.set(name, String(value));
  return `${path}?${parameters}`;
}

/**
 * Returns the MAC of a position. The hash is cut, which prevents a length extension attack. HMAC would create a key object on
 * each call, at ten times the cost.
 */
function macOf({ key, list }: CursorSeal, position: string): string {
  return hash('sha256', `${key}\0${list}\0${position}`, 'base64url').slice(0, MAC_CHARACTERS);
}
