import type { Actor } from '../../domain/actor.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { type Conflict, type Invalid, runAction } from '../outcome.ts';
import { refusePasswords } from '../single-sign-on/requirement.ts';
import { findWeakness, hashPassword, replacePassword } from './password.ts';
import { lockSession } from './sessions.ts';
import { startSession } from './start-session.ts';

/** The actor's session continues under a new token, because somebody else may know the old one. */
export type SessionRenewed = { readonly kind: 'session-renewed'; readonly token: string };

type Change = {
  readonly password: string;
  /** Of the actor's session. */
  readonly token: string;
  /** The proof of the session, which the renewed one keeps: a password that somebody chose proves nothing. */
  readonly provedAt: Date | null;
  readonly now?: Date;
};

export async function changePassword(
  db: Database,
  actor: Actor,
  { password, token, provedAt, now = new Date() }: Change,
): Promise<SessionRenewed | Invalid | Conflict> {
  const weakness = findWeakness(password, actor);
  if (weakness !== null) return weakness;
  const passwordHash = await hashPassword(password);
  return runAction(db, async (tx) => {
    const { user } = await lockSession(tx, actor, token);
    const refusal = await refusePasswords(tx, actor.scope, user.id);
    if (refusal !== null) return refusal;
    const tooWeakNow = findWeakness(password, { ...actor, hasSecondFactor: user.totpSince !== null });
    if (tooWeakNow !== null) return tooWeakNow;
    await replacePassword(tx, actor.scope, { user, passwordHash });
    await recordAudit(tx, actor.scope, {
      action: 'user.password_set',
      actorUserId: user.id,
      targetUserId: user.id,
      auditSource: actor.auditSource,
    });
    const newToken = await startSession(tx, actor.scope, {
      userId: user.id,
      isComplete: true,
      at: now,
      provedAt,
      auditSource: actor.auditSource,
    });
    return { kind: 'session-renewed', token: newToken };
  });
}
