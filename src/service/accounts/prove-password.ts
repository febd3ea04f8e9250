import type { Actor } from '../../domain/actor.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { findPasswordHash, type LockedUser } from '../../store/users.ts';
import { type Conflict, conflict, type Invalid, invalid, type RateLimited } from '../outcome.ts';
import { refusePasswords } from '../single-sign-on/requirement.ts';
import { clearAttempt, consumeAttempt } from './attempt-limits.ts';
import { verifyPassword } from './password.ts';
import { lockActor } from './people-authority.ts';

export type GivenPassword = {
  readonly password: string;
  /** The form's field, where a refusal is shown. */
  readonly field: string;
  /** What the password is needed for, as the audit log says it: "change the password". */
  readonly to: string;
};

/** `passwordHash` is the one that the password was verified against. */
export type Proof = { readonly kind: 'proven'; readonly passwordHash: string };

/**
 * Asks a signed-in user for the password once more, because the session may have been left open or stolen. Attempts are
 * limited as at sign-in. A wrong password is recorded only if the attempt was admitted, so that a flood cannot fill the log.
 */
export async function provePassword(
  db: Database,
  actor: Actor,
  { password, field, to }: GivenPassword,
): Promise<Proof | Invalid | RateLimited> {
  const attempt = { at: 'password', account: actor.email, ip: actor.auditSource.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;
  const passwordHash = await findPasswordHash(db, actor.scope, actor.userId);
  if (!(await verifyPassword(passwordHash, password)) || passwordHash === null) {
    await recordAudit(db.prisma, actor.scope, {
      action: 'user.password_check_failed',
      actorUserId: actor.userId,
      targetUserId: actor.userId,
      detail: { to },
      auditSource: actor.auditSource,
    });
    return invalid(field, 'is not right.');
  }
  await clearAttempt(db, attempt);
  return { kind: 'proven', passwordHash };
}

/** The actor's row, locked; "conflict" where the password has changed since it was proven. */
export async function lockProven(
  tx: Transaction,
  actor: Actor,
  { passwordHash }: Proof,
): Promise<{ readonly kind: 'locked'; readonly user: LockedUser } | Conflict> {
  const user = await lockActor(tx, actor);
  if (user.passwordHash !== passwordHash)
    return conflict('Your password was changed elsewhere meanwhile. Sign in again.');
  return (await refusePasswords(tx, actor.scope, user.id)) ?? { kind: 'locked', user };
}
