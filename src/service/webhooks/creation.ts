import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import type { WebhookTargets } from '../../domain/webhooks/forbidden-address.ts';
import { MAX_ENDPOINTS, parseEndpointUrl, parseEventTypes } from '../../domain/webhooks/webhook-endpoint.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import type { Database } from '../../store/sql/database.ts';
import { countWebhookEndpoints, insertWebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { lockWebhookAdministrator } from '../authority/webhooks.ts';
import { claimForm, type OneTimeForm } from '../form-claim.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  catchInvalid,
  conflict,
  type Invalid,
  joinInvalid,
  runAction,
} from '../outcome.ts';
import { mintWebhookSecret, type WebhookSecretIssued } from './secret.ts';

/** What people choose of an endpoint, as they typed it. */
export type WebhookContent = { readonly url: string; readonly eventTypes: readonly string[] };

/** Adds an enabled endpoint. The limit of ten holds under concurrent creations. */
export async function createWebhookEndpoint(
  db: Database,
  actor: Actor,
  { url, eventTypes, targets, formId }: OneTimeForm & WebhookContent & { readonly targets: WebhookTargets },
): Promise<WebhookSecretIssued | Invalid | Conflict | AlreadySent> {
  const { scope, auditSource } = actor;
  const content = parseContent({ url, eventTypes }, targets);
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;
    await lockOrganization(tx, scope);
    const current = await lockWebhookAdministrator(tx, actor);
    if (content.kind === 'invalid') return content;
    if ((await countWebhookEndpoints(tx, scope)) >= MAX_ENDPOINTS)
      return conflict(
        `Your organization has ${MAX_ENDPOINTS} webhook endpoints already. Delete one that is not needed.`,
      );
    const id = newId();
    const secret = mintWebhookSecret(db, { organizationId: scope.organizationId, id });
    await insertWebhookEndpoint(tx, scope, {
      id,
      url: content.url,
      eventTypes: content.eventTypes,
      secret: secret.encrypted,
      createdByUserId: current.id,
      createdAt: new Date(),
    });
    await recordAudit(tx, scope, {
      action: 'webhook.created',
      actorUserId: current.id,
      detail: { url: content.url, endpoint: id, events: content.eventTypes.join(', ') },
      auditSource,
    });
    return { kind: 'issued', id, url: content.url, secret: secret.text, previousUntil: null };
  });
}

/** The normal forms of what was typed, or every mistake in it. */
export function parseContent(
  { url, eventTypes }: WebhookContent,
  targets: WebhookTargets,
): { readonly kind: 'valid'; readonly url: string; readonly eventTypes: string[] } | Invalid {
  const parsedUrl = catchInvalid(() => parseEndpointUrl(url, targets));
  const parsedTypes = catchInvalid(() => parseEventTypes(eventTypes));
  if (parsedUrl.kind === 'invalid' || parsedTypes.kind === 'invalid') return joinInvalid([parsedUrl, parsedTypes]);
  return { kind: 'valid', url: parsedUrl.value, eventTypes: parsedTypes.value };
}
