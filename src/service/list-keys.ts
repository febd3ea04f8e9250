import type { Actor } from '../domain/actor.ts';
import { endOf, isExpiringSoon, type KeyState } from '../domain/api-key.ts';
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
import {
  findKeyHolder,
  type KeyHolder,
  type ListedKey,
  listActiveKeysMadeForOthers,
  listKeysOf,
} from '../store/key-lists.ts';
import { noSuchUser } from './key-authority.ts';

export type KeyView = Pick<
  ListedKey,
  'id' | 'name' | 'prefix' | 'permissions' | 'createdAt' | 'createdBy' | 'lastUsedAt' | 'expiresAt' | 'refusedUses'
> & {
  readonly state: KeyState;
  /** Null: it has not ended. */
  readonly endedAt: Date | null;
  /** Null: it has not ended, it expired, or an operator ended it. */
  readonly endedBy: string | null;
  /** Within 30 days. */
  readonly isExpiringSoon: boolean;
};

export type KeyList = {
  readonly holder: { id: string; name: string; email: string; role: Role; isActive: boolean };
  /** Active ones first, then newest first; at most 500. */
  readonly keys: readonly KeyView[];
  readonly policy: KeyPolicy;
  /** By role and policy, for an active holder in an organization that is not suspended. */
  readonly mayCreate: boolean;
  /** Rotate and rename. */
  readonly mayTake: boolean;
  readonly mayRevoke: boolean;
};

/** The keys of a user and what the actor may do with them, in two statements however many there are; never a secret. */
export async function listKeys(db: Database, actor: Actor, userId: string, now = new Date()): Promise<KeyList> {
  const isOwn = actor.userId === userId;
  if (!isOwn) refuseUnlessSeesOthers(actor);
  const found = isId(userId) ? await findKeyHolder(db, actor.scope, userId) : null;
  if (found === null) throw noSuchUser();
  const keys = await listKeysOf(db, actor.scope, { userId, now });
  const { id, name, email, role, deactivatedAt, organizationSuspendedAt } = found;
  const isActive = deactivatedAt === null;
  const mayTake = isActive && organizationSuspendedAt === null && mayTakeKeys(actor, found);
  return {
    holder: { id, name, email, role, isActive },
    keys: keys.map((key) => viewOf(key, now)),
    policy: policyOf(found),
    ...{ mayCreate: mayTake, mayTake, mayRevoke: isOwn || mayRevokeKeysOfOthers(actor.role) },
  };
}

export type KeyMadeForAnother = KeyView & { readonly holder: { id: string; name: string; email: string } };

/** Active keys that this user made for others, and was shown: to be reviewed once the user is not trusted any more. */
export async function listKeysMadeForOthers(
  db: Database,
  actor: Actor,
  userId: string,
  now = new Date(),
): Promise<KeyMadeForAnother[]> {
  refuseUnlessSeesOthers(actor);
  if (!isId(userId) || (await findKeyHolder(db, actor.scope, userId)) === null) throw noSuchUser();
  const keys = await listActiveKeysMadeForOthers(db, actor.scope, { userId, now });
  return keys.map((key) => ({
    ...viewOf(key, now),
    holder: { id: key.holderId, name: key.holderName, email: key.holderEmail },
  }));
}

function refuseUnlessSeesOthers({ role }: Actor): void {
  if (!maySeeKeysOfOthers(role))
    throw new ForbiddenError('You may not see API keys of other users. Contact an administrator or support.');
}

function mayTakeKeys({ userId, role }: Actor, holder: KeyHolder): boolean {
  return userId === holder.id ? mayCreateOwnKeys(role, holder) : mayTakeKeysOf(role, holder.role);
}

function policyOf({ membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys }: KeyHolder): KeyPolicy {
  return { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys };
}

function viewOf(key: ListedKey, now: Date): KeyView {
  const { id, name, prefix, permissions, createdAt, createdBy, lastUsedAt, expiresAt, refusedUses } = key;
  const end = endOf(key, now);
  const enders = { rotated: key.rotatedBy, revoked: key.revokedBy, expired: null };
  return {
    ...{ id, name, prefix, permissions, createdAt, createdBy, lastUsedAt, expiresAt, refusedUses },
    state: end?.kind ?? 'active',
    endedAt: end?.at ?? null,
    endedBy: end === null ? null : enders[end.kind],
    isExpiringSoon: end === null && isExpiringSoon(expiresAt, now),
  };
}
