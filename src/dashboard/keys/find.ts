import { findKeyIn } from '../../domain/api-key.ts';
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
  const found = findKeyIn(text);
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
  return findKeyIn(text)?.prefix ?? text;
}
