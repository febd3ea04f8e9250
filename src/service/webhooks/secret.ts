import { randomBytes } from 'node:crypto';
import type { Actor } from '../../domain/audit/actor.ts';
import { HOUR_MS } from '../../domain/duration.ts';
import { PREVIOUS_SECRET_HOURS } from '../../domain/webhooks/webhook-endpoint.ts';
import { SECRET_BYTES, secretText } from '../../domain/webhooks/webhook-signature.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import type { Database } from '../../store/sql/database.ts';
import { placeOfPreviousWebhookSecret, placeOfWebhookSecret } from '../../store/sql/secrets.ts';
import { changeWebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { lockWebhookAction } from '../authority/webhooks.ts';
import { claimForm, type OneTimeForm } from '../form-claim.ts';
import { ALREADY_SENT, type AlreadySent, runAction } from '../outcome.ts';

/** A new secret, which is shown only in the response to the action that made it. */
export type WebhookSecretIssued = {
  readonly kind: 'issued';
  readonly id: string;
  readonly url: string;
  /** "whsec_..." */
  readonly secret: string;
  /** When the previous secret stops signing; `null` if there is none. */
  readonly previousUntil: Date | null;
};

/** A new secret, encrypted for an endpoint, and as text for people. */
export function mintWebhookSecret(
  { keyring }: Pick<Database, 'keyring'>,
  endpoint: { organizationId: string; id: string },
) {
  const secret = randomBytes(SECRET_BYTES);
  return { encrypted: keyring.encrypt(secret, placeOfWebhookSecret(endpoint)), text: secretText(secret) };
}

/**
 * Gives the endpoint a new secret. For 24 hours the previous one signs too, so that the receiver can change it without losing
 * an event. A secret that was previous before this signs no more.
 */
export async function rotateWebhookSecret(
  db: Database,
  actor: Actor,
  { endpointId, formId, now = new Date() }: OneTimeForm & { endpointId: string; now?: Date },
): Promise<WebhookSecretIssued | AlreadySent> {
  const { scope, auditSource } = actor;
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;
    const { current, endpoint } = await lockWebhookAction(tx, actor, endpointId);
    const { id, url } = endpoint;
    const place = { organizationId: scope.organizationId, id };
    const former = db.keyring.decrypt(endpoint.secret, placeOfWebhookSecret(place));
    const { encrypted, text } = mintWebhookSecret(db, place);
    const previousUntil = new Date(now.getTime() + PREVIOUS_SECRET_HOURS * HOUR_MS);
    await changeWebhookEndpoint(tx, scope, id, {
      secret: encrypted,
      previousSecret: db.keyring.encrypt(former, placeOfPreviousWebhookSecret(place)),
      previousSecretUntil: previousUntil,
    });
    await recordAudit(tx, scope, {
      action: 'webhook.secret_rotated',
      actorUserId: current.id,
      detail: { url, endpoint: id },
      auditSource,
    });
    return { kind: 'issued', id, url, secret: text, previousUntil };
  });
}
