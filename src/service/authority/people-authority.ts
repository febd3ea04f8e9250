import type { Actor } from '../../domain/audit/actor.ts';
import { ForbiddenError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { mayManage, type Role } from '../../domain/people/role.ts';
import { type LockedUser, lockUser, lockUsers } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { activeActor, noSuchUser } from './key-authority.ts';

/** The actor's row, locked until the transaction ends. Throws "forbidden" for an account that was deactivated meanwhile. */
export async function lockActor(tx: Transaction, actor: Actor): Promise<LockedUser> {
  return activeActor(await lockUser(tx, actor.scope, actor.userId));
}

/** The rows of the actor and of a user, both locked, and those of `also`. Throws "forbidden" unless the actor may manage the user. */
export async function lockToManage(
  tx: Transaction,
  actor: Actor,
  userId: string,
  also: readonly string[] = [],
): Promise<{ readonly current: LockedUser; readonly target: LockedUser }> {
  const ids = new Set([actor.userId, ...(isId(userId) ? [userId] : []), ...also]);
  const users = await lockUsers(tx, actor.scope, [...ids]);
  const current = activeActor(users.get(actor.userId));
  // A role that manages nobody is refused whether or not the user exists, so it cannot probe for users.
  if (!mayManage(current.role, 'viewer')) throw mayNotManage(current.role);
  const target = users.get(userId);
  if (target === undefined) throw noSuchUser();
  refuseToManage(current.role, target.role);
  return { current, target };
}

export function refuseToManage(actor: Role, target: Role): void {
  if (!mayManage(actor, target)) throw mayNotManage(actor);
}

function mayNotManage(role: Role): ForbiddenError {
  return new ForbiddenError(
    role === 'manager'
      ? 'A manager may manage viewers and members only. Contact an administrator.'
      : 'You may not manage users. Contact an administrator or support.',
  );
}
