import { Prisma } from '../../../generated/prisma/client.ts';
import type { HolderKind } from '../../domain/keys/api-key.ts';
import { type ApiKey, SOON_DAYS, SOON_SHARE } from '../../domain/keys/api-key.ts';
import { READ_PERMISSIONS, type Role } from '../../domain/people/role.ts';

// The columns of the table api_keys, and the conditions on its rows.

const COLUMNS: Readonly<Record<keyof ApiKey, string>> = {
  id: 'id',
  name: 'name',
  prefix: 'key_prefix',
  permissions: 'permissions',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  expiredAt: 'expired_at',
  rotatedAt: 'rotated_at',
  revokedAt: 'revoked_at',
  isLeaked: 'is_leaked',
  isUnused: 'is_unused',
  movedAt: 'moved_at',
  addresses: 'allowed_addresses',
  requestsPerSecond: 'requests_per_second',
  lastUsedAt: 'last_used_at',
  lastUsedNetwork: 'last_used_network',
  lastUsedClient: 'last_used_client',
  refusedUses: 'refused_uses',
};

// The assertion is safe, because the type of COLUMNS requires each member of ApiKey.
const MEMBERS = Object.keys(COLUMNS) as (keyof ApiKey)[];

/** Returns SQL for these columns of a table or subquery, named like the members of ApiKey. */
export function keyColumns(alias: string, members: readonly (keyof ApiKey)[]): string {
  return members.map((member) => `${alias}.${COLUMNS[member]} as "${member}"`).join(', ');
}

/** A key with the people involved in its creation, rotation, revocation and use. */
export type ListedKey = ApiKey & {
  /** The name of the user who created the key; `null` for an operator. */
  readonly createdBy: string | null;
  readonly rotatedBy: string | null;
  readonly revokedBy: string | null;
  readonly holderId: string;
  readonly holderKind: HolderKind;
  readonly holderName: string;
  /** `null` if and only if the holder is an integration. */
  readonly holderEmail: string | null;
  readonly holderRole: Role;
  readonly holderDeactivatedAt: Date | null;
  /** The owner of an integration; `null` if and only if the holder is a person. */
  readonly holderOwnerId: string | null;
  /** The user from whom the key was moved to its integration; `null` if it was not moved. */
  readonly movedFromId: string | null;
  readonly movedFrom: string | null;
};

/** SQL for the columns of a ListedKey, selected from `api_keys k` joined with PEOPLE. */
export const LISTED_COLUMNS = `
  ${keyColumns('k', MEMBERS)},
  creator.name as "createdBy", rotator.name as "rotatedBy", revoker.name as "revokedBy",
  holder.id as "holderId", holder.kind as "holderKind", holder.name as "holderName", holder.email as "holderEmail",
  holder.role as "holderRole", holder.deactivated_at as "holderDeactivatedAt", holder.owner_user_id as "holderOwnerId",
  former.id as "movedFromId", former.name as "movedFrom"`;
export const PEOPLE = `
  join users holder on holder.organization_id = k.organization_id and holder.id = k.user_id
  left join users creator on creator.organization_id = k.organization_id and creator.id = k.created_by_user_id
  left join users rotator on rotator.organization_id = k.organization_id and rotator.id = k.rotated_by_user_id
  left join users revoker on revoker.organization_id = k.organization_id and revoker.id = k.revoked_by_user_id
  left join users former on former.organization_id = k.organization_id and former.id = k.moved_from_user_id`;

/** Returns the SQL condition that a key is neither rotated nor revoked. The key may have expired. */
export function isCurrent(alias: string): string {
  return `${alias}.rotated_at is null and ${alias}.revoked_at is null`;
}

/**
 * Returns the SQL condition that a key has not expired at `at`. A key that was found expired stays expired when the clock is set
 * back.
 */
export function isUnexpired(alias: string, at: string): string {
  return `(${alias}.expires_at is null or ${alias}.expires_at > greatest(${at}, ${alias}.expired_at))`;
}

/** Returns the SQL condition that a key is active, by the same rules as `endOf`. */
export function isActive(alias: string, at: string): string {
  return `${isCurrent(alias)} and ${isUnexpired(alias, at)}`;
}

/** Returns `isActive` as SQL for Prisma. */
export function isActiveAt(alias: string, at: Date): Prisma.Sql {
  return Prisma.sql(isActive(alias, '?::timestamptz').split('?'), at.toISOString());
}

/** Returns the SQL condition that a key expires soon, by the same rules as `isExpiringSoon`. */
export function expiresSoon(alias: string, at: string): string {
  return `${alias}.expires_at > greatest(${at}, ${alias}.expired_at) and ${alias}.expires_at - ${at}::timestamptz
    <= least(interval '${SOON_DAYS} days', (${alias}.expires_at - ${alias}.created_at) / ${SOON_SHARE})`;
}

/** Returns the SQL condition that a key may be used from any address and may write, by the same rules as `mayWrite`. */
export function lacksAddresses(alias: string): string {
  const readPermissions = READ_PERMISSIONS.map((each) => `'${each}'`).join(', ');
  return `${alias}.allowed_addresses = '{}' and not ${alias}.permissions <@ array[${readPermissions}]::varchar[]`;
}
