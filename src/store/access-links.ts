import type { AccessLinkKind } from '../domain/access-link.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Database, Transaction } from './database.ts';
import { FORGET_AT_ONCE, forgetInBatches } from './forget.ts';

export type NewAccessLink = {
  readonly userId: string;
  /** SHA-256 of the token. */
  readonly tokenHash: Buffer;
  readonly kind: AccessLinkKind;
  /** Null: an operator, or the user's own request. */
  readonly madeByUserId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export async function insertAccessLink(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, tokenHash, kind, madeByUserId, createdAt, expiresAt }: NewAccessLink,
): Promise<void> {
  await tx.accessLink.create({
    data: {
      ...{ organizationId: scope.organizationId, userId, kind, madeByUserId, createdAt, expiresAt },
      tokenHash: Uint8Array.from(tokenHash),
    },
  });
}

/** False: it was used, voided or is past its time; of many at once exactly one gets true. */
export async function useAccessLink(
  tx: Transaction,
  scope: OrganizationScope,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<boolean> {
  const { count } = await tx.accessLink.updateMany({
    where: {
      ...{ organizationId: scope.organizationId, tokenHash: Uint8Array.from(tokenHash) },
      ...{ usedAt: null, expiresAt: { gt: at } },
    },
    data: { usedAt: at },
  });
  return count === 1;
}

/** Every link of the user's that could still be used. */
export async function voidAccessLinksOf(tx: Transaction, scope: OrganizationScope, userId: string): Promise<void> {
  await tx.accessLink.deleteMany({ where: { organizationId: scope.organizationId, userId, usedAt: null } });
}

/** Deletes links that are past their time, of every organization, a bounded number at a time. */
export async function forgetOldAccessLinks(db: Database, now: Date): Promise<number> {
  return forgetInBatches(
    () => db.prisma.$executeRaw`
      delete from access_links where (organization_id, token_hash) in (
        select organization_id, token_hash from access_links where expires_at <= ${now}
        limit ${FORGET_AT_ONCE}::int for update skip locked)`,
  );
}
