import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Role } from '../domain/role.ts';
import type { Database, Transaction } from './database.ts';

// What is shown of keys: each list is one statement, however long it is, and never holds the key's hash.

export type ListedKey = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly permissions: readonly string[];
  readonly createdAt: Date;
  /** Null: an operator. */
  readonly createdBy: string | null;
  readonly lastUsedAt: Date | null;
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

const LISTED_AT_MOST = 500;
const KEYS = `
  select k.id, k.name, k.key_prefix as prefix, k.permissions, k.created_at as "createdAt", creator.name as "createdBy",
         k.last_used_at as "lastUsedAt", k.expires_at as "expiresAt", k.refused_uses as "refusedUses",
         k.rotated_at as "rotatedAt", rotator.name as "rotatedBy", k.revoked_at as "revokedAt", revoker.name as "revokedBy",
         holder.id as "holderId", holder.name as "holderName", holder.email as "holderEmail"
  from api_keys k
  join users holder on holder.organization_id = k.organization_id and holder.id = k.user_id
  left join users creator on creator.organization_id = k.organization_id and creator.id = k.created_by_user_id
  left join users rotator on rotator.organization_id = k.organization_id and rotator.id = k.rotated_by_user_id
  left join users revoker on revoker.organization_id = k.organization_id and revoker.id = k.revoked_by_user_id
  where k.organization_id = $1`;

const OF_HOLDER = {
  name: 'list_keys_of_user',
  text: `${KEYS} and k.user_id = $2
    order by (k.rotated_at is null and k.revoked_at is null and (k.expires_at is null or k.expires_at > $3)) desc,
             k.created_at desc, k.id desc
    limit ${LISTED_AT_MOST}`,
};

/** The user's keys, active ones first, then newest first; at most 500, of which no active one is left out. */
export async function listKeysOf(
  db: Database,
  scope: OrganizationScope,
  { userId, now }: { userId: string; now: Date },
): Promise<ListedKey[]> {
  const values = [scope.organizationId, userId, now];
  return (await db.pool.query<ListedKey>({ ...OF_HOLDER, values })).rows;
}

const MADE_FOR_OTHERS = {
  name: 'list_keys_made_for_others',
  text: `${KEYS} and k.created_by_user_id = $2 and k.user_id <> $2
      and k.rotated_at is null and k.revoked_at is null and (k.expires_at is null or k.expires_at > $3)
    order by k.created_at desc, k.id desc
    limit ${LISTED_AT_MOST}`,
};

/** Active keys that this user made, and was shown, for others; newest first, at most 500. */
export async function listActiveKeysMadeForOthers(
  db: Database,
  scope: OrganizationScope,
  { userId, now }: { userId: string; now: Date },
): Promise<ListedKey[]> {
  const values = [scope.organizationId, userId, now];
  return (await db.pool.query<ListedKey>({ ...MADE_FOR_OTHERS, values })).rows;
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

/** A user, with what the organization lets their keys be. */
export async function findKeyHolder(db: Database, scope: OrganizationScope, userId: string): Promise<KeyHolder | null> {
  const { rows } = await db.pool.query<KeyHolder>({ ...HOLDER, values: [scope.organizationId, userId] });
  return rows[0] ?? null;
}

/** How a key of the user ended, and what became of it; null: the user has no such key. */
export async function findKeyHistory(
  tx: Transaction,
  scope: OrganizationScope,
  { id, userId }: { id: string; userId: string },
) {
  const by = { select: { name: true } };
  return tx.apiKey.findFirst({
    where: { organizationId: scope.organizationId, id, userId },
    select: {
      ...{ name: true, expiresAt: true, rotatedAt: true, revokedAt: true },
      ...{ rotatedBy: by, revokedBy: by },
    },
  });
}

/** The key that now stands in the place of one that was rotated, however often; null: that one has ended as well. */
export async function findLiveSuccessor(
  tx: Transaction,
  scope: OrganizationScope,
  { id, now }: { id: string; now: Date },
): Promise<{ name: string; prefix: string } | null> {
  const [row] = await tx.$queryRaw<{ name: string; prefix: string }[]>`
    with recursive line as (
      select id, successor_id from api_keys where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid
      union
      select k.id, k.successor_id from api_keys k join line on k.id = line.successor_id
      where k.organization_id = ${scope.organizationId}::uuid)
    select k.name, k.key_prefix as prefix
    from line join api_keys k on k.organization_id = ${scope.organizationId}::uuid and k.id = line.id
    where k.rotated_at is null and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${now.toISOString()}::timestamptz)
    limit 1`;
  return row ?? null;
}
