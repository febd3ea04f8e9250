import type { Actor } from '../../domain/audit/actor.ts';
import type { WebhookTargets } from '../../domain/webhooks/forbidden-address.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import { type Database, transaction } from '../../store/sql/database.ts';
import {
  changeWebhookEndpoint,
  deleteDeliveriesOf,
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
} from '../../store/webhooks/webhook-endpoints.ts';
import { lockWebhookAction, lockWebhookAdministrator, noSuchEndpoint } from '../authority/webhooks.ts';
import { type Conflict, conflict, DONE, type Done, type Invalid, runAction } from '../outcome.ts';
import { parseContent, type WebhookContent } from './creation.ts';

/** The same content again changes nothing. With another URL, the failures of the former one no longer count. */
export async function changeWebhookContent(
  db: Database,
  actor: Actor,
  {
    endpointId,
    url,
    eventTypes,
    targets,
  }: WebhookContent & { readonly endpointId: string; readonly targets: WebhookTargets },
): Promise<Done | Invalid> {
  const { scope, auditSource } = actor;
  const content = parseContent({ url, eventTypes }, targets);
  return runAction(db, async (tx) => {
    const { current, endpoint } = await lockWebhookAction(tx, actor, endpointId);
    if (content.kind === 'invalid') return content;
    const hasNewUrl = content.url !== endpoint.url;
    const [before, after] = [endpoint.eventTypes.join(', '), content.eventTypes.join(', ')];
    if (!hasNewUrl && before === after) return DONE;
    await changeWebhookEndpoint(tx, scope, endpoint.id, {
      url: content.url,
      eventTypes: content.eventTypes,
      ...(hasNewUrl && { failingSince: null }),
    });
    await recordAudit(tx, scope, {
      action: 'webhook.changed',
      actorUserId: current.id,
      detail: {
        url: content.url,
        endpoint: endpoint.id,
        ...(hasNewUrl && { 'former url': endpoint.url }),
        ...(before !== after && { events: `${before} -> ${after}` }),
      },
      auditSource,
    });
    return DONE;
  });
}

/** A disabled endpoint gets no new deliveries. Those that are pending wait until it is enabled. */
export async function disableWebhookByUser(
  db: Database,
  actor: Actor,
  { endpointId }: { readonly endpointId: string },
): Promise<Done | Conflict> {
  const { scope, auditSource } = actor;
  return runAction(db, async (tx) => {
    const { current, endpoint } = await lockWebhookAction(tx, actor, endpointId);
    const { id } = endpoint;
    const url = await disableWebhookEndpoint(tx, scope, { id, reason: 'user', at: new Date() });
    if (url === null) return conflict('The endpoint is disabled already.');
    await recordAudit(tx, scope, {
      action: 'webhook.disabled',
      actorUserId: current.id,
      detail: { url, endpoint: id, reason: 'user' },
      auditSource,
    });
    return DONE;
  });
}

/** Its pending deliveries are attempted when they are due, and failures count from now. */
export async function enableWebhookEndpoint(
  db: Database,
  actor: Actor,
  { endpointId }: { readonly endpointId: string },
): Promise<Done | Conflict> {
  const { scope, auditSource } = actor;
  return runAction(db, async (tx) => {
    const { current, endpoint } = await lockWebhookAction(tx, actor, endpointId);
    const { id, url } = endpoint;
    if (endpoint.disabledAt === null) return conflict('The endpoint is enabled already.');
    await changeWebhookEndpoint(tx, scope, id, { disabledAt: null, disabledReason: null, failingSince: null });
    await recordAudit(tx, scope, {
      action: 'webhook.enabled',
      actorUserId: current.id,
      detail: { url, endpoint: id },
      auditSource,
    });
    return DONE;
  });
}

const BATCH_ROWS = 5000;

/**
 * Deletes the endpoint with its deliveries. There may be more of them than one transaction can delete in time, so all but the
 * last ones are deleted before it, and a failure in between leaves an endpoint with fewer deliveries.
 */
export async function removeWebhookEndpoint(
  db: Database,
  actor: Actor,
  { endpointId }: { readonly endpointId: string },
): Promise<Done> {
  const { scope, auditSource } = actor;
  await transaction(db, (tx) => lockWebhookAction(tx, actor, endpointId));
  while ((await deleteDeliveriesOf(db, scope, { endpointId, limit: BATCH_ROWS })) === BATCH_ROWS);
  return runAction(db, async (tx) => {
    await lockOrganization(tx, scope);
    const current = await lockWebhookAdministrator(tx, actor);
    const url = await deleteWebhookEndpoint(tx, scope, endpointId);
    if (url === null) throw noSuchEndpoint();
    await recordAudit(tx, scope, {
      action: 'webhook.deleted',
      actorUserId: current.id,
      detail: { url, endpoint: endpointId },
      auditSource,
    });
    return DONE;
  });
}
