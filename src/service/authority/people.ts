import type { Actor } from '../../domain/audit/actor.ts';
import { DomainError, ForbiddenError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { mayManage, type Role } from '../../domain/people/role.ts';
import { canSignIn } from '../../domain/people/ways-in.ts';
import {
  countAdministrators,
  findWaysIn,
  type LockedHolder,
  type LockedUser,
  lockUser,
  lockUsers,
} from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict } from '../outcome.ts';
import { checkBreakGlass } from './single-sign-on.ts';

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
  requireMayManage(current.role, 'viewer');
  const target = users.get(userId);
  if (target === undefined) throw noSuchUser();
  requireMayManage(current.role, target.role);
  return { current, target };
}

/** Throws "forbidden" unless users with the one role may manage users with the other. */
export function requireMayManage(actor: Role, target: Role): void {
  if (mayManage(actor, target)) return;
  throw new ForbiddenError(
    actor === 'manager'
      ? 'A manager may manage viewers and members only. Contact an administrator.'
      : 'You may not manage users. Contact an administrator or support.',
  );
}

/** The actor's row as it is now. Throws "forbidden" for an account that was deactivated or is gone. */
export function activeActor(user: LockedHolder | null | undefined): LockedUser {
  if (user?.kind !== 'person' || user.deactivatedAt !== null)
    throw new ForbiddenError('Your account was deactivated. Contact an administrator.');
  return user;
}

/** The same error for a user who does not exist and one of another organization, so that nobody can tell them apart. */
export function noSuchUser(): DomainError {
  return new DomainError('not_found', 'There is no such user.');
}

// An organization keeps an administrator who can sign in. The callers of the following checks have locked the organization, so that
// two of them cannot rely on each other's administrator.

/**
 * Returns a refusal if the user must stay an active administrator: the last one who can sign in, or the break-glass administrator.
 * An administrator who cannot sign in, such as one who has not accepted an invitation, can be demoted and deactivated.
 */
export async function checkReplaceable(
  tx: Transaction,
  scope: OrganizationScope,
  user: LockedUser,
): Promise<Conflict | null> {
  const isLast = (await isLastAdministrator(tx, scope, user)) && canSignIn(await findWaysIn(tx, scope, user.id));
  return isLast
    ? conflict(`${lastOne(user)} Make somebody else an administrator first.`)
    : checkBreakGlass(tx, scope, user);
}

/** Returns a refusal if the user is the last administrator who can sign in, and can do so by single sign-on only. */
export async function checkUnlinking(
  tx: Transaction,
  scope: OrganizationScope,
  user: LockedUser,
): Promise<Conflict | null> {
  const ways = await findWaysIn(tx, scope, user.id);
  if (!ways.isLinked || canSignIn({ ...ways, isLinked: false }) || !(await isLastAdministrator(tx, scope, user)))
    return null;
  return conflict(`${lastOne(user)} ${REMEDY}`);
}

/** Returns a refusal if no administrator can sign in without the present connection for single sign-on. */
export async function checkAdministratorWithoutProvider(
  tx: Transaction,
  scope: OrganizationScope,
): Promise<Conflict | null> {
  if ((await countAdministrators(tx, scope, { besides: null, withoutProvider: true })) > 0) return null;
  return conflict(`No administrator has a password or a passkey, so nobody could sign in as one any more. ${REMEDY}`);
}

const REMEDY = 'Set a password or add a passkey under My profile first.';

/** Whether the user is an active administrator, and no other administrator can sign in. */
async function isLastAdministrator(tx: Transaction, scope: OrganizationScope, user: LockedUser): Promise<boolean> {
  if (user.role !== 'administrator' || user.deactivatedAt !== null) return false;
  return (await countAdministrators(tx, scope, { besides: user.id, withoutProvider: false })) === 0;
}

function lastOne({ email }: LockedUser): string {
  return `${shownEmail(email)} is the last administrator who can sign in.`;
}
