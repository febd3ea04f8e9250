import type { Actor } from '../../domain/actor.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { type Conflict, type Invalid, invalid, joinInvalid, type RateLimited, runAction } from '../outcome.ts';
import { findWeakness, hashPassword, replacePassword } from './password.ts';
import { lockProven, provePassword } from './prove-password.ts';
import { startSession } from './start-session.ts';

/** The actor's session continues under a new token, because somebody else may know the old one. */
export type SessionRenewed = { readonly kind: 'session-renewed'; readonly token: string };

export async function changePassword(
  db: Database,
  actor: Actor,
  { currentPassword, password, now = new Date() }: { currentPassword: string; password: string; now?: Date },
): Promise<SessionRenewed | Invalid | Conflict | RateLimited> {
  const given = { password: currentPassword, field: 'current_password', to: 'change the password' };
  const proof = await provePassword(db, actor, given);
  if (proof.kind === 'rate-limited') return proof;
  const weakness = findWeakness(password, actor);
  if (proof.kind === 'invalid' || weakness !== null) return joinInvalid([proof, weakness]);
  if (password === currentPassword) return invalid('password', 'is the one that you have. Choose another one.');
  const passwordHash = await hashPassword(password);
  return runAction(db, async (tx) => {
    const locked = await lockProven(tx, actor, proof);
    if (locked.kind === 'conflict') return locked;
    const { user } = locked;
    const tooWeakNow = findWeakness(password, { ...actor, hasSecondFactor: user.totpSince !== null });
    if (tooWeakNow !== null) return tooWeakNow;
    await replacePassword(tx, actor.scope, { user, passwordHash });
    await recordAudit(tx, actor.scope, {
      action: 'user.password_set',
      actorUserId: user.id,
      targetUserId: user.id,
      auditSource: actor.auditSource,
    });
    const token = await startSession(tx, actor.scope, {
      userId: user.id,
      isComplete: true,
      at: now,
      auditSource: actor.auditSource,
    });
    return { kind: 'session-renewed', token };
  });
}
