import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import { type Database, PREPARED, type Transaction } from '../sql/database.ts';

export const IDEMPOTENCY_HOURS = 24;

type Claim = {
  readonly key: string;
  /** The hash of the request as it was sent. */
  readonly requestHash: Buffer;
  /**
   * The hash of a creation with its defaults filled in, by which servers of version 1.0 recognize a retry. Default:
   * `requestHash`. The next version needs neither this member nor the column "request_hash".
   */
  readonly filledHash?: Buffer;
};

/** The outcome of a claim: the key is new ("claimed"), or it was used and `recordResult` stored `result` for it. */
export type KeyClaim = { kind: 'claimed' } | { kind: 'used'; isSameRequest: boolean; result: string };

/**
 * Claims the key for this transaction, or returns the stored result if the key was used. A second caller waits until the first
 * caller's transaction ends, so exactly one of several concurrent callers does the work. A key that is older than 24 hours counts
 * as new.
 */
export async function claimIdempotencyKey(
  tx: Transaction,
  scope: OrganizationScope,
  { key, requestHash, filledHash = requestHash }: Claim,
): Promise<KeyClaim> {
  const claimed = await tx.$executeRaw`
    insert into idempotency_keys as k (organization_id, key, request_hash, sent_hash, answer, created_at)
    values (${scope.organizationId}::uuid, ${key}, ${filledHash}, ${requestHash}, '', now())
    on conflict (organization_id, key) do update
      set request_hash = excluded.request_hash, sent_hash = excluded.sent_hash, answer = '', created_at = now()
      where k.created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS}::int) ${PREPARED}`;
  if (claimed === 1) return { kind: 'claimed' };
  // The insert has locked the row, so it cannot change before this query.
  const [row] = await tx.$queryRaw<{ isSameRequest: boolean; result: string }[]>`
    select coalesce(sent_hash = ${requestHash}, false) or request_hash = ${filledHash} as "isSameRequest", answer as result
    from idempotency_keys
    where organization_id = ${scope.organizationId}::uuid and key = ${key} ${PREPARED}`;
  if (row === undefined) throw new Error('An idempotency key that is used was not found.');
  return { kind: 'used', ...row };
}

/** Stores the result of the work for which this transaction has claimed the key. */
export async function recordResult(
  tx: Transaction,
  scope: OrganizationScope,
  { key, result }: { key: string; result: string },
): Promise<void> {
  await tx.$executeRaw`
    update idempotency_keys set answer = ${result}
    where organization_id = ${scope.organizationId}::uuid and key = ${key} ${PREPARED}`;
}

/** Deletes in chunks, for all organizations, the keys that are older than 24 hours. Returns the number of deleted keys. */
export async function deleteExpiredIdempotencyKeys(db: Database, deletion: Pick<Deletion, 'signal'>): Promise<number> {
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from idempotency_keys where (organization_id, key) in (
        select organization_id, key from idempotency_keys
        where created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS}::int)
        order by created_at limit ${CHUNK_ROWS}::int
        for update skip locked)`,
  );
}
