import type { Actor } from '../../domain/audit/actor.ts';
import { ForbiddenError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import type { Holder } from '../../domain/keys/holder.ts';
import type { OrganizationLimits } from '../../domain/keys/request-limits.ts';
import { type KeyPolicy, mayRevokeKeysOfOthers, maySeeKeysOfOthers, type Role } from '../../domain/people/role.ts';
import { findKeyHolder } from '../../store/keys/key-holder.ts';
import type { Database } from '../../store/sql/database.ts';
import type { KeyRefusal } from '../outcome.ts';
import { noSuchUser } from './key-authority.ts';
import { findKeyRefusal, type KeyHolder } from './key-refusal.ts';

/**
 * A user or an integration, and what the actor may do with its keys, for pages. An action decides again, from the rows that it
 * locks.
 */
export type KeyAccess = {
  readonly holder: KeyHolder & Holder & { readonly role: Role };
  readonly policy: KeyPolicy;
  /** What the operator has set for the organization. */
  readonly limits: OrganizationLimits;
  /** `null` if the actor may create, rotate, rename, restrict and move keys. */
  readonly refusal: KeyRefusal | null;
  readonly mayRevoke: boolean;
};

/**
 * In one statement. Throws "forbidden" where the actor may not see these keys: an owner sees those of an integration. Throws
 * "not_found" where there is no such user or integration.
 */
export async function getKeyAccess(db: Database, actor: Actor, userId: string): Promise<KeyAccess> {
  const isOwn = actor.userId === userId;
  const holder = isId(userId) ? await findKeyHolder(db, actor.scope, userId) : null;
  const isOwner = holder !== null && holder.ownerUserId === actor.userId;
  // Whether or not the user exists, so that nobody can probe for users.
  if (!isOwn && !isOwner) refuseUnlessSeesOthers(actor);
  if (holder === null) throw noSuchUser();
  const { id, kind, name, email, role, deactivatedAt, ownerUserId } = holder;
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses } = holder;
  const policy = { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses };
  const current = { id: actor.userId, role: actor.role };
  return {
    holder: { id, kind, name, email, role, deactivatedAt, ownerUserId },
    policy,
    limits: { perKey: holder.requestsPerKey, perOrganization: holder.requestsPerOrganization },
    refusal: findKeyRefusal({ actor: current, holder, policy, isSuspended: holder.organizationSuspendedAt !== null }),
    mayRevoke: isOwn || isOwner || mayRevokeKeysOfOthers(actor.role),
  };
}

export function refuseUnlessSeesOthers({ role }: Actor): void {
  if (!maySeeKeysOfOthers(role))
    throw new ForbiddenError('You may not see API keys of other users. Contact an administrator or support.');
}
