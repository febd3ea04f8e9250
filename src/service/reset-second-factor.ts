import { type Doer, isOperator } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, type Transaction, transaction } from '../store/database.ts';
import { endSessionsOf } from '../store/sessions.ts';
import { changeUser, type LockedUser, lockUser, NO_SECOND_FACTOR } from '../store/users.ts';
import { noSuchUser } from './key-authority.ts';
import { lockToManage } from './people-authority.ts';

/**
 * For whoever lost the authenticator and the recovery codes; a set-up that was begun ends as well. Whoever may make the
 * user a link that sets a password may do this: both together open the account, so never one of more power. Every session
 * of the user's ends, so that whoever is left in one sets up no factor of their own.
 */
export async function resetSecondFactor(db: Database, by: Doer, { userId }: { userId: string }): Promise<void> {
  await transaction(db, async (tx) => {
    const target = await lockTarget(tx, by, userId);
    if (target.deactivatedAt !== null)
      throw new DomainError('conflict', `${target.email} is deactivated. Reactivate the user first.`);
    if (target.totpSecret === null) throw new DomainError('conflict', `${target.email} has no second factor.`);
    await changeUser(tx, by.scope, target.id, NO_SECOND_FACTOR);
    await endSessionsOf(tx, by.scope, target.id);
    await recordAudit(tx, by.scope, {
      ...{ act: 'user.second_factor_removed', targetUserId: target.id },
      detail: { before: target.totpSince === null ? 'begun, not confirmed' : 'on' },
      ...(isOperator(by) ? { actorUserId: null, trace: null } : { actorUserId: by.userId, trace: by.trace }),
    });
  });
}

async function lockTarget(tx: Transaction, by: Doer, userId: string): Promise<LockedUser> {
  if (isOperator(by)) {
    const user = await lockUser(tx, by.scope, userId);
    if (user === null) throw noSuchUser();
    return user;
  }
  const { actor, target } = await lockToManage(tx, by, userId);
  // One's own takes one's password: an open screen is not enough.
  if (target.id === actor.id)
    throw new DomainError('conflict', 'Turn off your own second factor under My profile, with your password.');
  return target;
}
