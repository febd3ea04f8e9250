import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import type { WebhookTargets } from '../../domain/forbidden-address.ts';
import { isId } from '../../domain/text.ts';
import { HOUR_MS } from '../../domain/time.ts';
import {
  MAX_ENDPOINTS,
  PREVIOUS_SECRET_HOURS,
  parseEndpointUrl,
  parseEventTypes,
} from '../../domain/webhooks/webhook-endpoint.ts';
import { SECRET_BYTES, secretText } from '../../domain/webhooks/webhook-message.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import { type Database, transaction } from '../../store/sql/database.ts';
import { placeOfPreviousWebhookSecret, placeOfWebhookSecret } from '../../store/sql/secrets.ts';
import {
  changeWebhookEndpoint,
  countWebhookEndpoints,
  deleteDeliveriesOf,
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  findWebhookEndpoint,
  insertWebhookEndpoint,
  listWebhookEndpoints,
  type WebhookEndpointDetails,
} from '../../store/webhooks/webhook-endpoints.ts';
import { requireRight } from '../authority/rights.ts';
import { lockWebhookAction, lockWebhookAdministrator, noSuchEndpoint } from '../authority/webhooks.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  claimForm,
  conflict,
  DONE,
  type Done,
  type Invalid,
  type OneTimeForm,
  parseEach,
  recordAct,
  runAction,
} from '../outcome.ts';

export async function listEndpoints(db: Database, actor: Actor): Promise<readonly WebhookEndpointDetails[]> {
  requireRight(actor, 'see webhooks');
  return listWebhookEndpoints(db, actor.scope);
}

export async function getEndpoint(db: Database, actor: Actor, endpointId: string): Promise<WebhookEndpointDetails> {
  requireRight(actor, 'see webhooks');
  const endpoint = isId(endpointId) ? await findWebhookEndpoint(db, actor.scope, endpointId) : null;
  if (endpoint === null) throw noSuchEndpoint();
  return endpoint;
}

/** The URL and the event types of an endpoint, as they were typed. */
export type WebhookContent = { readonly url: string; readonly eventTypes: readonly string[] };

/** Adds an enabled endpoint. Concurrent creations cannot exceed the limit of ten endpoints. */
export async function createEndpoint(
  db: Database,
  actor: Actor,
  { url, eventTypes, targets, formId }: OneTimeForm & WebhookContent & { readonly targets: WebhookTargets },
): Promise<WebhookSecretIssued | Invalid | Conflict | AlreadySent> {
  const { scope } = actor;
  const parsed = readContent({ url, eventTypes }, targets);
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;
    await lockOrganization(tx, scope);
    const current = await lockWebhookAdministrator(tx, actor);
    if (parsed.kind === 'invalid') return parsed;
    const content = parsed.value;
    if ((await countWebhookEndpoints(tx, scope)) >= MAX_ENDPOINTS)
      return conflict(
        `Your organization has ${MAX_ENDPOINTS} webhook endpoints already. Delete one that is not needed.`,
      );
    const id = newId();
    const secret = mintEndpointSecret(db, { organizationId: scope.organizationId, id });
    await insertWebhookEndpoint(tx, scope, {
      id,
      ...content,
      secret: secret.encrypted,
      createdByUserId: current.id,
      createdAt: new Date(),
    });
    await recordAct(tx, actor, {
      action: 'webhook.created',
      detail: { url: content.url, endpoint: id, events: content.eventTypes.join(', ') },
    });
    return { kind: 'issued', id, url: content.url, secret: secret.text, previousUntil: null };
  });
}

/** Returns the normal forms of the typed values, or all mistakes in them. */
function readContent({ url, eventTypes }: WebhookContent, targets: WebhookTargets) {
  return parseEach({ url: () => parseEndpointUrl(url, targets), eventTypes: () => parseEventTypes(eventTypes) });
}

/**
 * Changes an endpoint. Does nothing if nothing is different. If the URL changes, the failures at the former URL no longer count.
 */
export async function changeEndpoint(
  db: Database,
  actor: Actor,
  {
    endpointId,
    url,
    eventTypes,
    targets,
  }: WebhookContent & { readonly endpointId: string; readonly targets: WebhookTargets },
): Promise<Done | Invalid> {
  const { scope } = actor;
  const parsed = readContent({ url, eventTypes }, targets);
  return runAction(db, async (tx) => {
    const endpoint = await lockWebhookAction(tx, actor, endpointId);
    if (parsed.kind === 'invalid') return parsed;
    const content = parsed.value;
    const hasNewUrl = content.url !== endpoint.url;
    const [before, after] = [endpoint.eventTypes.join(', '), content.eventTypes.join(', ')];
    if (!hasNewUrl && before === after) return DONE;
    await changeWebhookEndpoint(tx, scope, endpoint.id, {
      ...content,
      ...(hasNewUrl && { failingSince: null }),
    });
    await recordAct(tx, actor, {
      action: 'webhook.changed',
      detail: {
        url: content.url,
        endpoint: endpoint.id,
        ...(hasNewUrl && { 'former url': endpoint.url }),
        ...(before !== after && { events: `${before} -> ${after}` }),
      },
    });
    return DONE;
  });
}

/** Disables an endpoint. It gets no new deliveries, and its pending deliveries wait until it is enabled again. */
export async function disableEndpointByUser(
  db: Database,
  actor: Actor,
  { endpointId }: { readonly endpointId: string },
): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const endpoint = await lockWebhookAction(tx, actor, endpointId);
    const { id } = endpoint;
    const url = await disableWebhookEndpoint(tx, scope, { id, reason: 'user', at: new Date() });
    if (url === null) return conflict('The endpoint is disabled already.');
    await recordAct(tx, actor, { action: 'webhook.disabled', detail: { url, endpoint: id, reason: 'user' } });
    return DONE;
  });
}

/** Enables an endpoint. Its pending deliveries are sent when they are due, and failures are counted from zero. */
export async function enableEndpoint(
  db: Database,
  actor: Actor,
  { endpointId }: { readonly endpointId: string },
): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const endpoint = await lockWebhookAction(tx, actor, endpointId);
    const { id, url } = endpoint;
    if (endpoint.disabledAt === null) return conflict('The endpoint is enabled already.');
    await changeWebhookEndpoint(tx, scope, id, { disabledAt: null, disabledReason: null, failingSince: null });
    await recordAct(tx, actor, { action: 'webhook.enabled', detail: { url, endpoint: id } });
    return DONE;
  });
}

const ROWS_AT_ONCE = 5000;

/**
 * Deletes the endpoint and its deliveries. There may be more deliveries than one transaction can delete in time, so most of them
 * are deleted before the transaction that deletes the endpoint. If a failure occurs meanwhile, the endpoint still exists, with
 * fewer deliveries.
 */
export async function removeEndpoint(
  db: Database,
  actor: Actor,
  { endpointId }: { readonly endpointId: string },
): Promise<Done> {
  const { scope } = actor;
  await transaction(db, (tx) => lockWebhookAction(tx, actor, endpointId));
  while ((await deleteDeliveriesOf(db, scope, { endpointId, limit: ROWS_AT_ONCE })) === ROWS_AT_ONCE);
  return runAction(db, async (tx) => {
    await lockOrganization(tx, scope);
    await lockWebhookAdministrator(tx, actor);
    const url = await deleteWebhookEndpoint(tx, scope, endpointId);
    if (url === null) throw noSuchEndpoint();
    await recordAct(tx, actor, { action: 'webhook.deleted', detail: { url, endpoint: endpointId } });
    return DONE;
  });
}

/** The new secret of an endpoint, which is shown only in the response to the action that created it. */
export type WebhookSecretIssued = {
  readonly kind: 'issued';
  readonly id: string;
  readonly url: string;
  /** The secret as text that begins with "whsec_". */
  readonly secret: string;
  /** When deliveries are no longer signed with the previous secret; `null` if there is no previous secret. */
  readonly previousUntil: Date | null;
};

/** Creates a secret. Returns the secret encrypted, for storage with the endpoint, and as text for people. */
export function mintEndpointSecret(
  { keyring }: Pick<Database, 'keyring'>,
  endpoint: { organizationId: string; id: string },
) {
  const secret = randomBytes(SECRET_BYTES);
  return { encrypted: keyring.encrypt(secret, placeOfWebhookSecret(endpoint)), text: secretText(secret) };
}

/**
 * Gives the endpoint a new secret. For 24 hours, deliveries are signed with both the new and the previous secret, so that the
 * receiver loses no event while it changes to the new secret. Older secrets are no longer used.
 */
export async function rotateEndpointSecret(
  db: Database,
  actor: Actor,
  { endpointId, formId, now = new Date() }: OneTimeForm & { endpointId: string; now?: Date },
): Promise<WebhookSecretIssued | AlreadySent> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;
    const endpoint = await lockWebhookAction(tx, actor, endpointId);
    const { id, url } = endpoint;
    const place = { organizationId: scope.organizationId, id };
    const former = db.keyring.decrypt(endpoint.secret, placeOfWebhookSecret(place));
    const { encrypted, text } = mintEndpointSecret(db, place);
    const previousUntil = new Date(now.getTime() + PREVIOUS_SECRET_HOURS * HOUR_MS);
    await changeWebhookEndpoint(tx, scope, id, {
      secret: encrypted,
      previousSecret: db.keyring.encrypt(former, placeOfPreviousWebhookSecret(place)),
      previousSecretUntil: previousUntil,
    });
    await recordAct(tx, actor, { action: 'webhook.secret_rotated', detail: { url, endpoint: id } });
    return { kind: 'issued', id, url, secret: text, previousUntil };
  });
}
