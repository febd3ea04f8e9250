import { type Actor, type ActorOrOperator, isOperator } from '../../domain/audit/actor.ts';
import { DomainError, ForbiddenError } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { isRemovedEmail, shownEmail } from '../../domain/people/email.ts';
import { mayManage, type Role } from '../../domain/people/role.ts';
import { canSignIn } from '../../domain/people/ways-in.ts';
import { isId } from '../../domain/text.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import {
  countAdministrators,
  getWaysIn,
  type LockedHolder,
  type LockedUser,
  lockHolders,
} from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict } from '../outcome.ts';
import { requireRight } from './rights.ts';
import { checkBreakGlass } from './sign-in-ways.ts';

type Parties<Current> = {
  /** The actor; `null` for an operator. */
  readonly current: Current;
  /** The actor, and the other locked users and integrations that exist, by id. */
  readonly holders: ReadonlyMap<string, LockedHolder>;
};

/**
 * Locks the rows of the actor and of the users and integrations with these ids, in one SQL query, until the transaction ends. The
 * roles that the action checks therefore cannot change before the commit. Throws "forbidden" if the actor has been deactivated
 * meanwhile. Every action locks in this order, so that no two actions deadlock: first the organization, if the action needs it
 * (lockOrganization), then these rows, then all others.
 */
export async function lockParties(tx: Transaction, actor: Actor, ids?: readonly string[]): Promise<Parties<LockedUser>>;
export async function lockParties(
  tx: Transaction,
  actor: ActorOrOperator,
  ids?: readonly string[],
): Promise<Parties<LockedUser | null>>;
export async function lockParties(
  tx: Transaction,
  actor: ActorOrOperator,
  ids: readonly string[] = [],
): Promise<Parties<LockedUser | null>> {
  const own = isOperator(actor) ? [] : [actor.userId];
  const holders = await lockHolders(tx, actor.scope, [...new Set([...own, ...ids.filter((id) => isId(id))])]);
  if (isOperator(actor)) return { current: null, holders };
  const current = holders.get(actor.userId);
  if (current?.kind !== 'person' || current.deactivatedAt !== null)
    throw new ForbiddenError('Your account was deactivated. Contact an administrator.');
  return { current, holders };
}

/** Locks only the actor's row, in the same way as lockParties. */
export async function lockActor(tx: Transaction, actor: Actor): Promise<LockedUser> {
  return (await lockParties(tx, actor)).current;
}

/** Locks the organization, the actor and the users with these ids. Throws "forbidden" unless the actor may change the settings. */
export async function lockToGovern(tx: Transaction, actor: Actor, ids: readonly string[] = []) {
  const organization = await lockOrganization(tx, actor.scope);
  const { current, holders } = await lockParties(tx, actor, ids);
  requireRight(current, 'govern');
  return { organization, current, holders };
}

/** Locks the actor, a user and the rows with the ids in `also`. Throws "forbidden" unless the actor may manage the user. */
export async function lockToManage(
  tx: Transaction,
  actor: Actor,
  userId: string,
  also: readonly string[] = [],
): Promise<{ readonly current: LockedUser; readonly target: LockedUser }> {
  const { current, holders } = await lockParties(tx, actor, [userId, ...also]);
  // A role that may manage nobody gets the same refusal whether or not the user exists, so that nobody can probe for users.
  requireMayManage(current.role, 'viewer');
  const target = holders.get(userId);
  if (target?.kind !== 'person') throw noSuchUser();
  requireMayManage(current.role, target.role);
  return { current, target };
}

/** Throws "forbidden" unless a user with the role `actor` may manage users with the role `target`. */
export function requireMayManage(actor: Role, target: Role): void {
  if (mayManage(actor, target)) return;
  throw new ForbiddenError(
    actor === 'manager'
      ? 'A manager may manage viewers and members only. Contact an administrator.'
      : 'You may not manage users. Contact an administrator or support.',
  );
}

/**
 * Returns the same error for a user who does not exist as for a user of another organization, so that nobody can tell them apart.
 */
export function noSuchUser(): DomainError {
  return new DomainError('not_found', 'There is no such user.');
}

// An organization must keep an administrator who can sign in. The callers of the following checks have locked the organization,
// so that two concurrent actions cannot each rely on the administrator whom the other action removes.

/**
 * Returns a refusal if the user must stay an active administrator, because no other administrator can sign in or because the user
 * is the break-glass administrator. An administrator who cannot sign in, for example because the invitation was not accepted, can
 * be demoted and deactivated.
 */
export async function checkReplaceable(
  tx: Transaction,
  scope: OrganizationScope,
  user: LockedUser,
): Promise<Conflict | null> {
  const isLast = (await isLastAdministrator(tx, scope, user)) && canSignIn(await getWaysIn(tx, scope, user.id));
  return isLast
    ? conflict(`${lastOne(user)} Make somebody else an administrator first.`)
    : checkBreakGlass(tx, scope, user);
}

/** Returns a refusal if the user is the last administrator who can sign in, and can sign in only by single sign-on. */
export async function checkUnlinking(
  tx: Transaction,
  scope: OrganizationScope,
  user: LockedUser,
): Promise<Conflict | null> {
  const ways = await getWaysIn(tx, scope, user.id);
  if (!ways.isLinked || canSignIn({ ...ways, isLinked: false }) || !(await isLastAdministrator(tx, scope, user)))
    return null;
  return conflict(`${lastOne(user)} ${REMEDY}`);
}

/** Returns a refusal if no administrator could sign in without the current single sign-on connection. */
export async function checkAdministratorWithoutProvider(
  tx: Transaction,
  scope: OrganizationScope,
): Promise<Conflict | null> {
  if ((await countAdministrators(tx, scope, { besides: null, withoutProvider: true })) > 0) return null;
  return conflict(`No administrator has a password or a passkey, so nobody could sign in as one any more. ${REMEDY}`);
}

const REMEDY = 'Set a password or add a passkey under My profile first.';

/** Returns whether the user is an active administrator and no other administrator can sign in. */
async function isLastAdministrator(tx: Transaction, scope: OrganizationScope, user: LockedUser): Promise<boolean> {
  if (user.role !== 'administrator' || user.deactivatedAt !== null) return false;
  return (await countAdministrators(tx, scope, { besides: user.id, withoutProvider: false })) === 0;
}

function lastOne({ email }: LockedUser): string {
  return `${shownEmail(email)} is the last administrator who can sign in.`;
}

const REMOVED = 'An operator has removed the account for good. Invite the person to give them a new one.';

/**
 * Returns a refusal if an operator has removed the user for good, because such a user cannot come back; `null` for any other
 * user.
 */
export function checkNotRemoved({ email }: Pick<LockedUser, 'email'>): Conflict | null {
  return isRemovedEmail(email) ? conflict(REMOVED) : null;
}

export function checkActive(user: Pick<LockedUser, 'email' | 'deactivatedAt'>): Conflict | null {
  if (user.deactivatedAt === null) return null;
  return checkNotRemoved(user) ?? conflict(`${shownEmail(user.email)} is deactivated. Reactivate the user first.`);
}
