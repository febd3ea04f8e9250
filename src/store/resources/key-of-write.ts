import { Prisma } from '../../../generated/prisma/client.ts';
import type { JudgedKey } from '../../domain/keys/api-key.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type Permission, rolesWith } from '../../domain/people/role.ts';
import { isActive } from '../keys/key-row.ts';
import { PREPARED, type Transaction } from '../sql/database.ts';
import { dateOf } from '../sql/values.ts';

/** The API key that writes, the permission that the write needs, and the client's address in the form of addressIn. */
export type Writer = { readonly keyId: string; readonly permission: Permission; readonly address: string | null };

/** The refusal of a key that may not write; `key` is `null` if the key does not exist. */
export type RefusedKey = { readonly kind: 'refused'; readonly key: JudgedKey | null; readonly at: Date };

export type Checked<T> = { readonly kind: 'accepted'; readonly value: T } | RefusedKey;

/**
 * Returns SQL that selects one row about the key, or no row if the key does not exist, and marks the statement as prepared. The
 * column "refused" is null if the key may write, and otherwise the key's state as JSON. "time_of_write" is the current time, or
 * slightly later, so that it is later than all earlier writes of the organization even if PostgreSQL's clock was set back.
 *
 * With `isLocked`, the statement first locks the organization until the transaction ends. Every change that ends or limits a key
 * takes the same lock, so the key may still write at the commit. This lock must be taken before the lock of any other row, as all
 * other code does.
 */
export function keyOfWrite(
  { organizationId }: OrganizationScope,
  { keyId, permission, address }: Writer,
  { isLocked }: { isLocked: boolean },
): Prisma.Sql {
  return Prisma.sql`
    select case when ${Prisma.raw(isActive('k', 'statement_timestamp()'))} and deactivated_at is null and suspended_at is null
                     and ${permission}::varchar = any(permissions) and role = any(${rolesWith(permission)}::role[])
                     and (allowed_addresses = '{}' or ${address}::inet <<= any(allowed_addresses::inet[]))
           then null
           else json_build_object(
             'organizationName', organization_name, 'organizationSuspendedAt', suspended_at,
             'organizationIsMoving', is_moving(${organizationId}::uuid), 'permissions', permissions,
             'expiresAt', expires_at, 'expiredAt', expired_at, 'rotatedAt', rotated_at, 'revokedAt', revoked_at, 'role', role,
             'userDeactivatedAt', deactivated_at, 'at', statement_timestamp(),
             'allowedAddresses', nullif(array_to_string(allowed_addresses, ' '), ''))
           end as refused, time_of_write
    from key_and_addresses_of_write(${organizationId}::uuid, ${keyId}::uuid, ${isLocked}) k ${PREPARED}`;
}

type StateAsJson = {
  readonly [Name in keyof JudgedKey]: JudgedKey[Name] extends Date | null ? string | null : JudgedKey[Name];
};

/** The column "refused" of the query that `keyOfWrite` returns. */
export type RefusedColumn = { readonly refused: (StateAsJson & { readonly at: string }) | null };

/** Returns the refusal of a key; `null` if the key may write. `row` is `undefined` if the query found no key. */
export function writeRefusalOf(row: RefusedColumn | undefined): RefusedKey | null {
  if (row === undefined) return { kind: 'refused', key: null, at: new Date() };
  if (row.refused === null) return null;
  const { at, organizationSuspendedAt, expiresAt, expiredAt, rotatedAt, revokedAt, userDeactivatedAt, ...others } =
    row.refused;
  const key = {
    ...others,
    organizationSuspendedAt: dateOf(organizationSuspendedAt),
    expiresAt: dateOf(expiresAt),
    expiredAt: dateOf(expiredAt),
    rotatedAt: dateOf(rotatedAt),
    revokedAt: dateOf(revokedAt),
    userDeactivatedAt: dateOf(userDeactivatedAt),
  };
  return { kind: 'refused', key, at: new Date(at) };
}

/** Checks whether the key may write. `isLocked` is `false` for a request that repeats the response of an earlier write. */
export async function checkKeyOfWrite(
  tx: Transaction,
  scope: OrganizationScope,
  { isLocked, ...writer }: Writer & { isLocked: boolean },
): Promise<Checked<null>> {
  const [row] = await tx.$queryRaw<RefusedColumn[]>(keyOfWrite(scope, writer, { isLocked }));
  return writeRefusalOf(row) ?? { kind: 'accepted', value: null };
}
