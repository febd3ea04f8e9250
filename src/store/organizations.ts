import { randomBytes } from 'node:crypto';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { KeyPolicy } from '../domain/role.ts';
import type { Transaction } from './database.ts';

export async function insertOrganization(tx: Transaction, scope: OrganizationScope, { name }: { name: string }) {
  return tx.organization.create({ data: { id: scope.organizationId, name, cursorKey: randomBytes(32) } });
}

/** Null: resumes it. Repeating changes nothing, which false tells: the first suspension's time stays. */
export async function setSuspended(tx: Transaction, scope: OrganizationScope, at: Date | null): Promise<boolean> {
  const { count } = await tx.organization.updateMany({
    where: { id: scope.organizationId, suspendedAt: at === null ? { not: null } : null },
    data: { suspendedAt: at },
  });
  return count === 1;
}

export type OrganizationRecord = {
  readonly name: string;
  /** Null: not suspended. */
  readonly suspendedAt: Date | null;
  readonly createdAt: Date;
  readonly policy: KeyPolicy;
};

export async function getOrganization(tx: Transaction, scope: OrganizationScope): Promise<OrganizationRecord> {
  const { name, suspendedAt, createdAt, membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys } =
    await tx.organization.findUniqueOrThrow({ where: { id: scope.organizationId } });
  return { name, suspendedAt, createdAt, policy: { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys } };
}

/**
 * The organization, held until the transaction ends: of acts that must see each other, such as two that each take away an
 * administrator, one waits for the other. Nobody who merely adds a row to the organization waits.
 */
export async function lockOrganization(tx: Transaction, scope: OrganizationScope): Promise<OrganizationRecord> {
  await tx.$queryRaw`select 1 from organizations where id = ${scope.organizationId}::uuid for no key update`;
  return getOrganization(tx, scope);
}

export async function setPolicy(tx: Transaction, scope: OrganizationScope, policy: KeyPolicy): Promise<void> {
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys } = policy;
  await tx.organization.update({
    where: { id: scope.organizationId },
    data: { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys },
  });
}
