import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { AccessLinkKind } from '../../domain/people/access-link.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';

export type NewAccessLink = {
  readonly userId: string;
  /** The SHA-256 of the token. */
  readonly tokenHash: Buffer;
  readonly kind: AccessLinkKind;
  /** The user who made the link; `null` if an operator made it, or the recipient requested it. */
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
      organizationId: scope.organizationId,
      tokenHash: Uint8Array.from(tokenHash),
      userId,
      kind,
      madeByUserId,
      createdAt,
      expiresAt,
    },
  });
}

/**
 * Marks a link as used. Returns `false` if the link was used or voided, or has expired. Exactly one of several concurrent calls
 * returns `true`.
 */
export async function useAccessLink(
  tx: Transaction,
  scope: OrganizationScope,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<boolean> {
  const { count } = await tx.accessLink.updateMany({
    where: {
      organizationId: scope.organizationId,
      tokenHash: Uint8Array.from(tokenHash),
      usedAt: null,
      expiresAt: { gt: at },
    },
    data: { usedAt: at },
  });
  return count === 1;
}

/** Deletes the user's unused links. Returns the number of deleted links. */
export async function voidAccessLinksOf(tx: Transaction, scope: OrganizationScope, userId: string): Promise<number> {
  const where = { organizationId: scope.organizationId, userId, usedAt: null };
  return (await tx.accessLink.deleteMany({ where })).count;
}

/** Deletes in chunks, for all organizations, the expired links. Returns the number of deleted links. */
export async function deleteExpiredAccessLinks(db: Database, deletion: Deletion): Promise<number> {
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from access_links where (organization_id, token_hash) in (
        select organization_id, token_hash from access_links where expires_at <= ${deletion.now}
        limit ${CHUNK_ROWS}::int for update skip locked)`,
  );
}
