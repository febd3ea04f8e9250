import type { Actor } from '../../domain/audit/actor.ts';
import { isId } from '../../domain/id.ts';
import { mayGovern } from '../../domain/people/role.ts';
import { testEventBody } from '../../domain/webhooks/webhook-message.ts';
import { findEvent } from '../../store/resources/events.ts';
import type { Database } from '../../store/sql/database.ts';
import {
  findWebhookEndpoint,
  listWebhookEndpoints,
  type WebhookEndpointDetails,
} from '../../store/webhooks/webhook-endpoints.ts';
import {
  type DeliveryId,
  findWebhookDelivery,
  type ListedWebhookDelivery,
  listWebhookDeliveries,
  type WebhookDelivery,
  type WebhookDeliveryWithAttempts,
} from '../../store/webhooks/webhook-history.ts';
import { requireRight } from '../authority/rights.ts';
import { noSuchDelivery, noSuchEndpoint } from '../authority/webhooks.ts';
import { positionOfId, readListPage } from '../list-position.ts';

// What managers and administrators read of the webhook endpoints.

export async function listWebhooks(db: Database, actor: Actor): Promise<readonly WebhookEndpointDetails[]> {
  requireRight(actor, 'see webhooks');
  return listWebhookEndpoints(db, actor.scope);
}

export async function getWebhook(db: Database, actor: Actor, endpointId: string): Promise<WebhookEndpointDetails> {
  requireRight(actor, 'see webhooks');
  const endpoint = isId(endpointId) ? await findWebhookEndpoint(db, actor.scope, endpointId) : null;
  if (endpoint === null) throw noSuchEndpoint();
  return endpoint;
}

export type DeliveryListPage = {
  readonly deliveries: readonly ListedWebhookDelivery[];
  /** `before` of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** `after` of the next page; `null` on the last page. */
  readonly next: string | null;
};

const PAGE_SIZE = 25;

/** Latest first. An endpoint that the organization does not have has none. A position that is not a UUID is ignored. */
export async function listDeliveries(
  db: Database,
  actor: Actor,
  { endpointId, after, before }: { endpointId: string; after: string | null; before: string | null },
): Promise<DeliveryListPage> {
  requireRight(actor, 'see webhooks');
  if (!isId(endpointId)) return { deliveries: [], previous: null, next: null };
  const window = { after: positionOfId(after), before: positionOfId(before), size: PAGE_SIZE };
  const { rows, previous, next } = await readListPage(
    window,
    (from, limit) => listWebhookDeliveries(db, actor.scope, { endpointId, from, limit }),
    ({ messageId }) => messageId,
  );
  return { deliveries: rows, previous, next };
}

export type DeliveryDetails = WebhookDeliveryWithAttempts & {
  /** What was sent, as JSON text; `null` if the event is no longer kept. */
  readonly body: string | null;
};

/** A delivery with its latest attempts; only administrators get what the receiver responded. */
export async function getDelivery(
  db: Database,
  actor: Actor,
  { endpointId, messageId }: DeliveryId,
): Promise<DeliveryDetails> {
  requireRight(actor, 'see webhooks');
  const withBodies = mayGovern(actor.role);
  const isPossible = isId(endpointId) && isId(messageId);
  const delivery = isPossible
    ? await findWebhookDelivery(db, actor.scope, { endpointId, messageId, withBodies })
    : null;
  if (delivery === null) throw noSuchDelivery();
  return { ...delivery, body: await bodyOf(db, actor, delivery) };
}

/** A test event is made from its delivery again, and an event is read as the API returns it. */
async function bodyOf(db: Database, { scope }: Actor, delivery: WebhookDelivery): Promise<string | null> {
  if (delivery.isTest) return testEventBody(delivery);
  return (await findEvent(db, scope, delivery.messageId))?.json ?? null;
}
