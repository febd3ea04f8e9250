import type { ApiKey, Prisma } from '../../../generated/prisma/client.ts';
import type { AddressList } from '../../domain/keys/address-list.ts';
import type { UsedNetwork } from '../../domain/keys/key-usage.ts';
import { canonicalNetwork } from '../../domain/network.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Transaction } from '../sql/database.ts';

// Where a key may be used from, and how much.

/** A key with what limits it. */
export type RestrictedKey = Pick<ApiKey, 'permissions' | 'expiresAt' | 'expiredAt' | 'rotatedAt' | 'revokedAt'> & {
  readonly addresses: AddressList;
  /** `null` if the key has the limit of its organization. */
  readonly requestsPerSecond: number | null;
  /** The last used networks, in canonical form, the latest first. */
  readonly usedNetworks: readonly UsedNetwork[];
};

/** Returns `null` if the user has no such key. */
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

/** Lock the organization first, and make sure that the key is active. */
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

/** A proxy can name a client by something that is no address, which is left out. */
function networksFrom(column: Prisma.JsonValue): UsedNetwork[] {
  const days = Object.entries(Object(column)).flatMap(([text, day]) => {
    const network = canonicalNetwork(text);
    return network === null ? [] : [{ network, day: String(day) }];
  });
  return days.sort((one, other) => Number(one.day < other.day) - Number(one.day > other.day));
}
