import type { Actor } from '../../domain/audit/actor.ts';
import { ForbiddenError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { mayManage, type Role } from '../../domain/people/role.ts';
import { type LockedUser, lockUser, lockUsers, countAdministrators, findWaysIn } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { activeActor, noSuchUser } from './keys.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { canSignIn } from '../../domain/people/ways-in.ts';
import { type Conflict, conflict } from '../outcome.ts';

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

// An organization keeps an administrator who can sign in. The callers have locked the organization, so that two of them cannot rely
// on each other's administrator.

/** Refuses to demote or deactivate the last one. Nothing is lost with somebody who cannot sign in, such as after an invitation. */
export async function refuseForLastAdministrator(
  tx: Transaction,
  scope: OrganizationScope,
  target: LockedUser,
): Promise<Conflict | null> {
  if (!(await isOnlyOne(tx, scope, target)) || !canSignIn(await findWaysIn(tx, scope, target.id))) return null;
  return conflict(`${lastOne(target)} Make somebody else an administrator first.`);
}

/** Refuses to unlink the last one, unless they can sign in otherwise. */
export async function refuseToUnlinkLastAdministrator(
  tx: Transaction,
  scope: OrganizationScope,
  target: LockedUser,
): Promise<Conflict | null> {
  const ways = await findWaysIn(tx, scope, target.id);
  if (!ways.isLinked || canSignIn({ ...ways, isLinked: false }) || !(await isOnlyOne(tx, scope, target))) return null;
  return conflict(`${lastOne(target)} ${REMEDY}`);
}

/** Whether the user is an active administrator, and no other one can sign in. */
async function isOnlyOne(tx: Transaction, scope: OrganizationScope, target: LockedUser): Promise<boolean> {
  if (target.role !== 'administrator' || target.deactivatedAt !== null) return false;
  return (await countAdministrators(tx, scope, { besides: target.id, withoutProvider: false })) === 0;
}

function lastOne({ email }: LockedUser): string {
  return `${shownEmail(email)} is the last administrator who can sign in.`;
}

/** Refuses to take single sign-on away, or to another provider or client, while no administrator can sign in without it. */
export async function refuseWithoutProvider(tx: Transaction, scope: OrganizationScope): Promise<Conflict | null> {
  if ((await countAdministrators(tx, scope, { besides: null, withoutProvider: true })) > 0) return null;
  return conflict(`No administrator has a password or a passkey, so nobody could sign in as one any more. ${REMEDY}`);
}

const REMEDY = 'Set a password or add a passkey under My profile first.';
