import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Transaction } from '../sql/database.ts';
import { isActiveAt } from './api-keys.ts';

/** When and by whom a key of the user was rotated or revoked, and when it expires; `null` if there is no such key. */
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

/** Follows the successors of a rotated key to the one that is active now; null if none is. */
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
    where ${isActiveAt('k', now)}
    limit 1`;
  return row ?? null;
}
