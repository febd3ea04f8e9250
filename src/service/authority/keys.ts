import type { Actor, ActorOrOperator } from '../../domain/audit/actor.ts';
import { ForbiddenError, MovingError } from '../../domain/errors.ts';
import type { Holder } from '../../domain/keys/api-key.ts';
import type { OrganizationLimits } from '../../domain/keys/request-limits.ts';
import {
  type KeyPolicy,
  mayCreateOwnKeys,
  mayRevokeKeysOfOthers,
  maySeeKeysOfOthers,
  mayTakeKeysOf,
  mayTakeKeysOfOwned,
  type Role,
} from '../../domain/people/role.ts';
import { isId } from '../../domain/text.ts';
import { findMove } from '../../store/organizations/organization-moves.ts';
import { getOrganization, lockOrganization, type OrganizationRecord } from '../../store/organizations/organizations.ts';
import { findKeyHolder, type LockedHolder, type LockedIntegration, type LockedUser } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import type { KeyRefusal, KeyRefused } from '../outcome.ts';
import { noSuchIntegration } from './integrations.ts';
import { lockParties, noSuchUser } from './people.ts';
import { requireRight } from './rights.ts';

export type KeyAuthority = {
  readonly kind: 'granted';
  readonly holder: LockedHolder;
  readonly policy: KeyPolicy;
  /** The limits that the operator has set for the organization. */
  readonly limits: OrganizationLimits;
  /** The id of the user who acts; `null` for an operator. */
  readonly byUserId: string | null;
};

/**
 * Decides whether the actor may create, rotate, rename or restrict keys of a user or an integration. Locks the actor and the
 * holder, so that a form that was opened before a demotion is refused. For an action that ends or limits a key, locks the
 * organization, too, so that the action and concurrent API writes run one after the other.
 */
export async function lockForKeyAction(
  tx: Transaction,
  actor: ActorOrOperator,
  { userId, action }: { userId: string; action: Exclude<KeyAction, 'move'> },
): Promise<KeyAuthority | KeyRefused> {
  const { current, holder, organization } = await lockActorAndHolder(tx, actor, { userId, action });
  const { policy, limits, suspendedAt } = organization;
  const reason = checkKeyActions({ actor: current, holder, policy, isSuspended: suspendedAt !== null });
  if (reason !== null) return keyRefusalOf(reason, { holder, isOwn: current?.id === holder.id, action });
  return { kind: 'granted', holder, policy, limits, byUserId: current?.id ?? null };
}

/**
 * Decides whether the actor may revoke keys of a user or an integration. A revocation gives nobody access, so it is allowed even
 * if the holder is deactivated or the organization is suspended. Locks the organization, so that no API write with the key is
 * committed afterwards.
 */
export async function lockForRevocation(
  tx: Transaction,
  actor: ActorOrOperator,
  userId: string,
): Promise<Pick<KeyAuthority, 'holder' | 'byUserId'>> {
  const { current, holder } = await lockActorAndHolder(tx, actor, { userId, action: 'revoke' });
  return { holder, byUserId: current?.id ?? null };
}

type Locked = {
  /** The actor; `null` for an operator. */
  readonly current: LockedUser | null;
  readonly holder: LockedHolder;
  /** The locked users and integrations that exist, by id. */
  readonly holders: ReadonlyMap<string, LockedHolder>;
  readonly organization: OrganizationRecord;
};

async function lockActorAndHolder(
  tx: Transaction,
  actor: ActorOrOperator,
  { userId, action, also = [] }: { userId: string; action: KeyAction | 'revoke'; also?: readonly string[] },
): Promise<Locked> {
  if (!isId(userId)) throw noSuchUser();
  const locksOrganization = ['revoke', 'rotate', 'restrict', 'move'].includes(action);
  const locked = locksOrganization ? await lockOrganization(tx, actor.scope) : null;
  const { current, holders } = await lockParties(tx, actor, [userId, ...also]);
  const organization = locked ?? (await getOrganization(tx, actor.scope));
  // An organization that is moving is also suspended, but only for a while, so its users are told to try again. Keys can still be
  // revoked.
  if (action !== 'revoke' && organization.suspendedAt !== null && (await findMove(tx, actor.scope)) !== null)
    throw new MovingError();
  // An actor without access to the keys of others gets the same refusal whether or not the user exists, so that nobody can probe
  // for users.
  if (current !== null && current.id !== userId && holders.get(userId)?.ownerUserId !== current.id) {
    const mayTouch = action === 'revoke' ? mayRevokeKeysOfOthers(current.role) : maySeeKeysOfOthers(current.role);
    if (!mayTouch)
      throw new ForbiddenError(`You may not ${action} API keys of other users. Contact an administrator or support.`);
  }
  const holder = holders.get(userId);
  if (holder === undefined) throw noSuchUser();
  return { current, holder, organization, holders };
}

export type MoveAuthority = Omit<KeyAuthority, 'policy' | 'limits'> & { readonly integration: LockedIntegration };

/**
 * Decides whether the actor may move keys of a user to an integration. The actor must be allowed to create keys for the user and
 * for the integration. Locks the organization, so that the move and concurrent writes of the API run one after the other: the key
 * may lose permissions by the move.
 */
export async function lockForMove(
  tx: Transaction,
  actor: Actor,
  { userId, integrationId }: { userId: string; integrationId: string },
): Promise<MoveAuthority | KeyRefused> {
  const moving = { userId, action: 'move', also: [integrationId] } as const;
  const { current, holder, organization, holders } = await lockActorAndHolder(tx, actor, moving);
  const integration = holders.get(integrationId);
  if (holder.kind !== 'person' || integration?.kind !== 'integration') throw noSuchIntegration();
  const { policy, suspendedAt } = organization;
  for (const each of [holder, integration]) {
    const reason = checkKeyActions({ actor: current, holder: each, policy, isSuspended: suspendedAt !== null });
    if (reason !== null) return keyRefusalOf(reason, { holder: each, isOwn: current?.id === each.id, action: 'move' });
  }
  return { kind: 'granted', holder, integration, byUserId: current?.id ?? null };
}

/**
 * A user or an integration, and what the actor may do with its keys. Pages use it to show or hide buttons; each action decides
 * again, from the rows that it locks.
 */
export type KeyAccess = {
  readonly holder: KeyHolder & Holder & { readonly role: Role };
  readonly policy: KeyPolicy;
  /** The limits that the operator has set for the organization. */
  readonly limits: OrganizationLimits;
  /** Why the actor may not create, rotate, rename, restrict or move keys; `null` if the actor may. */
  readonly refusal: KeyRefusal | null;
  readonly mayRevoke: boolean;
};

/**
 * Reads in one SQL query what the actor may do with the keys of a user or an integration. Throws "forbidden" if the actor may not
 * see the keys. The owner of an integration may always see its keys. Throws "not_found" if there is no such user or integration.
 */
export async function getKeyAccess(db: Database, actor: Actor, userId: string): Promise<KeyAccess> {
  const isOwn = actor.userId === userId;
  const holder = isId(userId) ? await findKeyHolder(db, actor.scope, userId) : null;
  const isOwner = holder !== null && holder.ownerUserId === actor.userId;
  // The actor gets the same refusal whether or not the user exists, so that nobody can probe for users.
  if (!isOwn && !isOwner) requireRight(actor, 'see keys of others');
  if (holder === null) throw noSuchUser();
  const { id, kind, name, email, role, deactivatedAt, ownerUserId } = holder;
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses } = holder;
  const policy = { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses };
  const current = { id: actor.userId, role: actor.role };
  return {
    holder: { id, kind, name, email, role, deactivatedAt, ownerUserId },
    policy,
    limits: { perKey: holder.requestsPerKey, perOrganization: holder.requestsPerOrganization },
    refusal: checkKeyActions({ actor: current, holder, policy, isSuspended: holder.organizationSuspendedAt !== null }),
    mayRevoke: isOwn || isOwner || mayRevokeKeysOfOthers(actor.role),
  };
}

/** An action that shows a key or keeps it in use. lockForRevocation has separate rules for revocations. */
export type KeyAction = 'create' | 'rotate' | 'rename' | 'restrict' | 'move';

export type KeyHolder = Pick<Holder, 'id' | 'kind' | 'name'> & {
  readonly role: Role;
  /** `null` if the user or the integration is active. */
  readonly deactivatedAt: Date | null;
  /** The user who owns the integration; `null` if the holder is a person. */
  readonly ownerUserId: string | null;
};

type Situation = {
  /** The actor; `null` for an operator, whom neither role nor suspension restricts. */
  readonly actor: { readonly id: string; readonly role: Role } | null;
  readonly holder: KeyHolder;
  readonly policy: Pick<KeyPolicy, 'membersMayCreateKeys'>;
  readonly isSuspended: boolean;
};

/** Returns why the actor may not do any key action for the holder, or `null` if the actor may do all key actions. */
export function checkKeyActions({ actor, holder, policy, isSuspended }: Situation): KeyRefusal | null {
  if (holder.deactivatedAt !== null) return 'deactivated';
  if (actor === null) return null;
  if (isSuspended) return 'suspended';
  return isAllowed(actor, holder, policy) ? null : 'role';
}

function isAllowed(actor: NonNullable<Situation['actor']>, holder: KeyHolder, policy: Situation['policy']): boolean {
  if (actor.id === holder.id) return mayCreateOwnKeys(actor.role, policy);
  if (mayTakeKeysOf(actor.role, holder.role)) return true;
  return actor.id === holder.ownerUserId && mayTakeKeysOfOwned(actor.role, holder.role, policy);
}

type Refused = {
  readonly holder: Pick<KeyHolder, 'kind' | 'name' | 'role'>;
  readonly isOwn: boolean;
  readonly action: KeyAction;
};

/** Returns the refusal of an action, with the message that lists, pages and forms show. */
export function keyRefusalOf(reason: KeyRefusal, refused: Refused): KeyRefused {
  return { kind: 'refused', reason, message: messageOf(reason, refused) };
}

function messageOf(reason: KeyRefusal, { holder, isOwn, action }: Refused): string {
  const nothing = 'no API key can be created, rotated, renamed, restricted or moved';
  switch (reason) {
    case 'deactivated':
      return holder.kind === 'person'
        ? `${holder.name} is deactivated: ${nothing} until the user is reactivated.`
        : `${holder.name} is suspended: ${nothing} until the integration is reactivated.`;
    case 'suspended':
      return `While the organization is suspended, ${nothing}.`;
    case 'role': {
      if (isOwn) return `You may not ${action} API keys. Contact an administrator or support.`;
      if (holder.kind === 'integration')
        return `You may not ${action} API keys of this integration. Contact an administrator or support.`;
      const whose = `${action === 'create' ? 'for' : 'of'} an ${holder.role}`;
      return `You may not ${action} API keys ${whose}, because a key has its user’s permissions. Contact an administrator.`;
    }
  }
}
