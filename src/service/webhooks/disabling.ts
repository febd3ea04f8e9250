import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type DisabledReason, MAX_FAILING_DAYS } from '../../domain/webhooks/webhook-endpoint.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { listAdministrators } from '../../store/people/user-lists.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { disableWebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import type { Mail, Outbox } from '../mail.ts';

/** Why Charter itself disables an endpoint. */
export type OwnReason = Exclude<DisabledReason, 'user'>;

/** An endpoint that was disabled. */
export type WebhookDisabled = { readonly id: string; readonly url: string; readonly reason: OwnReason };

/**
 * Disables an endpoint whose receiver is gone or only fails, with an event in the audit log. `url` is the URL that failed.
 * Returns `null` if the endpoint was disabled before, is deleted, or has another URL by now. Once the transaction is committed,
 * call `mailDisabled` with the result. The pages of the organization tell its administrators until the endpoint is enabled or
 * deleted.
 */
export async function disableEndpoint(
  tx: Transaction,
  scope: OrganizationScope,
  {
    id,
    url,
    reason,
    at = new Date(),
  }: { readonly id: string; readonly url: string; readonly reason: OwnReason; readonly at?: Date },
): Promise<WebhookDisabled | null> {
  if ((await disableWebhookEndpoint(tx, scope, { id, url, reason, at })) === null) return null;
  await recordAudit(tx, scope, {
    action: 'webhook.disabled',
    actorUserId: null,
    detail: { url, endpoint: id, reason },
    auditSource: null,
  });
  return { id, url, reason };
}

type MailDeps = {
  readonly db: Database;
  readonly outbox: Outbox;
  /** The address at which people reach Charter. If it is `undefined`, the mail has no link. */
  readonly publicUrl: string | undefined;
};

/** Tells the active administrators in the background, where mail is configured. */
export function mailDisabled(
  { db, outbox, publicUrl }: MailDeps,
  scope: OrganizationScope,
  disabled: WebhookDisabled,
): void {
  if (!outbox.canSend) return;
  outbox.later(async () => {
    const administrators = await listAdministrators(db, scope);
    for (const { name, email } of administrators) outbox.post(disabledMail({ name, email, publicUrl, disabled }));
  });
}

const REASON_WORDS: Record<OwnReason, string> = {
  gone: 'Its receiver responded with 410 Gone.',
  failing: `Every attempt of the last ${MAX_FAILING_DAYS} days failed.`,
};

type Told = {
  readonly name: string;
  readonly email: string;
  readonly publicUrl: string | undefined;
  readonly disabled: WebhookDisabled;
};

function disabledMail({ name, email, publicUrl, disabled: { id, url, reason } }: Told): Mail {
  const where =
    publicUrl === undefined
      ? 'In Charter, open Organization, then Webhooks.'
      : `${publicUrl}/organization/webhooks/${id}`;
  const text = [
    `Hello ${name},`,
    `Charter no longer sends events to this webhook endpoint:`,
    url,
    `${REASON_WORDS[reason]} Correct the receiver, then enable the endpoint. Deliveries that wait are sent then. Changes while it is disabled are not sent later: read them from the feed of events.`,
    where,
  ].join('\n\n');
  return { to: { name, address: email }, subject: 'A webhook endpoint was disabled', text: `${text}\n` };
}
