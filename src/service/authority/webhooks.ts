import type { Actor } from '../../domain/audit/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/text.ts';
import type { LockedUser } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type LockedWebhookEndpoint, lockWebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { lockActor } from './people.ts';
import { requireRight } from './rights.ts';

/**
 * Locks the actor's row until the transaction ends, and returns it. Throws "forbidden" unless the actor may change webhook
 * endpoints.
 */
export async function lockWebhookAdministrator(tx: Transaction, actor: Actor): Promise<LockedUser> {
  const current = await lockActor(tx, actor);
  requireRight(current, 'change webhooks');
  return current;
}

/**
 * Locks the actor and an endpoint of the organization, and returns the endpoint. Throws "not_found" if there is no such endpoint.
 */
export async function lockWebhookAction(
  tx: Transaction,
  actor: Actor,
  endpointId: string,
): Promise<LockedWebhookEndpoint> {
  await lockWebhookAdministrator(tx, actor);
  const endpoint = isId(endpointId) ? await lockWebhookEndpoint(tx, actor.scope, endpointId) : null;
  if (endpoint === null) throw noSuchEndpoint();
  return endpoint;
}

/** Returns the same error for an endpoint that does not exist as for an endpoint of another organization. */
export function noSuchEndpoint(): DomainError {
  return new DomainError('not_found', 'There is no such webhook endpoint.');
}

/** Returns the same error for a delivery that does not exist as for a delivery of another endpoint or organization. */
export function noSuchDelivery(): DomainError {
  return new DomainError('not_found', 'There is no such delivery. Deliveries are kept as long as their events.');
}
