import { type Doer, isOperator } from '../domain/actor.ts';
import { DomainError, ForbiddenError } from '../domain/errors.ts';
import { isId } from '../domain/id.ts';
import {
  type KeyPolicy,
  mayCreateOwnKeys,
  mayRevokeKeysOfOthers,
  maySeeKeysOfOthers,
  mayTakeKeysOf,
  type Role,
} from '../domain/role.ts';
import type { Transaction } from '../store/database.ts';
import { getOrganization } from '../store/organizations.ts';
import { type LockedUser, lockUsers } from '../store/users.ts';

export type KeyDeed = 'create' | 'rotate' | 'rename' | 'revoke';

export type KeyAuthority = {
  readonly holder: LockedUser;
  readonly policy: KeyPolicy;
  /** For the rows that tell who did it; null: an operator. */
  readonly byUserId: string | null;
};

/**
 * Lets somebody do something with the keys of a user, or refuses. It decides from the rows as they are now, the actor's and
 * the holder's, and holds both until the transaction ends: whoever was demoted while a form was open is refused, and a
 * holder is promoted before or after, never meanwhile. The organization's row is read, not held, because acts that hold it
 * take it before the users'.
 */
export async function lockForKeyDeed(
  tx: Transaction,
  by: Doer,
  { userId, deed }: { userId: string; deed: KeyDeed },
): Promise<KeyAuthority> {
  if (!isId(userId)) throw noSuchUser();
  const byUserId = isOperator(by) ? null : by.userId;
  const users = await lockUsers(tx, by.scope, byUserId === null ? [userId] : [...new Set([byUserId, userId])]);
  const organization = await getOrganization(tx, by.scope);
  const { policy } = organization;
  if (byUserId !== null) {
    const actor = users.get(byUserId);
    if (actor === undefined || actor.deactivatedAt !== null) {
      throw new ForbiddenError('Your account was deactivated. Contact an administrator.');
    }
    const target = byUserId === userId ? 'own' : (users.get(userId)?.role ?? 'nobody');
    refuseBeyondRole({ role: actor.role, target, deed, policy });
    if (deed !== 'revoke' && organization.suspendedAt !== null) {
      throw new ForbiddenError(`The organization ${organization.name} is suspended. Contact support.`);
    }
  }
  const holder = users.get(userId);
  if (holder === undefined) throw noSuchUser();
  if (deed !== 'revoke' && holder.deactivatedAt !== null)
    throw new DomainError('conflict', `${holder.email} is deactivated. Reactivate the user first.`);
  return { holder, policy, byUserId };
}

type Attempt = { role: Role; target: 'own' | 'nobody' | Role; deed: KeyDeed; policy: KeyPolicy };

/** Whose role has nothing to do with others' keys is refused whoever the other is, and so learns of nobody that they exist. */
function refuseBeyondRole({ role, target, deed, policy }: Attempt): void {
  if (target === 'own') {
    if (deed !== 'revoke' && !mayCreateOwnKeys(role, policy))
      throw new ForbiddenError(`You may not ${deed} API keys. Contact an administrator or support.`);
    return;
  }
  const mayTouch = deed === 'revoke' ? mayRevokeKeysOfOthers(role) : maySeeKeysOfOthers(role);
  if (!mayTouch)
    throw new ForbiddenError(`You may not ${deed} API keys of other users. Contact an administrator or support.`);
  if (target === 'nobody') throw noSuchUser();
  if (deed === 'revoke' || mayTakeKeysOf(role, target)) return;
  throw new ForbiddenError(
    `A ${role} may not ${deed} API keys of an ${target}, because a key has its user's power. Contact an administrator.`,
  );
}

/** The same for one that does not exist and one of another organization: a difference would reveal that it exists. */
export function noSuchUser(): DomainError {
  return new DomainError('not_found', 'There is no such user.');
}
