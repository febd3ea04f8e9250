import type { HolderKind } from '../../domain/keys/holder.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Role } from '../../domain/people/role.ts';
import type { Database } from '../sql/database.ts';
import type { Edge } from '../sql/list-edge.ts';
import { isCurrent, isUnexpired } from './api-keys.ts';

// Keys as lists show them, without their hashes. Each list page is one statement.

export type ListedKey = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly permissions: readonly string[];
  readonly createdAt: Date;
  /** `null` for an operator. */
  readonly createdBy: string | null;
  readonly lastUsedAt: Date | null;
  /** The network of the client at the last use: an IPv4 address or an IPv6 /64; `null` if it is not known. */
  readonly lastUsedNetwork: string | null;
  /** The product of the client at the last use, such as "curl/8.5.0"; `null` if it is not known. */
  readonly lastUsedClient: string | null;
  readonly expiresAt: Date | null;
  /** See endOf. */
  readonly expiredAt: Date | null;
  readonly rotatedAt: Date | null;
  readonly rotatedBy: string | null;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  /** Whether the key was revoked because it was reported as leaked. */
  readonly isLeaked: boolean;
  /** Whether Charter revoked the key because it was not used. */
  readonly isUnused: boolean;
  readonly refusedUses: number;
  /** The addresses and subnets from which the key may be used. Empty if any address may use it. */
  readonly addresses: readonly string[];
  /** The key's own limit; `null` if it has that of its organization. */
  readonly requestsPerSecond: number | null;
  readonly holderId: string;
  readonly holderKind: HolderKind;
  readonly holderName: string;
  /** `null` exactly for an integration. */
  readonly holderEmail: string | null;
  readonly holderRole: Role;
  readonly holderDeactivatedAt: Date | null;
  /** The owner of an integration; `null` exactly for a person. */
  readonly holderOwnerId: string | null;
  /** The user from whom the key was moved to its integration; `null` if it was not moved. */
  readonly movedFromId: string | null;
  readonly movedFrom: string | null;
  readonly movedAt: Date | null;
};

/** The columns of a ListedKey, of `api_keys k` joined with PEOPLE. */
export const COLUMNS = `
  k.id, k.name, k.key_prefix as prefix, k.permissions, k.created_at as "createdAt", creator.name as "createdBy",
  k.last_used_at as "lastUsedAt", k.last_used_network as "lastUsedNetwork", k.last_used_client as "lastUsedClient",
  k.expires_at as "expiresAt", k.expired_at as "expiredAt", k.refused_uses as "refusedUses", k.is_leaked as "isLeaked",
  k.is_unused as "isUnused",
  k.allowed_addresses as addresses, k.requests_per_second as "requestsPerSecond",
  k.rotated_at as "rotatedAt", rotator.name as "rotatedBy", k.revoked_at as "revokedAt", revoker.name as "revokedBy",
  holder.id as "holderId", holder.kind as "holderKind", holder.name as "holderName", holder.email as "holderEmail", holder.role as "holderRole",
  holder.deactivated_at as "holderDeactivatedAt", holder.owner_user_id as "holderOwnerId",
  former.id as "movedFromId", former.name as "movedFrom", k.moved_at as "movedAt"`;
export const PEOPLE = `
  join users holder on holder.organization_id = k.organization_id and holder.id = k.user_id
  left join users creator on creator.organization_id = k.organization_id and creator.id = k.created_by_user_id
  left join users rotator on rotator.organization_id = k.organization_id and rotator.id = k.rotated_by_user_id
  left join users revoker on revoker.organization_id = k.organization_id and revoker.id = k.revoked_by_user_id
  left join users former on former.organization_id = k.organization_id and former.id = k.moved_from_user_id`;

/** A position in a list of keys. */
export type KeyPosition = { readonly createdAt: Date; readonly id: string };

export type KeyQuery = {
  readonly userId: string;
  readonly now: Date;
  /** `null` for the first page. */
  readonly from: Edge<KeyPosition> | null;
  /** Maximum number of rows. The caller asks for one more than it shows. */
  readonly limit: number;
};

const CURRENT = isCurrent('api_keys');
const UNEXPIRED = isUnexpired('api_keys', '$3');
const OF_HOLDER = 'organization_id = $1 and user_id = $2';
const IS_ENDED = `not (${CURRENT} and ${UNEXPIRED})`;
const MADE_FOR_OTHERS = 'organization_id = $1 and created_by_user_id = $2 and user_id <> $2';
/**
 * Uses the index of current keys. Without "offset 0", PostgreSQL may walk all of the user's keys in the order of the list,
 * however many have ended.
 */
const CURRENT_OF_HOLDER = `(select * from api_keys where ${OF_HOLDER} and ${CURRENT} offset 0) api_keys`;

/** The statements of a list of keys, the newest first: its start, and the pages next to a key. */
function statementsOf(name: string, from: string, ...conditions: readonly string[]) {
  const statement = (suffix: string, direction: 'asc' | 'desc', ...more: readonly string[]) => {
    const where = [...conditions, ...more].join(' and ');
    const keys = `select * from ${from} where ${where} order by created_at ${direction}, id ${direction} limit $4`;
    const text = `select ${COLUMNS} from (${keys}) k ${PEOPLE} order by k.created_at desc, k.id desc`;
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

/** The user's keys that are active, or those that have ended; the newest first. */
export async function listKeysOf(
  db: Database,
  scope: OrganizationScope,
  { isActive, ...page }: KeyQuery & { readonly isActive: boolean },
): Promise<ListedKey[]> {
  return listKeys(db, scope, page, isActive ? ACTIVE : ENDED);
}

/** Active keys that this user created for others, and so has seen; the newest first. */
export async function listActiveKeysMadeForOthers(
  db: Database,
  scope: OrganizationScope,
  page: KeyQuery,
): Promise<ListedKey[]> {
  return listKeys(db, scope, page, ACTIVE_FOR_OTHERS);
}

const FIND = {
  name: 'find_listed_key',
  text: `select ${COLUMNS} from api_keys k ${PEOPLE} where k.organization_id = $1 and k.user_id = $2 and k.id = $3`,
};

/** Returns `null` if the user has no such key. */
export async function findListedKey(db: Database, scope: OrganizationScope, key: KeyOfUser): Promise<ListedKey | null> {
  return findOne(db, scope, FIND, key);
}

const FIND_MOVED = {
  name: 'find_moved_key',
  text: `select ${COLUMNS} from api_keys k ${PEOPLE} where k.organization_id = $1 and k.moved_from_user_id = $2 and k.id = $3`,
};

/** Returns `null` if no such key was moved from the user to an integration. */
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
    select ${COLUMNS} from (
      select * from api_keys where organization_id = $1 and moved_from_user_id = $2
      order by moved_at desc, id desc limit $3) k ${PEOPLE}
    order by k.moved_at desc, k.id desc`,
};

/** The keys that were moved from this user to integrations, the last moved first. */
export async function listKeysMovedFrom(
  db: Database,
  { organizationId }: OrganizationScope,
  { userId, limit }: { userId: string; limit: number },
): Promise<ListedKey[]> {
  return (await db.pool.query<ListedKey>({ ...MOVED, values: [organizationId, userId, limit] })).rows;
}

/** How many keys there are in each state. */
export type KeyCounts = { readonly active: number; readonly ended: number };
/** `hasMoved`: keys were moved from the user to integrations. */
export type KeyCountsOfHolder = KeyCounts & { readonly hasMoved: boolean };

/** Ended keys are counted up to this number and one more. */
export const MAX_COUNTED_KEYS = 1000;

const COUNT = {
  name: 'count_keys_of',
  text: `
    select (select count(*)::int from api_keys where ${OF_HOLDER} and ${CURRENT} and ${UNEXPIRED}) as active,
           (select count(*)::int from (
              select 1 from api_keys where ${OF_HOLDER} and ${IS_ENDED} limit ${MAX_COUNTED_KEYS + 1}) keys) as ended,
           exists (select 1 from api_keys where organization_id = $1 and moved_from_user_id = $2) as "hasMoved"`,
};

/** How many keys the user has; `ended` is at most MAX_COUNTED_KEYS + 1. */
export async function countKeysOf(
  db: Database,
  scope: OrganizationScope,
  { userId, now }: { userId: string; now: Date },
): Promise<KeyCountsOfHolder> {
  const { rows } = await db.pool.query<KeyCountsOfHolder>({ ...COUNT, values: [scope.organizationId, userId, now] });
  return rows[0] ?? { active: 0, ended: 0, hasMoved: false };
}
