import type { Actor } from '../domain/actor.ts';
import { DomainError, invalidField } from '../domain/errors.ts';
import { voidAccessLinksOf } from '../store/access-links.ts';
import { recordAudit } from '../store/audit.ts';
import type { Database } from '../store/database.ts';
import { endSessionsOf } from '../store/sessions.ts';
import { changeUser } from '../store/users.ts';
import { hashPassword, refuseWeakPassword } from './password.ts';
import { lockActor } from './people-authority.ts';
import { provePassword } from './prove-password.ts';
import { startSession } from './start-session.ts';

/**
 * Ends every session of the user's, this one too, whose token somebody else may have; the answer has the token of the one
 * that goes on. It voids every open link.
 */
export async function changePassword(
  db: Database,
  actor: Actor,
  { currentPassword, password, now = new Date() }: { currentPassword: string; password: string; now?: Date },
): Promise<{ token: string }> {
  const provenHash = await provePassword(db, actor, { password: currentPassword, field: 'current_password' });
  refuseWeakPassword(password, actor);
  if (password === currentPassword) throw invalidField('password', 'is the one that you have. Take another one.');
  const passwordHash = await hashPassword(password);
  return db.prisma.$transaction(async (tx) => {
    const user = await lockActor(tx, actor);
    if (user.passwordHash !== provenHash)
      throw new DomainError('conflict', 'Your password was changed elsewhere meanwhile. Sign in again.');
    refuseWeakPassword(password, { ...actor, hasSecondFactor: user.totpSince !== null });
    await changeUser(tx, actor.scope, user.id, { passwordHash });
    await endSessionsOf(tx, actor.scope, user.id);
    await voidAccessLinksOf(tx, actor.scope, user.id);
    await recordAudit(tx, actor.scope, {
      ...{ act: 'user.password_set', actorUserId: user.id, targetUserId: user.id, trace: actor.trace },
    });
    return { token: await startSession(tx, actor.scope, { userId: user.id, isComplete: true, at: now }) };
  });
}
