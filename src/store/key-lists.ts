import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Role } from '../domain/role.ts';
import type { Database } from './database.ts';

// Keys as lists show them, without their hashes. Each list page is one statement.

export type ListedKey = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly permissions: readonly string[];
  readonly createdAt: Date;
  /** Null: created by an operator. */
  readonly createdBy: string | null;
  readonly lastUsedAt: Date | null;
  /** The network of the client at the last use: an IPv4 address or an IPv6 /64. Null: not known. */
  readonly lastUsedNetwork: string | null;
  /** The product of the client at the last use, such as "curl/8.5.0". Null: not known. */
  readonly lastUsedClient: string | null;
  readonly expiresAt: Date | null;
  readonly rotatedAt: Date | null;
  readonly rotatedBy: string | null;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  readonly refusedUses: number;
  readonly holderId: string;
  readonly holderName: string;
  readonly holderEmail: string;
};

/** The columns of a ListedKey, of `api_keys k` joined with PEOPLE. */
export const COLUMNS = `
  k.id, k.name, k.key_prefix as prefix, k.permissions, k.created_at as "createdAt", creator.name as "createdBy",
  k.last_used_at as "lastUsedAt", k.last_used_network as "lastUsedNetwork", k.last_used_client as "lastUsedClient", k.expires_at as "expiresAt", k.refused_uses as "refusedUses",
  k.rotated_at as "rotatedAt", rotator.name as "rotatedBy", k.revoked_at as "revokedAt", revoker.name as "revokedBy",
  holder.id as "holderId", holder.name as "holderName", holder.email as "holderEmail"`;
export const PEOPLE = `
  join users holder on holder.organization_id = k.organization_id and holder.id = k.user_id
  left join users creator on creator.organization_id = k.organization_id and creator.id = k.created_by_user_id
  left join users rotator on rotator.organization_id = k.organization_id and rotator.id = k.rotated_by_user_id
  left join users revoker on revoker.organization_id = k.organization_id and revoker.id = k.revoked_by_user_id`;

/** The last key of the previous page. */
export type KeyPosition = { readonly createdAt: Date; readonly id: string };

export type KeyPage<Position extends KeyPosition> = {
  readonly userId: string;
  readonly now: Date;
  /** Null: the first page. */
  readonly after: Position | null;
  /** Maximum number of rows. The caller asks for one more than it shows. */
  readonly limit: number;
};

const CURRENT = 'rotated_at is null and revoked_at is null';
const UNEXPIRED = '(expires_at is null or expires_at > $3)';
const OF_HOLDER = 'organization_id = $1 and user_id = $2';
const MADE_FOR_OTHERS = 'organization_id = $1 and created_by_user_id = $2 and user_id <> $2';
const AFTER = '(created_at, id) < ($5::timestamptz, $6::uuid)';
/**
 * Uses the index of current keys. Without "offset 0", PostgreSQL may walk all of the user's keys in the order of the list,
 * however many have ended.
 */
const CURRENT_OF_HOLDER = `(select * from api_keys where ${OF_HOLDER} and ${CURRENT} offset 0) current_keys`;

function rows(isActive: boolean, from: string, ...conditions: readonly string[]): string {
  const all = conditions.join(' and ');
  return `(select *, ${isActive} as is_active from ${from} where ${all} order by created_at desc, id desc limit $4)`;
}

const active = (...more: readonly string[]) => rows(true, CURRENT_OF_HOLDER, UNEXPIRED, ...more);
const ended = (...more: readonly string[]) =>
  rows(false, 'api_keys', OF_HOLDER, `not (${CURRENT} and ${UNEXPIRED})`, ...more);
const madeForOthers = (...more: readonly string[]) =>
  rows(true, 'api_keys', MADE_FOR_OTHERS, CURRENT, UNEXPIRED, ...more);

/** Active keys first, each group newest first. */
function page(name: string, ...ranges: readonly string[]) {
  const order = 'order by k.is_active desc, k.created_at desc, k.id desc';
  const keys = `select * from (${ranges.join(' union all ')}) k ${order} limit $4`;
  return { name, text: `select ${COLUMNS} from (${keys}) k ${PEOPLE} ${order}` };
}

const LIST = {
  first: page('list_keys', active(), ended()),
  afterActive: page('list_keys_after_active', active(AFTER), ended()),
  afterEnded: page('list_keys_after_ended', ended(AFTER)),
};

/** The user's keys. */
export async function listKeysOf(
  db: Database,
  scope: OrganizationScope,
  { userId, now, after, limit }: KeyPage<KeyPosition & { readonly isActive: boolean }>,
): Promise<ListedKey[]> {
  const statement = after === null ? LIST.first : after.isActive ? LIST.afterActive : LIST.afterEnded;
  const values = [scope.organizationId, userId, now, limit, ...positionOf(after)];
  return (await db.pool.query<ListedKey>({ ...statement, values })).rows;
}

const LIST_MADE_FOR_OTHERS = {
  first: page('list_keys_made_for_others', madeForOthers()),
  next: page('list_keys_made_for_others_next', madeForOthers(AFTER)),
};

/** Active keys that this user created for others, and so has seen. */
export async function listActiveKeysMadeForOthers(
  db: Database,
  scope: OrganizationScope,
  { userId, now, after, limit }: KeyPage<KeyPosition>,
): Promise<ListedKey[]> {
  const statement = after === null ? LIST_MADE_FOR_OTHERS.first : LIST_MADE_FOR_OTHERS.next;
  const values = [scope.organizationId, userId, now, limit, ...positionOf(after)];
  return (await db.pool.query<ListedKey>({ ...statement, values })).rows;
}

function positionOf(after: KeyPosition | null): readonly [] | readonly [Date, string] {
  return after === null ? [] : [after.createdAt, after.id];
}

const FIND = {
  name: 'find_listed_key',
  text: `select ${COLUMNS} from api_keys k ${PEOPLE} where k.organization_id = $1 and k.user_id = $2 and k.id = $3`,
};

/** Null: the user has no such key. */
export async function findListedKey(
  db: Database,
  scope: OrganizationScope,
  { userId, id }: { userId: string; id: string },
): Promise<ListedKey | null> {
  const { rows: found } = await db.pool.query<ListedKey>({ ...FIND, values: [scope.organizationId, userId, id] });
  return found[0] ?? null;
}

const COUNT_ACTIVE = {
  name: 'count_active_keys',
  text: `select count(*)::int as count from api_keys where ${OF_HOLDER} and ${CURRENT} and ${UNEXPIRED}`,
};

export async function countActiveKeys(
  db: Database,
  scope: OrganizationScope,
  { userId, now }: { userId: string; now: Date },
): Promise<number> {
  const values = [scope.organizationId, userId, now];
  const { rows: counted } = await db.pool.query<{ count: number }>({ ...COUNT_ACTIVE, values });
  return counted[0]?.count ?? 0;
}

export type KeyHolder = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly deactivatedAt: Date | null;
  readonly organizationSuspendedAt: Date | null;
  readonly membersMayCreateKeys: boolean;
  readonly maxKeyLifeDays: number;
  readonly allowsUnendingKeys: boolean;
};

const HOLDER = {
  name: 'find_key_holder',
  text: `
    select u.id, u.name, u.email, u.role, u.deactivated_at as "deactivatedAt", o.suspended_at as "organizationSuspendedAt",
           o.members_may_create_keys as "membersMayCreateKeys", o.max_key_life_days as "maxKeyLifeDays",
           o.allows_unending_keys as "allowsUnendingKeys"
    from users u join organizations o on o.id = u.organization_id
    where u.organization_id = $1 and u.id = $2`,
};

/** A user, with the organization's policy for keys. */
export async function findKeyHolder(db: Database, scope: OrganizationScope, userId: string): Promise<KeyHolder | null> {
  const { rows } = await db.pool.query<KeyHolder>({ ...HOLDER, values: [scope.organizationId, userId] });
  return rows[0] ?? null;
}
