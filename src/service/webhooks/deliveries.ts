import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import { mayGovern } from '../../domain/people/role.ts';
import { isId } from '../../domain/text.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { TEST_EVENT_TYPE } from '../../domain/webhooks/webhook-endpoint.ts';
import { testEventBody } from '../../domain/webhooks/webhook-message.ts';
import { findEvent } from '../../store/resources/events.ts';
import type { Database } from '../../store/sql/database.ts';
import {
  countTestDeliveries,
  type DeliveryId,
  findWebhookDelivery,
  insertTestDelivery,
  type ListedWebhookDelivery,
  listWebhookDeliveries,
  lockWebhookDelivery,
  resendFailedDeliveries,
  resendWebhookDelivery,
  type WebhookDelivery,
  type WebhookDeliveryWithAttempts,
} from '../../store/webhooks/webhook-history.ts';
import { requireRight } from '../authority/rights.ts';
import { lockWebhookAction, lockWebhookAdministrator, noSuchDelivery } from '../authority/webhooks.ts';
import { positionOfId, readListPage } from '../list-position.ts';
import { type Conflict, conflict, DONE, type Done, recordAct, runAction } from '../outcome.ts';

export type DeliveryListPage = {
  readonly deliveries: readonly ListedWebhookDelivery[];
  /** The `before` parameter of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** The `after` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
};

const PAGE_SIZE = 25;

type DeliveryListRequest = {
  readonly endpointId: string;
  /** Whether only deliveries without a further attempt are listed. */
  readonly isFailed: boolean;
  readonly after: string | null;
  readonly before: string | null;
};

/**
 * Lists the deliveries of an endpoint, the latest first. The list is empty if there is no such endpoint. Ignores a position that
 * is not a UUID.
 */
export async function listDeliveries(
  db: Database,
  actor: Actor,
  { endpointId, isFailed, after, before }: DeliveryListRequest,
): Promise<DeliveryListPage> {
  requireRight(actor, 'see webhooks');
  if (!isId(endpointId)) return { deliveries: [], previous: null, next: null };
  const window = { after: positionOfId(after), before: positionOfId(before), size: PAGE_SIZE };
  const { rows, previous, next } = await readListPage(
    window,
    (from, limit) => listWebhookDeliveries(db, actor.scope, { endpointId, isFailed, from, limit }),
    ({ messageId }) => messageId,
  );
  return { deliveries: rows, previous, next };
}

export type DeliveryDetails = WebhookDeliveryWithAttempts & {
  /** The body that was sent, as JSON text; `null` if the event is no longer kept. */
  readonly body: string | null;
};

/** Returns a delivery with its latest attempts. Only administrators get the responses of the receiver. */
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
  return { ...delivery, body: await readBody(db, actor, delivery) };
}

/**
 * Returns the body that was sent. The body of a test event is rebuilt from the delivery; other events are read as the API returns
 * them.
 */
async function readBody(db: Database, { scope }: Actor, delivery: WebhookDelivery): Promise<string | null> {
  if (delivery.isTest) return testEventBody(delivery);
  return (await findEvent(db, scope, delivery.messageId))?.json ?? null;
}

/** Sends an event once more, with the same id, even if an earlier attempt was successful. */
export async function resendDelivery(
  db: Database,
  actor: Actor,
  { endpointId, messageId }: DeliveryId,
): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    await lockWebhookAdministrator(tx, actor);
    const isPossible = isId(endpointId) && isId(messageId);
    const delivery = isPossible ? await lockWebhookDelivery(tx, scope, { endpointId, messageId }) : null;
    if (delivery === null) throw noSuchDelivery();
    if (delivery.isInProgress)
      return conflict('An attempt of this delivery is under way. Wait some seconds for its result.');
    await resendWebhookDelivery(tx, scope, { endpointId, messageId });
    await recordAct(tx, actor, {
      action: 'webhook.resent',
      detail: { url: delivery.url, endpoint: endpointId, event: messageId },
    });
    return DONE;
  });
}

/** The number of deliveries that are sent again. */
type FailedResent = { readonly kind: 'failed-resent'; readonly count: number };

/**
 * Resends at once the events that occurred since an instant and whose last attempt failed, the oldest first, at most MAX_RESENT.
 * Deliveries that would be retried later are sent, too.
 */
export async function resendFailed(
  db: Database,
  actor: Actor,
  { endpointId, since }: { readonly endpointId: string; readonly since: Date },
): Promise<FailedResent> {
  return runAction(db, async (tx) => {
    const endpoint = await lockWebhookAction(tx, actor, endpointId);
    const count = await resendFailedDeliveries(tx, actor.scope, { endpointId: endpoint.id, since });
    const detail = { url: endpoint.url, endpoint: endpoint.id, deliveries: String(count), since: since.toISOString() };
    if (count > 0) await recordAct(tx, actor, { action: 'webhook.resent', detail });
    return { kind: 'failed-resent', count };
  });
}

export type TestSent = { readonly kind: 'test-sent'; readonly messageId: string };

const MAX_TESTS_PER_MINUTE = 10;

/** Sends an event of the type "webhook.test" to this endpoint only, at most ten times a minute. */
export async function sendTestEvent(
  db: Database,
  actor: Actor,
  { endpointId, now = new Date() }: { readonly endpointId: string; readonly now?: Date },
): Promise<TestSent | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const endpoint = await lockWebhookAction(tx, actor, endpointId);
    const since = new Date(now.getTime() - MINUTE_MS);
    if ((await countTestDeliveries(tx, scope, { endpointId: endpoint.id, since })) >= MAX_TESTS_PER_MINUTE)
      return conflict(
        `Charter sends an endpoint at most ${MAX_TESTS_PER_MINUTE} test events within a minute. Wait a minute, then send another.`,
      );
    const messageId = newId();
    await insertTestDelivery(tx, scope, { endpointId: endpoint.id, messageId });
    await recordAct(tx, actor, {
      action: 'webhook.test_sent',
      detail: { url: endpoint.url, endpoint: endpoint.id, event: messageId, type: TEST_EVENT_TYPE },
    });
    return { kind: 'test-sent', messageId };
  });
}
