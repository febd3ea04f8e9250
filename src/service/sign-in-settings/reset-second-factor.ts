import { type ActorOrOperator, isOperator } from '../../domain/audit/actor.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { deletePasskeysOf } from '../../store/people/passkeys.ts';
import { endSessionsOf } from '../../store/people/sessions.ts';
import { changeUser, type LockedUser, lockUser, NO_SECOND_FACTOR } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { lockToManage, noSuchUser } from '../authority/people.ts';
import { checkBreakGlass } from '../authority/single-sign-on.ts';
import { type Conflict, conflict, DONE, type Done, runAction } from '../outcome.ts';

/**
 * Removes the second factor of a user who lost the authenticator and the recovery codes; a pending set-up ends too, and so do the
 * passkeys, which somebody else may have: afterwards, only the password opens the account. It needs the right to make the user a
 * reset link: both together open the account. It ends every session of the user, so that nobody who is in one can set up a
 * second factor of their own.
 */
export async function resetSecondFactor(
  db: Database,
  actor: ActorOrOperator,
  { userId }: { userId: string },
): Promise<Done | Conflict> {
  return runAction(db, async (tx) => {
    const target = await lockTarget(tx, actor, userId);
    // One's own has a page of its own, which keeps the last way to sign in.
    if (!isOperator(actor) && target.id === actor.userId)
      return conflict('Turn off your own second factor under My profile.');
    if (target.deactivatedAt !== null)
      return conflict(`${shownEmail(target.email)} is deactivated. Reactivate the user first.`);
    const passkeys = await deletePasskeysOf(tx, actor.scope, target.id);
    if (target.totpSecret === null && passkeys === 0)
      return conflict(`${shownEmail(target.email)} has neither a second factor nor a passkey.`);
    // An operator is the last way in.
    const refusal = isOperator(actor) ? null : await checkBreakGlass(tx, actor.scope, target);
    if (refusal !== null) return refusal;
    await changeUser(tx, actor.scope, target.id, NO_SECOND_FACTOR);
    await endSessionsOf(tx, actor.scope, target.id);
    await recordAudit(tx, actor.scope, {
      action: 'user.second_factor_removed',
      actorUserId: isOperator(actor) ? null : actor.userId,
      targetUserId: target.id,
      detail: {
        before: target.totpSince !== null ? 'on' : target.totpSecret !== null ? 'begun, not confirmed' : 'off',
        ...(passkeys > 0 && { passkeys: String(passkeys) }),
      },
      auditSource: isOperator(actor) ? null : actor.auditSource,
    });
    return DONE;
  });
}

async function lockTarget(tx: Transaction, actor: ActorOrOperator, userId: string): Promise<LockedUser> {
  if (!isOperator(actor)) return (await lockToManage(tx, actor, userId)).target;
  const user = await lockUser(tx, actor.scope, userId);
  if (user === null) throw noSuchUser();
  return user;
}
