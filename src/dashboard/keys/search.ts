import { findKeyInText } from '../../domain/keys/api-key.ts';
import { searchText } from '../../domain/name.ts';
import { findKeyOwner } from '../../service/keys/organization-keys.ts';
import { keysUrlOf, keyUrl, ORGANIZATION_KEYS_URL, urlOf } from '../addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';

/**
 * Where a search for a key leads: to the page of that key, or to the keys with its prefix. `null` if the text contains no key
 * and no start of one. The URL never contains more of the key than its prefix. `back`: see backFrom.
 */
export async function findKeyUrl(
  { dashboard, actor }: SignedInContext,
  text: string,
  back: string | null = null,
): Promise<string | null> {
  const found = findKeyInText(text);
  if (found === null) return null;
  const owner = found.kind === 'whole' ? await findKeyOwner(dashboard.db, actor, found.key) : null;
  if (owner !== null) {
    const holder = { id: owner.holderId, kind: owner.holderKind };
    return keyUrl(owner, { listUrl: keysUrlOf(holder), back });
  }
  const notice = { whole: 'unknown', mistyped: 'mistyped', part: null }[found.kind];
  return urlOf(ORGANIZATION_KEYS_URL, { search: found.prefix, notice });
}

/** A text for a search, without what follows the prefix of a key in it. */
export function withoutKey(text: string): string {
  return findKeyInText(text)?.prefix ?? text;
}

export const FILTER_FIELDS = [
  'search',
  'holder',
  'permission',
  'use',
  'expiry',
  'addresses',
  'order',
  'state',
] as const;

/** The values of the filter form's fields. An empty value is no filter, or the first of the choices. */
export type FilterValues = Readonly<Record<(typeof FILTER_FIELDS)[number], string>>;

const MAX_CHARACTERS = 100;

export function filterValues(read: (name: (typeof FILTER_FIELDS)[number]) => string): FilterValues {
  const text = (name: (typeof FILTER_FIELDS)[number]) => searchText(read(name), MAX_CHARACTERS);
  return {
    search: withoutKey(text('search')),
    holder: withoutKey(text('holder')),
    permission: text('permission'),
    use: text('use'),
    expiry: text('expiry'),
    addresses: text('addresses'),
    order: text('order'),
    state: text('state'),
  };
}

/**
 * The value of "back" in the URLs of a key's pages, by which they lead back to the organization's list: "?" and the filters and
 * the position of the list.
 */
export function backFrom(query: URLSearchParams): string {
  const values = filterValues((name) => query.get(name) ?? '');
  return urlOf('', { ...values, after: query.get('after'), before: query.get('before') }) || '?';
}

/** The value as it was sent, without anything that is neither a filter nor a position; `null` if there is none. */
export function readBack(sent: string | null): string | null {
  return sent?.startsWith('?') === true ? backFrom(new URLSearchParams(sent)) : null;
}

export function backUrlOf(back: string): string {
  return `${ORGANIZATION_KEYS_URL}${back === '?' ? '' : back}`;
}
