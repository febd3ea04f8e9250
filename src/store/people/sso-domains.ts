import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Transaction } from '../sql/database.ts';

export type SsoDomainRecord = {
  readonly domain: string;
  readonly token: string;
  /** `null` if it is not verified. */
  readonly verifiedAt: Date | null;
};

/** By name; there are at most 20. */
export async function listSsoDomains(
  tx: Transaction,
  { organizationId }: OrganizationScope,
): Promise<SsoDomainRecord[]> {
  return tx.ssoDomain.findMany({
    where: { organizationId },
    orderBy: { domain: 'asc' },
    select: { domain: true, token: true, verifiedAt: true },
  });
}

/** Throws a unique violation if the organization has the domain. */
export async function insertSsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  domain: { readonly domain: string; readonly token: string },
): Promise<void> {
  await tx.ssoDomain.create({ data: { organizationId, ...domain }, select: { domain: true } });
}

/**
 * Returns false if the organization does not have the domain with this token, or it is verified. Throws a unique violation if another
 * organization has verified it.
 */
export async function verifySsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { domain, token, at }: { readonly domain: string; readonly token: string; readonly at: Date },
): Promise<boolean> {
  const where = { organizationId, domain, token, verifiedAt: null };
  return (await tx.ssoDomain.updateMany({ where, data: { verifiedAt: at } })).count === 1;
}

/** Returns the domain as it was; `null` if the organization does not have it. */
export async function deleteSsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  domain: string,
): Promise<{ readonly verifiedAt: Date | null } | null> {
  const [deleted] = await tx.$queryRaw<{ verifiedAt: Date | null }[]>`
    delete from sso_domains where organization_id = ${organizationId}::uuid and domain = ${domain}
    returning verified_at as "verifiedAt"`;
  return deleted ?? null;
}

export async function hasVerifiedSsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  domain: string,
): Promise<boolean> {
  return (await tx.ssoDomain.count({ where: { organizationId, domain, verifiedAt: { not: null } } })) === 1;
}
