import { createHash } from 'node:crypto';
import type pg from 'pg';
import { Prisma } from '../../../generated/prisma/client.ts';
import type { AddressList } from '../../domain/keys/address-list.ts';
import type { ApiKey, KeyEndTimes } from '../../domain/keys/api-key.ts';
import type { UsedNetwork } from '../../domain/keys/key-usage.ts';
import { nameKeyOf } from '../../domain/name.ts';
import { canonicalNetwork } from '../../domain/network.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Permission } from '../../domain/people/role.ts';
import { CHUNK_ROWS } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { isActiveAt, isCurrent, keyColumns } from './key-row.ts';

// The data that actions on a single key read and write.

export type NewApiKey = Pick<ApiKey, 'id' | 'name' | 'prefix' | 'expiresAt' | 'createdAt'> & {
  readonly userId: string;
  /** The user who created the key; `null` for an operator. */
  readonly createdByUserId: string | null;
  readonly keyHash: Uint8Array<ArrayBuffer>;
  readonly permissions: readonly Permission[];
} & Partial<Pick<ApiKey, 'addresses' | 'requestsPerSecond'>>;

/** Lists the user's keys that are neither rotated nor revoked, the oldest first. Expired keys are included. */
export async function listCurrentKeys(tx: Transaction, scope: OrganizationScope, userId: string) {
  return tx.apiKey.findMany({
    where: { organizationId: scope.organizationId, userId, rotatedAt: null, revokedAt: null },
    select: { id: true, name: true, expiresAt: true, expiredAt: true, rotatedAt: true, revokedAt: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}

export async function insertApiKey(tx: Transaction, scope: OrganizationScope, key: NewApiKey): Promise<void> {
  const { prefix: keyPrefix, addresses = [], permissions, ...others } = key;
  const changed = {
    keyPrefix,
    nameKey: nameKeyOf(key.name),
    permissions: [...permissions],
    allowedAddresses: [...addresses],
  };
  await tx.apiKey.create({
    data: { ...others, ...changed, organizationId: scope.organizationId },
    select: { id: true },
  });
}

export type KeyChange = {
  readonly id: string;
  readonly userId: string;
  readonly at: Date;
  /** The user who makes the change; `null` for an operator. */
  readonly byUserId: string | null;
};

/**
 * Revokes a key. Returns `null` if the user has no such key, or if it is already rotated or revoked. An expired key can be
 * revoked.
 */
export async function revokeApiKey(
  tx: Transaction,
  scope: OrganizationScope,
  { id, userId, at, byUserId, isLeaked = false }: KeyChange & { readonly isLeaked?: boolean },
): Promise<Pick<ApiKey, 'name' | 'prefix'> | null> {
  const [revoked] = await tx.apiKey.updateManyAndReturn({
    where: { organizationId: scope.organizationId, id, userId, rotatedAt: null, revokedAt: null },
    data: { revokedAt: at, revokedByUserId: byUserId, isLeaked },
    select: { name: true, keyPrefix: true },
  });
  return revoked === undefined ? null : { name: revoked.name, prefix: revoked.keyPrefix };
}

/** Revokes all keys of a user that are neither rotated nor revoked, because the user is being deactivated. */
export async function revokeApiKeysOf(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, at, byUserId }: Omit<KeyChange, 'id'>,
): Promise<Pick<ApiKey, 'id' | 'name'>[]> {
  // Locks the rows in the same order as writeKeyUses to avoid a deadlock.
  await tx.$queryRaw`
    select 1 from api_keys
    where organization_id = ${scope.organizationId}::uuid and user_id = ${userId}::uuid and ${Prisma.raw(isCurrent('api_keys'))}
    order by id for no key update`;
  return tx.apiKey.updateManyAndReturn({
    where: { organizationId: scope.organizationId, userId, rotatedAt: null, revokedAt: null },
    data: { revokedAt: at, revokedByUserId: byUserId },
    select: { id: true, name: true },
  });
}

/** The data of the new key, and the prefix of the key that it replaces. */
export type ReplacedKey = Pick<ApiKey, 'name' | 'expiresAt' | 'addresses' | 'requestsPerSecond'> & {
  readonly permissions: readonly Permission[];
  readonly replacedPrefix: string;
};

const SUCCESSOR_COLUMNS = Prisma.raw(
  keyColumns('successor', ['name', 'permissions', 'expiresAt', 'addresses', 'requestsPerSecond']),
);

/**
 * Marks an active key as rotated and inserts its successor in one statement, so that only one of several concurrent calls
 * succeeds. Returns `null` if the user has no such key, or if it is not active. The successor has the old key's requests per
 * second, and by default also its `expiresAt` and `addresses`.
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
    readonly successor: Pick<NewApiKey, 'id' | 'keyHash' | 'prefix'>;
    readonly expiresAt?: Date | null | undefined;
    readonly addresses?: AddressList | undefined;
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
             ${successor.prefix}, permissions,
             case when ${expiresAt === undefined} then expires_at else ${newExpiry}::timestamptz end, ${now}::timestamptz,
             coalesce(${addresses ?? null}::varchar[], allowed_addresses), requests_per_second
      from ended
      returning name, permissions, expires_at, allowed_addresses, requests_per_second)
    select ${SUCCESSOR_COLUMNS}, ended.key_prefix as "replacedPrefix"
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
 * recorded, or if an operator has changed the expiry in the meantime. Locks the organization first, like every change that ends a
 * key.
 */
export async function recordExpiry(
  db: Database,
  { organizationId }: OrganizationScope,
  { id, expiresAt }: { readonly id: string; readonly expiresAt: Date },
): Promise<void> {
  await db.pool.query({ ...RECORD_EXPIRY, values: [organizationId, id, expiresAt] });
}

/**
 * Moves a user's active key to an integration, under the given name. The text of the key stays the same. Returns `false` if the
 * user has no such key, or if it is not active.
 */
export async function moveApiKey(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  {
    id,
    userId,
    at,
    integrationId,
    name,
  }: Omit<KeyChange, 'byUserId'> & { readonly integrationId: string; readonly name: string },
): Promise<boolean> {
  const moved = await tx.$executeRaw`
    update api_keys
    set user_id = ${integrationId}::uuid, moved_from_user_id = user_id, moved_at = ${at.toISOString()}::timestamptz,
        name = ${name}, name_key = ${nameKeyOf(name)}
    where organization_id = ${organizationId}::uuid and id = ${id}::uuid and user_id = ${userId}::uuid and ${isActiveAt('api_keys', at)}`;
  return moved === 1;
}

/** Renames a key. Returns the previous name, or `null` if the user has no such key, or if it is not active. */
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

export type RestrictedKey = KeyEndTimes &
  Pick<ApiKey, 'permissions' | 'addresses' | 'requestsPerSecond'> & {
    /** The networks from which the key was used, in canonical form, the most recently used first. */
    readonly usedNetworks: readonly UsedNetwork[];
  };

export async function findRestrictedKey(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { id, userId }: { id: string; userId: string },
): Promise<RestrictedKey | null> {
  const found = await tx.apiKey.findFirst({
    where: { organizationId, id, userId },
    select: {
      permissions: true,
      expiresAt: true,
      expiredAt: true,
      rotatedAt: true,
      revokedAt: true,
      allowedAddresses: true,
      requestsPerSecond: true,
      usedNetworks: true,
    },
  });
  if (found === null) return null;
  const { allowedAddresses: addresses, usedNetworks, ...key } = found;
  return { ...key, addresses, usedNetworks: networksFrom(usedNetworks) };
}

/** Restricts a key. The caller must have locked the organization, and have checked that the key is active. */
export async function restrictApiKey(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { id, addresses, requestsPerSecond }: Pick<RestrictedKey, 'addresses' | 'requestsPerSecond'> & { id: string },
): Promise<void> {
  await tx.apiKey.update({
    where: { organizationId_id: { organizationId, id } },
    data: { allowedAddresses: [...addresses], requestsPerSecond },
    select: { id: true },
  });
}

/**
 * Returns the networks in the column. Omits entries that are not addresses, because a proxy can send any text as the address of a
 * client.
 */
function networksFrom(column: Prisma.JsonValue): UsedNetwork[] {
  const days = Object.entries(Object(column)).flatMap(([text, day]) => {
    const network = canonicalNetwork(text);
    return network === null ? [] : [{ network, day: String(day) }];
  });
  return days.sort((one, other) => Number(one.day < other.day) - Number(one.day > other.day));
}

/** Returns when and by whom a user's key was rotated or revoked, and when it expires; `null` if the user has no such key. */
export async function findKeyHistory(
  tx: Transaction,
  scope: OrganizationScope,
  { id, userId }: { id: string; userId: string },
) {
  return tx.apiKey.findFirst({
    where: { organizationId: scope.organizationId, id, userId },
    select: {
      name: true,
      expiresAt: true,
      expiredAt: true,
      rotatedAt: true,
      rotatedBy: { select: { name: true } },
      revokedAt: true,
      revokedBy: { select: { name: true } },
      isLeaked: true,
      isUnused: true,
    },
  });
}

/** Follows the successors of a rotated key. Returns the active successor; `null` if no successor is active. */
export async function findActiveSuccessor(
  tx: Transaction,
  scope: OrganizationScope,
  { id, now }: { id: string; now: Date },
): Promise<Pick<ApiKey, 'name' | 'prefix'> | null> {
  const [row] = await tx.$queryRaw<Pick<ApiKey, 'name' | 'prefix'>[]>`
    with recursive line as (
      select id, successor_id from api_keys where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid
      union
      select k.id, k.successor_id from api_keys k join line on k.id = line.successor_id
      where k.organization_id = ${scope.organizationId}::uuid)
    select k.name, k.key_prefix as prefix
    from line join api_keys k on k.organization_id = ${scope.organizationId}::uuid and k.id = line.id
    where ${isActiveAt('k', now)}
    limit 1`;
  return row ?? null;
}

/**
 * Sets the normalized name of all API keys that lack a normalized name, in chunks. If the names of several current keys of a user
 * look alike, only the oldest key gets the normalized name. The other keys get a unique value instead, so that they stay valid,
 * but no new key can have such a name.
 */
export async function fillNameKeys(client: pg.ClientBase): Promise<void> {
  let [holder, taken] = ['', new Set<string>()];
  for (;;) {
    const { rows } = await client.query<{
      organization_id: string;
      user_id: string;
      id: string;
      name: string;
      is_current: boolean;
    }>(
      `select organization_id, user_id, id, name, ${isCurrent('api_keys')} as is_current
       from api_keys where name_key is null order by organization_id, user_id, created_at, id limit ${CHUNK_ROWS}`,
    );
    if (rows.length === 0) return;
    const forms = rows.map(({ organization_id, user_id, id, name, is_current }) => {
      if (holder !== `${organization_id} ${user_id}`) {
        [holder, taken] = [`${organization_id} ${user_id}`, new Set()];
      }
      const form = nameKeyOf(name);
      const key = form.toString('hex');
      if (is_current && taken.has(key)) return createHash('sha256').update(form).update(id).digest();
      if (is_current) taken.add(key);
      return form;
    });
    await client.query(
      `update api_keys k set name_key = new.name_key
       from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as new (organization_id, id, name_key)
       where k.organization_id = new.organization_id and k.id = new.id`,
      [rows.map((row) => row.organization_id), rows.map(({ id }) => id), forms],
    );
  }
}
