import { randomBytes } from 'node:crypto';
import type { Keyring } from '../../domain/keyring.ts';
import type { NoticeSettings } from '../../domain/keys/key-notice.ts';
import type { OrganizationLimits } from '../../domain/keys/request-limits.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { KeyPolicy } from '../../domain/people/role.ts';
import type { Transaction } from '../sql/database.ts';
import { placeOfCursorKey } from '../sql/secrets.ts';

/** Inserts an organization, with a new key that signs its page cursors. The keyring encrypts this key. */
export async function insertOrganization(
  tx: Transaction,
  scope: OrganizationScope,
  { name, keyring }: { name: string; keyring: Keyring },
) {
  const cursorKey = keyring.encrypt(randomBytes(32), placeOfCursorKey(scope.organizationId));
  return tx.organization.create({ data: { id: scope.organizationId, name, cursorKey } });
}

/** Suspends the organization, or resumes it if `at` is `null`. Returns `false` if the organization is already in this state. */
export async function setSuspended(tx: Transaction, scope: OrganizationScope, at: Date | null): Promise<boolean> {
  const { count } = await tx.organization.updateMany({
    where: { id: scope.organizationId, suspendedAt: at === null ? { not: null } : null },
    data: { suspendedAt: at },
  });
  return count === 1;
}

export type OrganizationRecord = {
  readonly name: string;
  /** `null` if the organization is not suspended. */
  readonly suspendedAt: Date | null;
  readonly createdAt: Date;
  readonly policy: KeyPolicy;
  readonly notices: NoticeSettings;
  readonly limits: OrganizationLimits;
};

export async function getOrganization(tx: Transaction, scope: OrganizationScope): Promise<OrganizationRecord> {
  const row = await tx.organization.findUniqueOrThrow({ where: { id: scope.organizationId } });
  const { name, suspendedAt, createdAt, endsUnusedAfterDays, tellsNewNetworks } = row;
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses } = row;
  return {
    name,
    suspendedAt,
    createdAt,
    policy: { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses },
    notices: { endsUnusedAfterDays, tellsNewNetworks },
    limits: { perKey: row.requestsPerKey, perOrganization: row.requestsPerOrganization },
  };
}

/**
 * Locks the organization until the transaction ends. This lock serializes changes that must not run at the same time, such as two
 * removals of administrators, or the revocation of a key and an API write with that key. The organization must be locked before
 * any other row. Inserting rows of the organization does not wait for this lock, except rows of parent_programs.
 */
export async function lockOrganization(tx: Transaction, scope: OrganizationScope): Promise<OrganizationRecord> {
  await tx.$queryRaw`select 1 from organizations where id = ${scope.organizationId}::uuid for no key update`;
  return getOrganization(tx, scope);
}

export async function setPolicy(tx: Transaction, scope: OrganizationScope, policy: KeyPolicy): Promise<void> {
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses } = policy;
  await tx.organization.update({
    where: { id: scope.organizationId },
    data: { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses },
  });
}

/**
 * Sets whether and when unused keys end, and whether holders of keys get notices about new networks. Pass `endsUnusedSince` only if
 * unused keys will end sooner than before.
 */
export async function setNoticeSettings(
  tx: Transaction,
  scope: OrganizationScope,
  { endsUnusedAfterDays, tellsNewNetworks, endsUnusedSince }: NoticeSettings & { readonly endsUnusedSince?: Date },
): Promise<void> {
  await tx.organization.update({
    where: { id: scope.organizationId },
    data: { endsUnusedAfterDays, tellsNewNetworks, ...(endsUnusedSince !== undefined && { endsUnusedSince }) },
  });
}

export async function setLimits(tx: Transaction, scope: OrganizationScope, limits: OrganizationLimits): Promise<void> {
  await tx.organization.update({
    where: { id: scope.organizationId },
    data: { requestsPerKey: limits.perKey, requestsPerOrganization: limits.perOrganization },
  });
}
