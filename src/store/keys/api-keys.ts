import { Prisma } from '../../../generated/prisma/client.ts';
import { nameKeyOf } from '../../domain/name.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Permission } from '../../domain/people/role.ts';
import type { Database, Transaction } from '../sql/database.ts';

/** The SQL condition that a row of api_keys is neither rotated nor revoked. It may have expired. */
export const isCurrent = (alias: string) => `${alias}.rotated_at is null and ${alias}.revoked_at is null`;

/** The SQL condition that the key has not expired at a time, and was not found expired before the clock was set back. */
export const isUnexpired = (alias: string, at: string) =>
  `(${alias}.expires_at is null or ${alias}.expires_at > greatest(${at}, ${alias}.expired_at))`;

/** The SQL condition that a row of api_keys is an active key, as `endOf` decides. */
export const isActive = (alias: string, at: string) => `${isCurrent(alias)} and ${isUnexpired(alias, at)}`;

/** `isActive` for a statement of Prisma. */
export function isActiveAt(alias: string, at: Date): Prisma.Sql {
  return Prisma.sql(isActive(alias, '?::timestamptz').split('?'), at.toISOString());
}

export type NewApiKey = {
  readonly id: string;
  readonly userId: string;
  /** `null` for an operator. */
  readonly createdByUserId: string | null;
  readonly name: string;
  readonly keyHash: Uint8Array<ArrayBuffer>;
  readonly keyPrefix: string;
  readonly permissions: Permission[];
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  /** In canonical form. Empty by default. */
  readonly allowedAddresses?: string[];
  readonly requestsPerSecond?: number | null;
};

/** The user's keys that are neither rotated nor revoked, oldest first. Expired keys are included. */
export async function listCurrentKeys(tx: Transaction, scope: OrganizationScope, userId: string) {
  return tx.apiKey.findMany({
    where: { organizationId: scope.organizationId, userId, rotatedAt: null, revokedAt: null },
    select: { id: true, name: true, expiresAt: true, expiredAt: true, rotatedAt: true, revokedAt: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}

export async function insertApiKey(tx: Transaction, scope: OrganizationScope, key: NewApiKey): Promise<void> {
  const nameKey = nameKeyOf(key.name);
  await tx.apiKey.create({ data: { ...key, nameKey, organizationId: scope.organizationId }, select: { id: true } });
}

/** A change of one of the user's keys. */
export type KeyChange = {
  readonly id: string;
  readonly userId: string;
  readonly at: Date;
  /** `null` for an operator. */
  readonly byUserId: string | null;
};

/** Returns null if the user has no such key, or it is already rotated or revoked. An expired key can be revoked. */
export async function revokeApiKey(
  tx: Transaction,
  scope: OrganizationScope,
  { id, userId, at, byUserId, isLeaked = false }: KeyChange & { readonly isLeaked?: boolean },
): Promise<{ name: string; keyPrefix: string } | null> {
  const [revoked] = await tx.apiKey.updateManyAndReturn({
    where: { organizationId: scope.organizationId, id, userId, rotatedAt: null, revokedAt: null },
    data: { revokedAt: at, revokedByUserId: byUserId, isLeaked },
    select: { name: true, keyPrefix: true },
  });
  return revoked ?? null;
}

/** Revokes every key of the user that is neither rotated nor revoked, as part of deactivating the user. */
export async function revokeApiKeysOf(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, at, byUserId }: Omit<KeyChange, 'id'>,
): Promise<{ id: string; name: string }[]> {
  // Locks rows in the same order as writeKeyUses, to avoid a deadlock.
  await tx.$queryRaw`
    select 1 from api_keys
    where organization_id = ${scope.organizationId}::uuid and user_id = ${userId}::uuid
      and rotated_at is null and revoked_at is null
    order by id for no key update`;
  return tx.apiKey.updateManyAndReturn({
    where: { organizationId: scope.organizationId, userId, rotatedAt: null, revokedAt: null },
    data: { revokedAt: at, revokedByUserId: byUserId },
    select: { id: true, name: true },
  });
}

export type Successor = Pick<NewApiKey, 'id' | 'keyHash' | 'keyPrefix'>;
/** The successor's data, and the prefix of the key that it replaces. */
export type ReplacedKey = {
  name: string;
  permissions: Permission[];
  expiresAt: Date | null;
  addresses: string[];
  requestsPerSecond: number | null;
  replacedPrefix: string;
};

/**
 * Marks an active key as rotated and inserts its successor, in one statement: of concurrent calls, only one succeeds. Returns
 * null if the user has no such key or the key is not active. `expiresAt` and `addresses` of the successor are by default those of
 * the old key, and its limit always is.
 */
export async function replaceApiKey(
  tx: Transaction,
  scope: OrganizationScope,
  {
    id,
    userId,
    at,
    byUserId,
    successor,
    expiresAt,
    addresses,
  }: KeyChange & {
    successor: Successor;
    expiresAt?: Date | null | undefined;
    addresses?: readonly string[] | undefined;
  },
): Promise<ReplacedKey | null> {
  const now = at.toISOString();
  const newExpiry = expiresAt?.toISOString() ?? null;
  const [row] = await tx.$queryRaw<ReplacedKey[]>`
    with ended as (
      update api_keys
      set rotated_at = ${now}::timestamptz, rotated_by_user_id = ${byUserId}::uuid, successor_id = ${successor.id}::uuid
      where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid and user_id = ${userId}::uuid
        and ${isActiveAt('api_keys', at)}
      returning organization_id, user_id, name, name_key, permissions, expires_at, key_prefix, allowed_addresses,
                requests_per_second),
    successor as (
      insert into api_keys
        (organization_id, id, user_id, created_by_user_id, name, name_key, key_hash, key_prefix, permissions, expires_at,
         created_at, allowed_addresses, requests_per_second)
      select organization_id, ${successor.id}::uuid, user_id, ${byUserId}::uuid, name, name_key, ${successor.keyHash}::bytea,
             ${successor.keyPrefix}, permissions,
             case when ${expiresAt === undefined} then expires_at else ${newExpiry}::timestamptz end, ${now}::timestamptz,
             coalesce(${addresses ?? null}::varchar[], allowed_addresses), requests_per_second
      from ended
      returning name, permissions, expires_at, allowed_addresses, requests_per_second)
    select successor.name, successor.permissions, successor.expires_at as "expiresAt",
           successor.allowed_addresses as addresses, successor.requests_per_second as "requestsPerSecond",
           ended.key_prefix as "replacedPrefix"
    from successor, ended`;
  return row ?? null;
}

const RECORD_EXPIRY = {
  name: 'record_expiry',
  text: `
    with organization as materialized (select id from organizations where id = $1 for no key update)
    update api_keys k set expired_at = k.expires_at from organization o
    where k.organization_id = o.id and k.id = $2 and k.expires_at = $3
      and k.expires_at > coalesce(k.expired_at, '-infinity')`,
};

/**
 * Records that a request with the key was refused because the key expired at `expiresAt`. Changes nothing if that is already
 * recorded, or if an operator has moved the expiry since. Locks the organization first, as every change that ends a key does.
 */
export async function recordExpiry(
  db: Database,
  { organizationId }: OrganizationScope,
  { id, expiresAt }: { id: string; expiresAt: Date },
): Promise<void> {
  await db.pool.query({ ...RECORD_EXPIRY, values: [organizationId, id, expiresAt] });
}

export type KeyMove = Omit<KeyChange, 'byUserId'> & { readonly integrationId: string; readonly name: string };

/**
 * Moves an active key of a user to an integration, with this name. The key itself stays the same. Returns false if the user has
 * no such key or the key is not active.
 */
export async function moveApiKey(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { id, userId, at, integrationId, name }: KeyMove,
): Promise<boolean> {
  const moved = await tx.$executeRaw`
    update api_keys
    set user_id = ${integrationId}::uuid, moved_from_user_id = user_id, moved_at = ${at.toISOString()}::timestamptz,
        name = ${name}, name_key = ${nameKeyOf(name)}
    where organization_id = ${organizationId}::uuid and id = ${id}::uuid and user_id = ${userId}::uuid and ${isActiveAt('api_keys', at)}`;
  return moved === 1;
}

/** Returns the previous name, or null if the user has no such key or the key is not active. */
export async function renameApiKey(
  tx: Transaction,
  scope: OrganizationScope,
  { id, userId, at, name }: Omit<KeyChange, 'byUserId'> & { name: string },
): Promise<{ oldName: string } | null> {
  const [row] = await tx.$queryRaw<{ oldName: string }[]>`
    with before as (
      select organization_id, id, name from api_keys
      where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid and user_id = ${userId}::uuid
        and ${isActiveAt('api_keys', at)}
      for no key update)
    update api_keys k set name = ${name}, name_key = ${nameKeyOf(name)} from before
    where k.organization_id = before.organization_id and k.id = before.id
    returning before.name as "oldName"`;
  return row ?? null;
}
