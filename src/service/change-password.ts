import type { Actor } from '../domain/actor.ts';
import { invalidField } from '../domain/errors.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { hashPassword, refuseWeakPassword, replacePassword } from './password.ts';
import { lockProven, provePassword } from './prove-password.ts';
import { startSession } from './start-session.ts';

/** This session ends too, whose token somebody else may have; the answer has the token of the one that goes on. */
export async function changePassword(
  db: Database,
  actor: Actor,
  { currentPassword, password, now = new Date() }: { currentPassword: string; password: string; now?: Date },
): Promise<{ token: string }> {
  const proof = { password: currentPassword, field: 'current_password', to: 'change the password' };
  const provenHash = await provePassword(db, actor, proof);
  refuseWeakPassword(password, actor);
  if (password === currentPassword) throw invalidField('password', 'is the one that you have. Take another one.');
  const passwordHash = await hashPassword(password);
  return transaction(db, async (tx) => {
    const user = await lockProven(tx, actor, provenHash);
    refuseWeakPassword(password, { ...actor, hasSecondFactor: user.totpSince !== null });
    await replacePassword(tx, actor.scope, { user, passwordHash });
    await recordAudit(tx, actor.scope, {
      ...{ act: 'user.password_set', actorUserId: user.id, targetUserId: user.id, trace: actor.trace },
    });
    return { token: await startSession(tx, actor.scope, { userId: user.id, isComplete: true, at: now }) };
  });
}
