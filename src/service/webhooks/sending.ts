import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import { MINUTE_MS } from '../../domain/duration.ts';
import { isId } from '../../domain/id.ts';
import { TEST_EVENT_TYPE } from '../../domain/webhooks/webhook-endpoint.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import type { Database } from '../../store/sql/database.ts';
import {
  countTestDeliveries,
  type DeliveryId,
  insertTestDelivery,
  lockWebhookDelivery,
  resendWebhookDelivery,
} from '../../store/webhooks/webhook-history.ts';
import { lockWebhookAction, lockWebhookAdministrator, noSuchDelivery } from '../authority/webhooks.ts';
import { type Conflict, conflict, DONE, type Done, runAction } from '../outcome.ts';

/** Sends an event once more, with the same id, even if an earlier attempt was successful. */
export async function resendDelivery(
  db: Database,
  actor: Actor,
  { endpointId, messageId }: DeliveryId,
): Promise<Done | Conflict> {
  const { scope, auditSource } = actor;
  return runAction(db, async (tx) => {
    const current = await lockWebhookAdministrator(tx, actor);
    const isPossible = isId(endpointId) && isId(messageId);
    const delivery = isPossible ? await lockWebhookDelivery(tx, scope, { endpointId, messageId }) : null;
    if (delivery === null) throw noSuchDelivery();
    if (delivery.isInProgress)
      return conflict('An attempt of this delivery is under way. Wait some seconds for its result.');
    await resendWebhookDelivery(tx, scope, { endpointId, messageId });
    await recordAudit(tx, scope, {
      action: 'webhook.resent',
      actorUserId: current.id,
      detail: { url: delivery.url, endpoint: endpointId, event: messageId },
      auditSource,
    });
    return DONE;
  });
}

export type TestSent = { readonly kind: 'test-sent'; readonly messageId: string };

const MAX_TESTS_PER_MINUTE = 10;

/** Sends an event of the type "webhook.test" to the endpoint alone, at most ten times within a minute. */
export async function sendTestEvent(
  db: Database,
  actor: Actor,
  { endpointId, now = new Date() }: { readonly endpointId: string; readonly now?: Date },
): Promise<TestSent | Conflict> {
  const { scope, auditSource } = actor;
  return runAction(db, async (tx) => {
    const { current, endpoint } = await lockWebhookAction(tx, actor, endpointId);
    const since = new Date(now.getTime() - MINUTE_MS);
    if ((await countTestDeliveries(tx, scope, { endpointId: endpoint.id, since })) >= MAX_TESTS_PER_MINUTE)
      return conflict(
        `Charter sends an endpoint at most ${MAX_TESTS_PER_MINUTE} test events within a minute. Wait a minute, then send another.`,
      );
    const messageId = newId();
    await insertTestDelivery(tx, scope, { endpointId: endpoint.id, messageId });
    await recordAudit(tx, scope, {
      action: 'webhook.test_sent',
      actorUserId: current.id,
      detail: { url: endpoint.url, endpoint: endpoint.id, event: messageId, type: TEST_EVENT_TYPE },
      auditSource,
    });
    return { kind: 'test-sent', messageId };
  });
}
