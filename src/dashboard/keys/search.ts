import { findKeyInText, withoutKey } from '../../domain/keys/api-key.ts';
import { searchText } from '../../domain/name.ts';
import { PERMISSIONS } from '../../domain/people/role.ts';
import { html } from '../../html/html.ts';
import { findKeyOwner } from '../../service/keys/organization-keys.ts';
import { hiddenField, select, text, withNormalForm, withParser } from '../forms/fields.ts';
import { type Typed, typedOf } from '../forms/form.ts';
import { keysUrlOf, keyUrl, ORGANIZATION_KEYS_URL, urlOf } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';

/**
 * Returns the URL to which a search leads: the page of the key, or the list of the keys with the prefix. Returns `null` if the
 * search contains neither a key nor the start of a key. The URL contains at most the prefix of the key. `back` is a result of
 * backFrom.
 */
export async function findKeyUrl(
  { dashboard, actor }: SignedInContext,
  search: string,
  back: string | null = null,
): Promise<string | null> {
  const found = findKeyInText(search);
  if (found === null) return null;
  const owner = found.kind === 'whole' ? await findKeyOwner(dashboard.db, actor, found.key) : null;
  if (owner !== null) {
    const holder = { id: owner.holderId, kind: owner.holderKind };
    return keyUrl(owner, { listUrl: keysUrlOf(holder), back });
  }
  const notice = { whole: 'unknown', mistyped: 'mistyped', part: null }[found.kind];
  return urlOf(ORGANIZATION_KEYS_URL, { search: found.prefix, notice });
}

const MAX_CHARACTERS = 100;

const cut = (text: string) => searchText(text, MAX_CHARACTERS);
export const cutToPrefix = (text: string) => withoutKey(cut(text));

const searchField = (label: string, placeholder?: string) =>
  text<unknown>({
    label,
    type: 'search',
    attributes: html`${placeholder !== undefined && html`placeholder="${placeholder}" `}maxlength="300" autocomplete="off" spellcheck="false"`,
  });

/** Creates a search field. Its value is cut to MAX_CHARACTERS, and each whole key in it is replaced with the key's prefix. */
export const keySearchField = (label: string, placeholder?: string) =>
  withNormalForm(searchField(label, placeholder), cutToPrefix);

const filter = <Props>(label: string, options: Parameters<typeof select<Props>>[0]['options']) =>
  withNormalForm(select({ label, options }), cut);

const LATEST_FIRST = 'Last used first';
const OLDEST_FIRST = { value: 'oldest', words: 'Longest unused first' };
const ANY = { value: '', words: 'Any' };

/** The filters of the organization's list. An empty value means no filter; for `state` and `order`, the first option. */
export const FILTERS = {
  state: withNormalForm(hiddenField(), cut),
  /**
   * The handler gets the whole text, because a search for a whole key leads to that key's page. Pages and URLs contain only the
   * prefix.
   */
  search: withParser(withNormalForm(searchField('Name, prefix or whole key'), cutToPrefix), (sent) => sent),
  holder: keySearchField('Acts for'),
  permission: filter('Permission', [ANY, ...PERMISSIONS.map((each) => ({ value: each, words: each }))]),
  use: filter('Use', [ANY, { value: 'never', words: 'No use recorded' }]),
  expiry: filter('Expiry', [ANY, { value: 'soon', words: 'Expires soon' }]),
  addresses: filter('Allowed addresses', [ANY, { value: 'none', words: 'None, may write' }]),
  order: filter('Order', ({ expiry }: { readonly expiry: string }) =>
    expiry === 'soon'
      ? [{ value: '', words: 'Next to expire first' }, { value: 'latest', words: LATEST_FIRST }, OLDEST_FIRST]
      : [{ value: '', words: LATEST_FIRST }, OLDEST_FIRST],
  ),
};

export type FilterValues = Typed<typeof FILTERS>;

/**
 * Returns the query string with the filters and the position in the organization's list, or "?" if there are none. The URLs of a
 * key's pages contain this text as "back", so that the pages can link back to the list.
 */
export function backFrom(query: URLSearchParams): string {
  return urlOf('', { ...typedOf(FILTERS, query), after: query.get('after'), before: query.get('before') }) || '?';
}

/**
 * Returns the "back" parameter of a request, reduced to filters and a position; `null` if the parameter does not begin with "?".
 */
export function readBack(sent: string | null): string | null {
  return sent?.startsWith('?') === true ? backFrom(new URLSearchParams(sent)) : null;
}

export function backUrlOf(back: string): string {
  return `${ORGANIZATION_KEYS_URL}${back === '?' ? '' : back}`;
}
