import type { Actor } from '../domain/actor.ts';
import { ForbiddenError } from '../domain/errors.ts';
import { isId } from '../domain/id.ts';
import {
  type KeyPolicy,
  mayCreateOwnKeys,
  mayRevokeKeysOfOthers,
  maySeeKeysOfOthers,
  mayTakeKeysOf,
  type Role,
} from '../domain/role.ts';
import type { Database } from '../store/database.ts';
import { findKeyHolder, type KeyHolder } from '../store/key-lists.ts';
import { noSuchUser } from './key-authority.ts';

/** Why none of a user's keys may be created, rotated or renamed. */
export type KeyRefusal = 'deactivated' | 'suspended' | 'role';

/** A user, and what the actor may do with the user's keys; for showing pages. An act decides again, from the rows it holds. */
export type KeyAccess = {
  readonly holder: { id: string; name: string; email: string; role: Role };
  readonly policy: KeyPolicy;
  /** Null: the actor may create, rotate and rename. */
  readonly refusal: KeyRefusal | null;
  readonly mayRevoke: boolean;
};

/** In one statement. A user whom the actor may not see is refused, or is not there. */
export async function getKeyAccess(db: Database, actor: Actor, userId: string): Promise<KeyAccess> {
  const isOwn = actor.userId === userId;
  if (!isOwn) refuseUnlessSeesOthers(actor);
  const found = isId(userId) ? await findKeyHolder(db, actor.scope, userId) : null;
  if (found === null) throw noSuchUser();
  const { id, name, email, role } = found;
  return {
    holder: { id, name, email, role },
    policy: policyOf(found),
    refusal: refusalOf(actor, found),
    mayRevoke: isOwn || mayRevokeKeysOfOthers(actor.role),
  };
}

function refusalOf(actor: Actor, holder: KeyHolder): KeyRefusal | null {
  if (holder.deactivatedAt !== null) return 'deactivated';
  if (holder.organizationSuspendedAt !== null) return 'suspended';
  return mayTakeKeys(actor, holder) ? null : 'role';
}

export function refuseUnlessSeesOthers({ role }: Actor): void {
  if (!maySeeKeysOfOthers(role))
    throw new ForbiddenError('You may not see API keys of other users. Contact an administrator or support.');
}

function mayTakeKeys({ userId, role }: Actor, holder: KeyHolder): boolean {
  return userId === holder.id ? mayCreateOwnKeys(role, holder) : mayTakeKeysOf(role, holder.role);
}

function policyOf({ membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys }: KeyHolder): KeyPolicy {
  return { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys };
}
