import type { Actor } from '../domain/actor.ts';
import { ForbiddenError } from '../domain/errors.ts';
import { isId } from '../domain/id.ts';
import { mayManage, type Role } from '../domain/role.ts';
import type { Transaction } from '../store/database.ts';
import { type LockedUser, lockUser, lockUsers } from '../store/users.ts';
import { noSuchUser } from './key-authority.ts';

/** Who acts, as the row is now and stays until the transaction ends. */
export async function lockActor(tx: Transaction, actor: Actor): Promise<LockedUser> {
  return active(await lockUser(tx, actor.scope, actor.userId));
}

/** Who acts and on whom, both held; refused where the one may not manage the other as both are now. */
export async function lockToManage(tx: Transaction, actor: Actor, userId: string) {
  const ids = isId(userId) ? [...new Set([actor.userId, userId])] : [actor.userId];
  const users = await lockUsers(tx, actor.scope, ids);
  const current = active(users.get(actor.userId) ?? null);
  // Whose role manages nobody is refused whoever the other is, and so learns of nobody that they exist.
  if (!mayManage(current.role, 'viewer')) throw mayNotManage(current.role);
  const target = users.get(userId);
  if (target === undefined) throw noSuchUser();
  refuseToManage(current.role, target.role);
  return { actor: current, target };
}

export function refuseToManage(actor: Role, target: Role): void {
  if (!mayManage(actor, target)) throw mayNotManage(actor);
}

function active(user: LockedUser | null): LockedUser {
  if (user === null || user.deactivatedAt !== null)
    throw new ForbiddenError('Your account was deactivated. Contact an administrator.');
  return user;
}

function mayNotManage(role: Role): ForbiddenError {
  return new ForbiddenError(
    role === 'manager'
      ? 'A manager may manage viewers and members only. Contact an administrator.'
      : 'You may not manage users. Contact an administrator or support.',
  );
}
