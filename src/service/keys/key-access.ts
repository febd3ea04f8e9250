import type { Actor } from '../../domain/actor.ts';
import { ForbiddenError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { type KeyPolicy, mayRevokeKeysOfOthers, maySeeKeysOfOthers, type Role } from '../../domain/role.ts';
import type { Database } from '../../store/database.ts';
import { findKeyHolder } from '../../store/key-holder.ts';
import type { KeyRefusal } from '../outcome.ts';
import { noSuchUser } from './key-authority.ts';
import { findKeyRefusal } from './key-refusal.ts';

/** A user, and what the actor may do with the user's keys, for pages. An action decides again, from the rows that it locks. */
export type KeyAccess = {
  readonly holder: { id: string; name: string; email: string; role: Role };
  readonly policy: KeyPolicy;
  /** `null` if the actor may create, rotate and rename. */
  readonly refusal: KeyRefusal | null;
  readonly mayRevoke: boolean;
};

/** In one statement. Throws "forbidden" where the actor may not see the user's keys, "not_found" where there is no such user. */
export async function getKeyAccess(db: Database, actor: Actor, userId: string): Promise<KeyAccess> {
  const isOwn = actor.userId === userId;
  if (!isOwn) refuseUnlessSeesOthers(actor);
  const holder = isId(userId) ? await findKeyHolder(db, actor.scope, userId) : null;
  if (holder === null) throw noSuchUser();
  const { id, name, email, role, membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys } = holder;
  const policy = { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys };
  const current = { id: actor.userId, role: actor.role };
  return {
    holder: { id, name, email, role },
    policy,
    refusal: findKeyRefusal({ actor: current, holder, policy, isSuspended: holder.organizationSuspendedAt !== null }),
    mayRevoke: isOwn || mayRevokeKeysOfOthers(actor.role),
  };
}

export function refuseUnlessSeesOthers({ role }: Actor): void {
  if (!maySeeKeysOfOthers(role))
    throw new ForbiddenError('You may not see API keys of other users. Contact an administrator or support.');
}
