import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Database, Transaction } from './database.ts';
import { FORGET_AT_ONCE, forgetInBatches } from './forget.ts';

export const IDEMPOTENCY_HOURS = 24;

export type Claim = { kind: 'ours' } | { kind: 'answered'; requestHash: Buffer; answer: string };

/**
 * Takes the key for this transaction, or tells what was answered to it before. Whoever comes second waits for the first
 * one's transaction, so that of many at once exactly one does the work. A key older than 24 hours counts as new.
 */
export async function claimIdempotencyKey(
  tx: Transaction,
  scope: OrganizationScope,
  { key, requestHash }: { key: string; requestHash: Buffer },
): Promise<Claim> {
  const claimed = await tx.$executeRaw`
    insert into idempotency_keys as k (organization_id, key, request_hash, answer, created_at)
    values (${scope.organizationId}::uuid, ${key}, ${requestHash}, '', now())
    on conflict (organization_id, key) do update
      set request_hash = excluded.request_hash, answer = '', created_at = now()
      where k.created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS}::int)`;
  if (claimed === 1) return { kind: 'ours' };
  const row = await tx.idempotencyKey.findUniqueOrThrow({
    where: { organizationId_key: { organizationId: scope.organizationId, key } },
  });
  return { kind: 'answered', requestHash: Buffer.from(row.requestHash), answer: row.answer };
}

export async function recordAnswer(
  tx: Transaction,
  scope: OrganizationScope,
  { key, answer }: { key: string; answer: string },
) {
  await tx.idempotencyKey.update({
    where: { organizationId_key: { organizationId: scope.organizationId, key } },
    data: { answer },
  });
}

/** Deletes keys older than 24 hours, of every organization, a bounded number at a time. */
export async function forgetOldIdempotencyKeys(db: Database): Promise<number> {
  return forgetInBatches(
    () => db.prisma.$executeRaw`
      delete from idempotency_keys where (organization_id, key) in (
        select organization_id, key from idempotency_keys
        where created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS}::int)
        order by created_at limit ${FORGET_AT_ONCE}::int
        for update skip locked)`,
  );
}
