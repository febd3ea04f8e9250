import type { OrganizationScope } from '../domain/organization-scope.ts';
import { LAST_SEEN_SECONDS, SESSION_HOURS, SESSION_IDLE_MINUTES } from '../domain/session.ts';
import type { Database, Transaction } from './database.ts';
import { FORGET_AT_ONCE, forgetInBatches } from './forget.ts';

export type NewSession = {
  readonly userId: string;
  /** SHA-256 of the token. */
  readonly tokenHash: Buffer;
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
      ...{ organizationId: scope.organizationId, userId, isComplete, createdAt: at, lastSeenAt: at },
      tokenHash: Uint8Array.from(tokenHash),
    },
  });
}

/** False: it had ended before. */
export async function endSession(tx: Transaction, scope: OrganizationScope, tokenHash: Buffer): Promise<boolean> {
  const { count } = await tx.session.deleteMany({
    where: { organizationId: scope.organizationId, tokenHash: Uint8Array.from(tokenHash) },
  });
  return count === 1;
}

/** Every one, those that wait for a second factor too. */
export async function endSessionsOf(tx: Transaction, scope: OrganizationScope, userId: string): Promise<void> {
  await tx.session.deleteMany({ where: { organizationId: scope.organizationId, userId } });
}

const TOUCH = {
  name: 'touch_session',
  text: `
    update sessions set last_seen_at = $3
    where organization_id = $1 and token_hash = $2 and last_seen_at <= $3::timestamptz - make_interval(secs => ${LAST_SEEN_SECONDS})`,
};

/** Forward only, and at most once a minute however many requests come at once. */
export async function touchSession(
  db: Database,
  scope: OrganizationScope,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<void> {
  await db.pool.query({ ...TOUCH, values: [scope.organizationId, tokenHash, at] });
}

/** Deletes sessions that have ended by their age, of every organization, a bounded number at a time. */
export async function forgetOldSessions(db: Database, now: Date): Promise<number> {
  const idleSince = new Date(now.getTime() - SESSION_IDLE_MINUTES * 60_000);
  const madeBefore = new Date(now.getTime() - SESSION_HOURS * 3_600_000);
  return forgetInBatches(
    () => db.prisma.$executeRaw`
      delete from sessions where (organization_id, token_hash) in (
        select organization_id, token_hash from sessions
        where last_seen_at <= ${idleSince} or created_at <= ${madeBefore}
        limit ${FORGET_AT_ONCE}::int for update skip locked)`,
  );
}
