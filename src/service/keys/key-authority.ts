import { type ActorOrOperator, isOperator } from '../../domain/actor.ts';
import { DomainError, ForbiddenError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { type KeyPolicy, mayRevokeKeysOfOthers, maySeeKeysOfOthers } from '../../domain/role.ts';
import type { Transaction } from '../../store/database.ts';
import { getOrganization, lockOrganization, type OrganizationRecord } from '../../store/organizations.ts';
import { type LockedUser, lockUsers } from '../../store/users.ts';
import type { KeyRefused } from '../outcome.ts';
import { findKeyRefusal, type KeyAction, refuseKey } from './key-refusal.ts';

export type KeyAuthority = {
  readonly kind: 'granted';
  readonly holder: LockedUser;
  readonly policy: KeyPolicy;
  /** `null` for an operator. */
  readonly actorUserId: string | null;
};

/**
 * Decides whether the actor may create, rotate or rename keys of a user. It reads the rows of both and locks them until the
 * transaction ends, so the roles that it judges are those at commit: a form that was open during a demotion is refused. The
 * organization's row is locked only for a rotation: a write of the API that is under way waits for the end of the rotation, or
 * the rotation for its end. Actions that lock the organization do so before they lock users.
 */
export async function lockForKeyAction(
  tx: Transaction,
  actor: ActorOrOperator,
  { userId, action }: { userId: string; action: KeyAction },
): Promise<KeyAuthority | KeyRefused> {
  const { current, holder, organization } = await lockActorAndHolder(tx, actor, { userId, action });
  const { policy, suspendedAt } = organization;
  const reason = findKeyRefusal({ actor: current, holder, policy, isSuspended: suspendedAt !== null });
  if (reason !== null) return refuseKey(reason, { holder, isOwn: current?.id === holder.id, action });
  return { kind: 'granted', holder, policy, actorUserId: current?.id ?? null };
}

/**
 * The same for revoking. It gives nobody a key, so it is allowed whatever the state of the user or the organization. It locks
 * the organization, so that no write of the key is committed after the revocation.
 */
export async function lockForRevocation(
  tx: Transaction,
  actor: ActorOrOperator,
  userId: string,
): Promise<Pick<KeyAuthority, 'holder' | 'actorUserId'>> {
  const { current, holder } = await lockActorAndHolder(tx, actor, { userId, action: 'revoke' });
  return { holder, actorUserId: current?.id ?? null };
}

type Locked = {
  /** `null` for an operator. */
  readonly current: LockedUser | null;
  readonly holder: LockedUser;
  readonly organization: OrganizationRecord;
};

async function lockActorAndHolder(
  tx: Transaction,
  actor: ActorOrOperator,
  { userId, action }: { userId: string; action: KeyAction | 'revoke' },
): Promise<Locked> {
  if (!isId(userId)) throw noSuchUser();
  const ids = isOperator(actor) ? [userId] : [...new Set([actor.userId, userId])];
  const locked = action === 'revoke' || action === 'rotate' ? await lockOrganization(tx, actor.scope) : null;
  const users = await lockUsers(tx, actor.scope, ids);
  const organization = locked ?? (await getOrganization(tx, actor.scope));
  const current = isOperator(actor) ? null : activeActor(users.get(actor.userId));
  // Without access to others' keys, the actor is refused whether or not the user exists, and so cannot probe for users.
  if (current !== null && current.id !== userId) {
    const mayTouch = action === 'revoke' ? mayRevokeKeysOfOthers(current.role) : maySeeKeysOfOthers(current.role);
    if (!mayTouch)
      throw new ForbiddenError(`You may not ${action} API keys of other users. Contact an administrator or support.`);
  }
  const holder = users.get(userId);
  if (holder === undefined) throw noSuchUser();
  return { current, holder, organization };
}

/** The actor's row as it is now. Throws "forbidden" for an account that was deactivated or is gone. */
export function activeActor(user: LockedUser | null | undefined): LockedUser {
  if (user === null || user === undefined || user.deactivatedAt !== null)
    throw new ForbiddenError('Your account was deactivated. Contact an administrator.');
  return user;
}

/** The same error for a user who does not exist and one of another organization, so that nobody can tell them apart. */
export function noSuchUser(): DomainError {
  return new DomainError('not_found', 'There is no such user.');
}
