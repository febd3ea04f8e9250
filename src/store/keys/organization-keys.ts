import { SOON_DAYS, SOON_SHARE } from '../../domain/keys/api-key.ts';
import type { HolderKind } from '../../domain/keys/holder.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type Permission, READ_PERMISSIONS } from '../../domain/people/role.ts';
import type { Database } from '../sql/database.ts';
import { likeInSearchForm, partPattern } from '../sql/like.ts';
import type { Edge } from '../sql/list-edge.ts';
import { isActive } from './api-keys.ts';
import { COLUMNS, type KeyCounts, type ListedKey, PEOPLE } from './key-lists.ts';

// The keys of a whole organization. Both statements read all of its keys that match: the totals need them anyway.

export type KeyFilters = {
  /** A part of the name or of the prefix, case-insensitive in the name. An empty text finds all keys. */
  readonly search: string;
  /** A part of the name or the e-mail of the user or integration, case-insensitive. An empty text finds the keys of all. */
  readonly holder: string;
  /** `null` for all keys. */
  readonly permission: Permission | null;
  /** Only keys without a recorded use. */
  readonly isUnused: boolean;
  /** Only keys that expire soon (isExpiringSoon). */
  readonly isExpiringSoon: boolean;
  /** Only keys that may write from any address. */
  readonly lacksAddresses: boolean;
};

/** "latest": the last used keys first, keys without a use last; "oldest": the reverse; "expiry": the next to expire first. */
export type KeyOrder = 'latest' | 'oldest' | 'expiry';

/** A position in the list of all keys. `at`: the last use or the expiry, as the order says; `null` if there is none. */
export type OrganizationKeyPosition = { readonly at: Date | null; readonly id: string };

export type OrganizationKeyQuery = {
  readonly filters: KeyFilters;
  readonly isActive: boolean;
  readonly order: KeyOrder;
  /** `null` for the first page. */
  readonly from: Edge<OrganizationKeyPosition> | null;
  readonly now: Date;
  /** Maximum number of rows. The caller asks for one more than it shows. */
  readonly limit: number;
};

const IS_ACTIVE = isActive('k', '$2');
/** The same condition as isExpiringSoon. */
const EXPIRES_SOON = `k.expires_at > greatest($2, k.expired_at) and k.expires_at - $2::timestamptz
  <= least(interval '${SOON_DAYS} days', (k.expires_at - k.created_at) / ${SOON_SHARE})`;
/** The same condition as lacksAddresses. */
const LACKS_ADDRESSES = `k.allowed_addresses = '{}' and not k.permissions <@ array[${READ_PERMISSIONS.map((each) => `'${each}'`).join(', ')}]::varchar[]`;
const ORDERED_BY: Record<KeyOrder, string> = {
  latest: 'k.last_used_at',
  oldest: 'k.last_used_at',
  expiry: 'k.expires_at',
};

/** Whether the name or the prefix contains the text. */
function containsPart(pattern: string): string {
  return `(${likeInSearchForm('k.name', pattern)} or k.key_prefix like ${pattern})`;
}

function matching({ organizationId }: OrganizationScope, now: Date, filters: KeyFilters) {
  const { search, holder, permission, isUnused, isExpiringSoon, lacksAddresses } = filters;
  const values: unknown[] = [organizationId, now];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const bindPart = (text: string) => `${bind(partPattern(text))}::text`;
  const conditions = ['k.organization_id = $1'];
  if (search !== '') conditions.push(containsPart(bindPart(search)));
  if (holder !== '') {
    const part = bindPart(holder);
    conditions.push(`k.user_id in (
      select u.id from users u
      where u.organization_id = $1 and ${likeInSearchForm("u.name || ' ' || u.email", part)}
      union all
      select u.id from users u
      where u.organization_id = $1 and u.kind = 'integration' and ${likeInSearchForm('u.name', part)})`);
  }
  if (permission !== null) conditions.push(`${bind(permission)} = any(k.permissions)`);
  if (isUnused) conditions.push('k.last_used_at is null');
  if (isExpiringSoon) conditions.push(EXPIRES_SOON);
  if (lacksAddresses) conditions.push(LACKS_ADDRESSES);
  return { values, bind, conditions };
}

/** In the order of the list. */
export async function listOrganizationKeys(
  db: Database,
  scope: OrganizationScope,
  { filters, isActive, order, from, now, limit }: OrganizationKeyQuery,
): Promise<ListedKey[]> {
  const { values, bind, conditions } = matching(scope, now, filters);
  conditions.push(isActive ? IS_ACTIVE : `not (${IS_ACTIVE})`);
  const at = `coalesce(${ORDERED_BY[order]}, '-infinity')`;
  const isLatestFirst = order === 'latest';
  const isReversed = from?.side === 'before';
  const isDescending = isLatestFirst !== isReversed;
  if (from !== null) {
    const position = `(coalesce(${bind(from.at)}::timestamptz, '-infinity'), ${bind(from.id)}::uuid)`;
    conditions.push(`(${at}, k.id) ${isDescending ? '<' : '>'} ${position}`);
  }
  const orderBy = (descending: boolean) => {
    const direction = descending ? 'desc' : 'asc';
    return `order by ${at} ${direction}, k.id ${direction}`;
  };
  const page = `select * from api_keys k where ${conditions.join(' and ')} ${orderBy(isDescending)} limit ${bind(limit)}`;
  const text = `select ${COLUMNS} from (${page}) k ${PEOPLE} ${orderBy(isLatestFirst)}`;
  return (await db.pool.query<ListedKey>({ text, values })).rows;
}

/** Active keys of the whole organization that need attention, whatever the filters. */
export type AttentionCounts = {
  readonly expiringSoon: number;
  readonly unused: number;
  /** Keys that may write from any address. */
  readonly lackingAddresses: number;
  /** Whether the organization requires a list of allowed addresses for each key that may write. */
  readonly requiresAddresses: boolean;
};

/** How many keys match, whatever the list page, and how many of all keys need attention. */
export async function countOrganizationKeys(
  db: Database,
  scope: OrganizationScope,
  { filters, now }: Pick<OrganizationKeyQuery, 'filters' | 'now'>,
): Promise<KeyCounts & AttentionCounts> {
  const { values, conditions } = matching(scope, now, filters);
  const isMatch = conditions.join(' and ');
  const count = (name: string, condition: string) => `count(*) filter (where ${condition})::int as "${name}"`;
  const counts = [
    count('active', `${isMatch} and ${IS_ACTIVE}`),
    count('ended', `${isMatch} and not (${IS_ACTIVE})`),
    count('expiringSoon', `${IS_ACTIVE} and ${EXPIRES_SOON}`),
    count('unused', `${IS_ACTIVE} and k.last_used_at is null`),
    count('lackingAddresses', `${IS_ACTIVE} and ${LACKS_ADDRESSES}`),
    '(select o.requires_addresses from organizations o where o.id = $1) as "requiresAddresses"',
  ];
  const text = `select ${counts.join(', ')} from api_keys k where k.organization_id = $1`;
  const { rows } = await db.pool.query<KeyCounts & AttentionCounts>({ text, values });
  const none = { active: 0, ended: 0, expiringSoon: 0, unused: 0, lackingAddresses: 0 };
  return rows[0] ?? { ...none, requiresAddresses: false };
}

const FIND_BY_HASH = {
  name: 'find_organization_key_by_hash',
  text: `
    select k.id, u.id as "holderId", u.kind as "holderKind"
    from api_keys k join users u on u.organization_id = k.organization_id and u.id = k.user_id
    where k.organization_id = $1 and k.key_hash = $2`,
};

export type FoundKey = { readonly id: string; readonly holderId: string; readonly holderKind: HolderKind };

/** The key with this SHA-256, in hexadecimal, and its user or integration; `null` if the organization has no such key. */
export async function findOrganizationKeyByHash(
  db: Database,
  scope: OrganizationScope,
  hash: string,
): Promise<FoundKey | null> {
  const values = [scope.organizationId, Buffer.from(hash, 'hex')];
  const { rows } = await db.pool.query<FoundKey>({ ...FIND_BY_HASH, values });
  return rows[0] ?? null;
}

const FIND_MATCHING = {
  name: 'find_matching_keys',
  text: `select k.id from api_keys k where k.organization_id = $1 and ${containsPart('$2::text')} order by k.id desc limit $3`,
};

/** The ids of the keys whose name or prefix contains the text, case-insensitive in the name; at most `limit`. */
export async function findMatchingKeys(
  db: Database,
  scope: OrganizationScope,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<string[]> {
  const values = [scope.organizationId, partPattern(text), limit];
  const { rows } = await db.pool.query<{ id: string }>({ ...FIND_MATCHING, values });
  return rows.map(({ id }) => id);
}
