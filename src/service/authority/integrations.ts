import type { Actor, ActorOrOperator } from '../../domain/audit/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { findActivePerson } from '../../store/integrations/integrations.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import type { LockedHolder, LockedIntegration, LockedUser } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { lockParties } from './people.ts';
import { requireRight } from './rights.ts';

/**
 * Locks the rows that the creation of an integration depends on: the organization, the actor and the owner. Throws "forbidden"
 * unless the actor may manage integrations.
 */
export async function lockForCreation(tx: Transaction, actor: ActorOrOperator, { ownerEmail }: { ownerEmail: string }) {
  await lockOrganization(tx, actor.scope);
  const ownerId = await findActivePerson(tx, actor.scope, ownerEmail);
  const { current, holders } = await lockParties(tx, actor, ownerId === null ? [] : [ownerId]);
  if (current !== null) requireRight(current, 'manage integrations');
  return { owner: activePersonOf(holders.get(ownerId ?? '')) };
}

export type LockedForChange = {
  readonly current: LockedUser;
  /** The user who will own the integration; `null` if no active user has the e-mail. */
  readonly owner: LockedUser | null;
  readonly integration: LockedIntegration;
};

/**
 * Locks the rows that a change of an integration depends on: the organization, the actor, the integration and, if an e-mail is
 * given, the next owner. Throws "forbidden" unless the actor may manage integrations, and "not_found" if there is no such
 * integration.
 */
export async function lockForChange(
  tx: Transaction,
  actor: Actor,
  { id, ownerEmail }: { readonly id: string; readonly ownerEmail?: string },
): Promise<LockedForChange> {
  await lockOrganization(tx, actor.scope);
  const ownerId = ownerEmail === undefined ? null : await findActivePerson(tx, actor.scope, ownerEmail);
  const { current, holders } = await lockParties(tx, actor, ownerId === null ? [id] : [id, ownerId]);
  requireRight(current, 'manage integrations');
  const integration = holders.get(id);
  if (integration?.kind !== 'integration') throw noSuchIntegration();
  return { current, owner: activePersonOf(holders.get(ownerId ?? '')), integration };
}

function activePersonOf(holder: LockedHolder | undefined): LockedUser | null {
  return holder?.kind === 'person' && holder.deactivatedAt === null ? holder : null;
}

/** Returns the same error for an integration that does not exist as for an integration of another organization. */
export function noSuchIntegration(): DomainError {
  return new DomainError('not_found', 'There is no such integration.');
}
