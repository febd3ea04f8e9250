import type { HolderKind } from '../../domain/keys/api-key.ts';
import type { KeyUsage } from '../../domain/keys/key-usage.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Permission } from '../../domain/people/role.ts';
import type { Database } from '../sql/database.ts';
import type { Edge } from '../sql/lists.ts';
import { likeInSearchForm, partPattern } from '../sql/lists.ts';
import {
  expiresSoon,
  isActive,
  isCurrent,
  isUnexpired,
  LISTED_COLUMNS,
  type ListedKey,
  lacksAddresses,
  PEOPLE,
} from './key-row.ts';
import { firstShownOf, isShown, JSON_OF_USE, type UseJson, usageFrom } from './key-uses.ts';

// Keys as pages show them, without their hashes. Each page of a list is read by one SQL query.

export type KeyPosition = { readonly createdAt: Date; readonly id: string };

export type KeyQuery = {
  readonly userId: string;
  readonly now: Date;
  /** The position that the page follows or precedes; `null` for the first page. */
  readonly from: Edge<KeyPosition> | null;
  /** The maximum number of rows. The caller asks for one row more than it shows. */
  readonly limit: number;
};

const CURRENT = isCurrent('api_keys');
const UNEXPIRED = isUnexpired('api_keys', '$3');
const OF_HOLDER = 'organization_id = $1 and user_id = $2';
const IS_ENDED = `not (${CURRENT} and ${UNEXPIRED})`;
const MADE_FOR_OTHERS = 'organization_id = $1 and created_by_user_id = $2 and user_id <> $2';
/**
 * SQL that uses the index of current keys. Without "offset 0", PostgreSQL may scan all of the user's keys in the order of the
 * list, including the many that have ended.
 */
const CURRENT_OF_HOLDER = `(select * from api_keys where ${OF_HOLDER} and ${CURRENT} offset 0) api_keys`;

/** Returns the SQL queries of a list of keys, the newest first: for the first page, and for the pages after and before a key. */
function statementsOf(name: string, from: string, ...conditions: readonly string[]) {
  const statement = (suffix: string, direction: 'asc' | 'desc', ...more: readonly string[]) => {
    const where = [...conditions, ...more].join(' and ');
    const keys = `select * from ${from} where ${where} order by created_at ${direction}, id ${direction} limit $4`;
    const text = `select ${LISTED_COLUMNS} from (${keys}) k ${PEOPLE} order by k.created_at desc, k.id desc`;
    return { name: `${name}${suffix}`, text };
  };
  return {
    start: statement('', 'desc'),
    after: statement('_after', 'desc', '(created_at, id) < ($5::timestamptz, $6::uuid)'),
    before: statement('_before', 'asc', '(created_at, id) > ($5::timestamptz, $6::uuid)'),
  };
}

const ACTIVE = statementsOf('list_active_keys', CURRENT_OF_HOLDER, UNEXPIRED);
const ENDED = statementsOf('list_ended_keys', 'api_keys', OF_HOLDER, IS_ENDED);
const ACTIVE_FOR_OTHERS = statementsOf('list_keys_for_others', 'api_keys', MADE_FOR_OTHERS, CURRENT, UNEXPIRED);

async function listKeys(
  { pool }: Database,
  { organizationId }: OrganizationScope,
  { userId, now, from, limit }: KeyQuery,
  statements: ReturnType<typeof statementsOf>,
): Promise<ListedKey[]> {
  const position = from === null ? [] : [from.createdAt, from.id];
  const values = [organizationId, userId, now, limit, ...position];
  return (await pool.query<ListedKey>({ ...statements[from?.side ?? 'start'], values })).rows;
}

/** Lists the user's keys that are active, or those that have ended, the newest first. */
export async function listKeysOf(
  db: Database,
  scope: OrganizationScope,
  { isActive: areActive, ...page }: KeyQuery & { readonly isActive: boolean },
): Promise<ListedKey[]> {
  return listKeys(db, scope, page, areActive ? ACTIVE : ENDED);
}

/** Lists the active keys that this user created for others, the newest first. The user has seen the whole text of these keys. */
export async function listActiveKeysMadeForOthers(
  db: Database,
  scope: OrganizationScope,
  page: KeyQuery,
): Promise<ListedKey[]> {
  return listKeys(db, scope, page, ACTIVE_FOR_OTHERS);
}

const FIND = {
  name: 'find_listed_key',
  text: `select ${LISTED_COLUMNS} from api_keys k ${PEOPLE} where k.organization_id = $1 and k.user_id = $2 and k.id = $3`,
};

export async function findListedKey(db: Database, scope: OrganizationScope, key: KeyOfUser): Promise<ListedKey | null> {
  return findOne(db, scope, FIND, key);
}

const FIND_MOVED = {
  name: 'find_moved_key',
  text: `select ${LISTED_COLUMNS} from api_keys k ${PEOPLE} where k.organization_id = $1 and k.moved_from_user_id = $2 and k.id = $3`,
};

/** Returns a key that was moved from the user to an integration; `null` if there is no such key. */
export async function findMovedKey(db: Database, scope: OrganizationScope, key: KeyOfUser): Promise<ListedKey | null> {
  return findOne(db, scope, FIND_MOVED, key);
}

type KeyOfUser = { readonly userId: string; readonly id: string };

async function findOne(
  { pool }: Database,
  { organizationId }: OrganizationScope,
  statement: { readonly name: string; readonly text: string },
  { userId, id }: KeyOfUser,
): Promise<ListedKey | null> {
  const { rows } = await pool.query<ListedKey>({ ...statement, values: [organizationId, userId, id] });
  return rows[0] ?? null;
}

const MOVED = {
  name: 'list_moved_keys',
  text: `
    select ${LISTED_COLUMNS} from (
      select * from api_keys where organization_id = $1 and moved_from_user_id = $2
      order by moved_at desc, id desc limit $3) k ${PEOPLE}
    order by k.moved_at desc, k.id desc`,
};

/** Lists the keys that were moved from this user to integrations, the most recently moved first. */
export async function listKeysMovedFrom(
  db: Database,
  { organizationId }: OrganizationScope,
  { userId, limit }: { userId: string; limit: number },
): Promise<ListedKey[]> {
  return (await db.pool.query<ListedKey>({ ...MOVED, values: [organizationId, userId, limit] })).rows;
}

export type KeyCounts = { readonly active: number; readonly ended: number };
/** The numbers of a holder's keys. `hasMoved` is `true` if keys were moved from the user to integrations. */
export type KeyCountsOfHolder = KeyCounts & { readonly hasMoved: boolean };

/** Ended keys are counted up to this number plus one, so that pages can show "more than 1,000". */
export const MAX_COUNTED_KEYS = 1000;

const COUNT = {
  name: 'count_keys_of',
  text: `
    select (select count(*)::int from api_keys where ${OF_HOLDER} and ${CURRENT} and ${UNEXPIRED}) as active,
           (select count(*)::int from (
              select 1 from api_keys where ${OF_HOLDER} and ${IS_ENDED} limit ${MAX_COUNTED_KEYS + 1}) keys) as ended,
           exists (select 1 from api_keys where organization_id = $1 and moved_from_user_id = $2) as "hasMoved"`,
};

/** Counts the user's keys; `ended` is at most MAX_COUNTED_KEYS + 1. */
export async function countKeysOf(
  db: Database,
  scope: OrganizationScope,
  { userId, now }: { userId: string; now: Date },
): Promise<KeyCountsOfHolder> {
  const { rows } = await db.pool.query<KeyCountsOfHolder>({ ...COUNT, values: [scope.organizationId, userId, now] });
  return rows[0] ?? { active: 0, ended: 0, hasMoved: false };
}

// The keys of a whole organization. The list and its counts read all matching keys, because the totals require that anyway.

export type KeyFilters = {
  /** A part of the key's name or prefix; the letter case is ignored in names. An empty string matches all keys. */
  readonly search: string;
  /**
   * A part of the name or the e-mail of the key's user or integration, ignoring the letter case. An empty string matches all
   * keys.
   */
  readonly holder: string;
  /** A permission that the key must have; `null` for all keys. */
  readonly permission: Permission | null;
  /** Whether only keys without a recorded use are listed. */
  readonly isUnused: boolean;
  /** Whether only keys that expire soon are listed. */
  readonly isExpiringSoon: boolean;
  /** Whether only keys that may write from any address are listed. */
  readonly lacksAddresses: boolean;
};

/**
 * "latest": the most recently used keys first, and keys without a use last. "oldest": the reverse. "expiry": the keys that expire
 * next first.
 */
export type KeyOrder = 'latest' | 'oldest' | 'expiry';

/** A position in the list of all keys. `at` is the key's last use or expiry, depending on the order; `null` if there is none. */
export type OrganizationKeyPosition = { readonly at: Date | null; readonly id: string };

export type OrganizationKeyQuery = {
  readonly filters: KeyFilters;
  readonly isActive: boolean;
  readonly order: KeyOrder;
  /** The position that the page follows or precedes; `null` for the first page. */
  readonly from: Edge<OrganizationKeyPosition> | null;
  readonly now: Date;
  /** The maximum number of rows. The caller asks for one row more than it shows. */
  readonly limit: number;
};

const IS_ACTIVE = isActive('k', '$2');
const EXPIRES_SOON = expiresSoon('k', '$2');
const LACKS_ADDRESSES = lacksAddresses('k');
const ORDERED_BY: Record<KeyOrder, string> = {
  latest: 'k.last_used_at',
  oldest: 'k.last_used_at',
  expiry: 'k.expires_at',
};

/** Returns the SQL condition that the name or the prefix contains the text. */
function containsPart(pattern: string): string {
  return `(${likeInSearchForm('k.name', pattern)} or k.key_prefix like ${pattern})`;
}

function matching({ organizationId }: OrganizationScope, now: Date, filters: KeyFilters) {
  const { search, holder, permission } = filters;
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
  if (filters.isUnused) conditions.push('k.last_used_at is null');
  if (filters.isExpiringSoon) conditions.push(EXPIRES_SOON);
  if (filters.lacksAddresses) conditions.push(LACKS_ADDRESSES);
  return { values, bind, conditions };
}

export async function listOrganizationKeys(
  db: Database,
  scope: OrganizationScope,
  { filters, order, from, now, limit, ...query }: OrganizationKeyQuery,
): Promise<ListedKey[]> {
  const { values, bind, conditions } = matching(scope, now, filters);
  conditions.push(query.isActive ? IS_ACTIVE : `not (${IS_ACTIVE})`);
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
  const text = `select ${LISTED_COLUMNS} from (${page}) k ${PEOPLE} ${orderBy(isLatestFirst)}`;
  return (await db.pool.query<ListedKey>({ text, values })).rows;
}

/** The numbers of the organization's active keys that need attention, regardless of the filters. */
export type AttentionCounts = {
  readonly expiringSoon: number;
  readonly unused: number;
  /** The number of keys that may write from any address. */
  readonly lackingAddresses: number;
  /** Whether the organization requires a list of allowed addresses for each key that may write. */
  readonly requiresAddresses: boolean;
};

/** Returns how many keys match the filters, regardless of the page, and how many of all keys need attention. */
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

/** Returns the key with this SHA-256 in hexadecimal, with its user or integration; `null` if the organization has no such key. */
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

/** Returns the ids of at most `limit` keys whose name or prefix contains the text. The letter case is ignored in names. */
export async function listMatchingKeys(
  db: Database,
  scope: OrganizationScope,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<string[]> {
  const values = [scope.organizationId, partPattern(text), limit];
  const { rows } = await db.pool.query<{ id: string }>({ ...FIND_MATCHING, values });
  return rows.map(({ id }) => id);
}

/**
 * A key in a chain of rotations, with its position relative to the requested key: 0 for the requested key itself, -1 for its
 * predecessor, 1 for its successor.
 */
export type RotatedKey = ListedKey & { readonly step: number };

/** The maximum number of predecessors, and also of successors, that are read for a key. */
export const MAX_STEPS = 10;

const FIND_ROTATIONS = {
  name: 'find_key_rotations',
  text: `
    with recursive asked as (
      select id, successor_id from api_keys where organization_id = $1 and user_id = $2 and id = $3),
    earlier as (
      select id, 0 as step from asked
      union all
      select k.id, earlier.step - 1
      from earlier join api_keys k on k.organization_id = $1 and k.successor_id = earlier.id
      where earlier.step > -${MAX_STEPS}),
    later as (
      select id, successor_id, 0 as step from asked
      union all
      select k.id, k.successor_id, later.step + 1
      from later join api_keys k on k.organization_id = $1 and k.id = later.successor_id
      where later.step < ${MAX_STEPS}),
    line as (select id, step from earlier union select id, step from later)
    select ${LISTED_COLUMNS}, line.step,
      case line.step when 0 then (
        select json_agg(${JSON_OF_USE}) from key_uses u
        where u.organization_id = $1 and u.key_id = k.id and ${isShown('$4', '$5')}) end as uses
    from line join api_keys k on k.organization_id = $1 and k.id = line.id ${PEOPLE}
    order by line.step`,
};

/**
 * Returns a user's key with its predecessors and successors, the oldest first, and the numbers of requests made with the key
 * itself. `keys` is empty if the user has no such key.
 */
export async function listKeyRotations(
  db: Database,
  scope: OrganizationScope,
  { userId, id, now }: { userId: string; id: string; now: Date },
): Promise<{ readonly keys: readonly RotatedKey[]; readonly usage: KeyUsage }> {
  const values = [scope.organizationId, userId, id, ...firstShownOf(now)];
  const { rows } = await db.pool.query<RotatedKey & { uses: UseJson[] | null }>({ ...FIND_ROTATIONS, values });
  return { keys: rows, usage: usageFrom(rows.find(({ step }) => step === 0)?.uses ?? null, now) };
}
