import type { Actor } from '../domain/actor.ts';
import { DomainError, invalidField } from '../domain/errors.ts';
import { recordAudit } from '../store/audit.ts';
import type { Database, Transaction } from '../store/database.ts';
import { findPasswordHash, type LockedUser } from '../store/users.ts';
import { verifyPassword } from './password.ts';
import { lockActor } from './people-authority.ts';
import { clearAttempt, refuseWhenRateLimited } from './rate-limit.ts';

export type PasswordProof = {
  readonly password: string;
  /** The form's, beside which a refusal is shown. */
  readonly field: string;
  /** What it was asked for, for the audit log: "change the password". */
  readonly to: string;
};

/**
 * Somebody who is signed in gives the password once more; a session left open, or stolen, is not enough. It is slowed like
 * sign-in, and returns the hash that the password was proven against. A failure is recorded only where the slowing lets it
 * be judged: whoever floods the form fills no log.
 */
export async function provePassword(
  db: Database,
  actor: Actor,
  { password, field, to }: PasswordProof,
): Promise<string> {
  const attempt = { at: 'password', account: actor.email, ip: actor.trace.ip } as const;
  await refuseWhenRateLimited(db, attempt);
  const passwordHash = await findPasswordHash(db, actor.scope, actor.userId);
  if (!(await verifyPassword(passwordHash, password)) || passwordHash === null) {
    const { scope, userId, trace } = actor;
    const event = { act: 'user.password_check_failed', actorUserId: userId, targetUserId: userId, trace } as const;
    await recordAudit(db.prisma, scope, { ...event, detail: { to } });
    throw invalidField(field, 'is not right.');
  }
  await clearAttempt(db, attempt);
  return passwordHash;
}

/** Who acts, held as `lockActor` does; refused where the proven password is no longer theirs. */
export async function lockProven(tx: Transaction, actor: Actor, provenHash: string): Promise<LockedUser> {
  const user = await lockActor(tx, actor);
  if (user.passwordHash !== provenHash)
    throw new DomainError('conflict', 'Your password was changed elsewhere meanwhile. Sign in again.');
  return user;
}
