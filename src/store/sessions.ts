import type { OrganizationScope } from '../domain/organization-scope.ts';
import { LAST_SEEN_SECONDS, SESSION_HOURS, SESSION_IDLE_MINUTES } from '../domain/session.ts';
import type { Database, Transaction } from './database.ts';
import { BATCH_ROWS, deleteInBatches } from './delete-in-batches.ts';

export type NewSession = {
  readonly userId: string;
  /** SHA-256 of the token. */
  readonly tokenHash: Buffer;
  /** False: the second factor is still missing. */
  readonly isComplete: boolean;
  readonly at: Date;
};

export async function insertSession(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, tokenHash, isComplete, at }: NewSession,
): Promise<void> {
  await tx.session.create({
    data: {
      organizationId: scope.organizationId,
      tokenHash: Uint8Array.from(tokenHash),
      userId,
      isComplete,
      createdAt: at,
      lastSeenAt: at,
    },
  });
}

/** Returns false if the session had already ended. */
export async function endSession(tx: Transaction, scope: OrganizationScope, tokenHash: Buffer): Promise<boolean> {
  const { count } = await tx.session.deleteMany({
    where: { organizationId: scope.organizationId, tokenHash: Uint8Array.from(tokenHash) },
  });
  return count === 1;
}

/** Ends all sessions of the user, including those that wait for a second factor. */
export async function endSessionsOf(tx: Transaction, scope: OrganizationScope, userId: string): Promise<void> {
  await tx.session.deleteMany({ where: { organizationId: scope.organizationId, userId } });
}

const TOUCH = {
  name: 'touch_session',
  text: `
    update sessions set last_seen_at = $3
    where organization_id = $1 and token_hash = $2 and last_seen_at <= $3::timestamptz - make_interval(secs => ${LAST_SEEN_SECONDS})`,
};

/** Moves `last_seen_at` forward, at most once a minute, whatever the number of concurrent requests. */
export async function touchSession(
  db: Database,
  scope: OrganizationScope,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<void> {
  await db.pool.query({ ...TOUCH, values: [scope.organizationId, tokenHash, at] });
}

/** Deletes the expired sessions of all organizations, in batches. Returns how many. */
export async function deleteExpiredSessions(db: Database, now: Date): Promise<number> {
  const idleSince = new Date(now.getTime() - SESSION_IDLE_MINUTES * 60_000);
  const createdBefore = new Date(now.getTime() - SESSION_HOURS * 3_600_000);
  return deleteInBatches(
    () => db.prisma.$executeRaw`
      delete from sessions where (organization_id, token_hash) in (
        select organization_id, token_hash from sessions
        where last_seen_at <= ${idleSince} or created_at <= ${createdBefore}
        limit ${BATCH_ROWS}::int for update skip locked)`,
  );
}
