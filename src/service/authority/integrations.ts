import { type Actor, type ActorOrOperator, isOperator } from '../../domain/audit/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { findActivePerson } from '../../store/integrations/integrations.ts';
import { type LockedIntegration, type LockedUser, lockHolders } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { activeActor } from './people.ts';
import { requireRight } from './rights.ts';

/** What is locked beside the actor: the active person with the e-mail, and the integration with the id. */
type ToLock = { readonly ownerEmail?: string; readonly id?: string };

/** Locks the rows of the actor and of an owner. Throws "forbidden" unless the actor may manage integrations. */
export async function lockActorAndOwner(tx: Transaction, actor: ActorOrOperator, { ownerEmail, id }: ToLock) {
  const { scope } = actor;
  const ownerId = ownerEmail === undefined ? null : await findActivePerson(tx, scope, ownerEmail);
  const ids = [isOperator(actor) ? null : actor.userId, ownerId, id].filter((each) => typeof each === 'string');
  const locked = await lockHolders(tx, scope, [...new Set(ids)]);
  const current = isOperator(actor) ? null : activeActor(locked.get(actor.userId));
  if (current !== null) requireRight(current, 'manage integrations');
  const owner = activePerson(locked.get(ownerId ?? ''));
  return { current, owner, locked };
}

export type Locked = {
  readonly current: LockedUser;
  /** `null` if no active user has the e-mail. */
  readonly owner: LockedUser | null;
  readonly integration: LockedIntegration;
};

/** Locks an integration as well. Throws "not_found" if the organization has no such integration. */
export async function lockIntegration(
  tx: Transaction,
  actor: Actor,
  { id, ownerEmail }: ToLock & { readonly id: string },
): Promise<Locked> {
  const { current, owner, locked } = await lockActorAndOwner(tx, actor, {
    ...(ownerEmail !== undefined && { ownerEmail }),
    ...(isId(id) && { id }),
  });
  const integration = locked.get(id);
  if (integration?.kind !== 'integration') throw noSuchIntegration();
  return { current: activeActor(current), owner, integration };
}

function activePerson(holder: ReturnType<Awaited<ReturnType<typeof lockHolders>>['get']>): LockedUser | null {
  return holder?.kind === 'person' && holder.deactivatedAt === null ? holder : null;
}

/** The same error for an integration that does not exist and one of another organization. */
export function noSuchIntegration(): DomainError {
  return new DomainError('not_found', 'There is no such integration.');
}
