import type { Actor } from '../../domain/audit/actor.ts';
import { hashKey } from '../../domain/keys/api-key.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { withNormalDomain } from '../../domain/people/email.ts';
import { mayRevokeKeysOfOthers } from '../../domain/people/role.ts';
import type { TimeSpan } from '../../domain/time.ts';
import {
  type AttentionCounts,
  countOrganizationKeys,
  type FoundKey,
  findOrganizationKeyByHash,
  type KeyCounts,
  listMatchingKeys,
  listOrganizationKeys,
  type OrganizationKeyPosition,
  type OrganizationKeyQuery,
} from '../../store/keys/key-lists.ts';
import type { ListedKey } from '../../store/keys/key-row.ts';
import {
  type CountedKeyUse,
  listCountedUses,
  type OrganizationUse,
  sumOrganizationUse,
} from '../../store/keys/key-uses.ts';
import {
  type KeyOperationUse,
  listOperationUses,
  type OperationUse,
  sumOperationUses,
} from '../../store/keys/operation-uses.ts';
import type { Database } from '../../store/sql/database.ts';
import { checkKeyActions, type KeyAccess } from '../authority/keys.ts';
import { requireRight } from '../authority/rights.ts';
import { decodePosition, eachPage, encodePosition, parseInstant, readListPage } from '../list-position.ts';
import { detailsOf, type KeyDetails } from './list-keys.ts';

/** The position at which a page of the list starts (`after`) or ends (`before`). At least one of the two is `null`. */
export type KeyListPosition = { readonly after: string | null; readonly before: string | null };

/** A key, and what the actor may do with it. */
export type OrganizationKey = KeyDetails & Pick<KeyAccess, 'refusal' | 'mayRevoke'>;

export type OrganizationKeyList = {
  readonly keys: readonly OrganizationKey[];
  /** The numbers of keys on all pages of the list, and of all keys that need attention. */
  readonly counts: KeyCounts & AttentionCounts;
  /** The `before` parameter of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** The `after` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
};

type Request = Pick<OrganizationKeyQuery, 'filters' | 'isActive' | 'order' | 'now'> & KeyListPosition;

const PAGE_SIZE = 50;

/** Lists the keys of all users and integrations of the organization, for an actor who may see them. */
export async function listAllKeys(
  db: Database,
  actor: Actor,
  { after, before, ...request }: Request,
): Promise<OrganizationKeyList> {
  requireRight(actor, 'see keys of others');
  const filters = { ...request.filters, holder: withNormalDomain(request.filters.holder) };
  const query = { ...request, filters };
  const counts = await countOrganizationKeys(db, actor.scope, query);
  const window = { after: positionOf(after), before: positionOf(before), size: PAGE_SIZE };
  const { rows, previous, next } = await readListPage(
    window,
    (from, limit) => listOrganizationKeys(db, actor.scope, { ...query, from, limit }),
    ({ lastUsedAt, expiresAt, id }) =>
      encodePosition((query.order === 'expiry' ? expiresAt : lastUsedAt)?.toISOString() ?? '', id),
  );
  return {
    keys: rows.map((row) => ({ ...detailsOf(row, query.now), ...accessOf(row, actor) })),
    counts,
    previous,
    next,
  };
}

const ALL_KEYS = {
  search: '',
  holder: '',
  permission: null,
  isUnused: false,
  isExpiringSoon: false,
  lacksAddresses: false,
} as const;

/** Counts the keys of the organization, and those that need attention, in one SQL query. */
export async function countAllKeys(db: Database, actor: Actor, now: Date): Promise<KeyCounts & AttentionCounts> {
  requireRight(actor, 'see keys of others');
  return countOrganizationKeys(db, actor.scope, { filters: ALL_KEYS, now });
}

function accessOf(key: ListedKey, { userId, role, isSuspended }: Actor): Pick<KeyAccess, 'refusal' | 'mayRevoke'> {
  const holder = {
    id: key.holderId,
    kind: key.holderKind,
    name: key.holderName,
    role: key.holderRole,
    deactivatedAt: key.holderDeactivatedAt,
    ownerUserId: key.holderOwnerId,
  };
  // The organization's policy does not matter here, because it restricts only members, and members do not see the keys of others.
  const policy = { membersMayCreateKeys: false };
  const refusal = checkKeyActions({ actor: { id: userId, role }, holder, policy, isSuspended });
  return { refusal, mayRevoke: mayRevokeKeysOfOthers(role) };
}

function positionOf(text: string | null): OrganizationKeyPosition | null {
  const position = decodePosition(text);
  const [instant = ''] = position?.parts ?? [];
  if (position === null) return null;
  const at = instant === '' ? null : parseInstant(instant);
  return at === undefined ? null : { at, id: position.id };
}

/** Returns the id and the holder of a key of the organization, or `null` if the organization has no such key. */
export async function findKeyOwner(db: Database, actor: Actor, key: string): Promise<FoundKey | null> {
  requireRight(actor, 'see keys of others');
  return findOrganizationKeyByHash(db, actor.scope, hashKey(key));
}

/** The number of keys in the list of the most used keys. */
const MOST_USED = 10;

/** `key` is a part of the names or the prefixes of the keys; empty for all keys. `operation` is `null` for all operations. */
export type UseFilters = TimeSpan & { readonly key: string; readonly operation: string | null };

export type UseRequest = UseFilters & { readonly now: Date };

export type FilteredUse = OrganizationUse & { readonly byOperation: readonly OperationUse[] };

/**
 * Returns the use of the keys that match, for an actor who may see all keys. `byOperation` has the other operations, too, so that
 * people can choose one of them.
 */
export async function getOrganizationUse(
  db: Database,
  actor: Actor,
  { key, ...request }: UseRequest,
): Promise<FilteredUse> {
  requireRight(actor, 'see keys of others');
  const keyIds = await listKeyIds(db, actor, key);
  const [use, byOperation] = await Promise.all([
    sumOrganizationUse(db, actor.scope, { ...request, keyIds, keys: MOST_USED }),
    sumOperationUses(db, actor.scope, { ...request, keyIds }),
  ]);
  return { ...use, byOperation };
}

const EXPORT_PAGE_SIZE = 1000;

/** Yields the counts of requests with the keys that match, by key and time, in chunks of at most 1,000. */
export function exportOrganizationUse(
  db: Database,
  actor: Actor,
  request: UseRequest,
): AsyncGenerator<readonly CountedKeyUse[], void, undefined> {
  requireRight(actor, 'see keys of others');
  return exportUsePages(db, actor, request, listCountedUses);
}

/** Yields the counts of requests with the keys that match, by key, operation and day, in chunks of at most 1,000. */
export function exportOperationUse(
  db: Database,
  actor: Actor,
  request: UseRequest,
): AsyncGenerator<readonly KeyOperationUse[], void, undefined> {
  requireRight(actor, 'see keys of others');
  return exportUsePages(db, actor, request, listOperationUses);
}

type PageOfUses<T> = Omit<UseRequest, 'key'> & { keyIds: readonly string[] | null; after: T | null; limit: number };

async function* exportUsePages<T>(
  db: Database,
  actor: Actor,
  { key, ...request }: UseRequest,
  list: (db: Database, scope: OrganizationScope, page: PageOfUses<T>) => Promise<T[]>,
) {
  const keyIds = await listKeyIds(db, actor, key);
  yield* eachPage<T, T>(async (after) => {
    const rows = await list(db, actor.scope, { ...request, keyIds, after, limit: EXPORT_PAGE_SIZE });
    return { rows, next: rows.length < EXPORT_PAGE_SIZE ? null : (rows.at(-1) ?? null) };
  });
}

/** The maximum number of keys whose requests a search finds. */
const MAX_MATCHING_KEYS = 200;

/** Returns the ids of the keys whose name or prefix contains the text, or `null` for all keys if the text is empty. */
export async function listKeyIds(db: Database, { scope }: Actor, text: string): Promise<readonly string[] | null> {
  return text === '' ? null : listMatchingKeys(db, scope, { text, limit: MAX_MATCHING_KEYS });
}
