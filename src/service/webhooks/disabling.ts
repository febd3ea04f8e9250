import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type DisabledReason, MAX_FAILING_DAYS } from '../../domain/webhooks/webhook-endpoint.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { type Database, transaction } from '../../store/sql/database.ts';
import { disableWebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { mailAdministrators, type Outbox } from '../mail.ts';

/** A reason for which Charter itself disables an endpoint. */
export type OwnReason = Exclude<DisabledReason, 'user'>;

type Deps = {
  readonly db: Database;
  readonly outbox: Outbox;
  /** The public URL of the dashboard. If it is `undefined`, the mail has no link. */
  readonly publicUrl: string | undefined;
};

type Failing = { readonly id: string; readonly url: string; readonly reason: OwnReason; readonly at?: Date };

/**
 * Disables an endpoint whose receiver at `url` is gone or always fails, and mails the administrators after the commit. Until the
 * endpoint is enabled or deleted, the dashboard shows them a notice, too. Returns `false` if the endpoint was already disabled or
 * deleted, or has another URL now.
 */
export async function disableEndpoint(
  deps: Deps,
  scope: OrganizationScope,
  { id, url, reason, at = new Date() }: Failing,
): Promise<boolean> {
  const isDisabled = await transaction(deps.db, async (tx) => {
    if ((await disableWebhookEndpoint(tx, scope, { id, url, reason, at })) === null) return false;
    await recordAudit(tx, scope, {
      action: 'webhook.disabled',
      actorUserId: null,
      detail: { url, endpoint: id, reason },
      auditSource: null,
    });
    return true;
  });
  if (isDisabled) mailDisabled(deps, scope, { id, url, reason });
  return isDisabled;
}

const REASON_WORDS: Record<OwnReason, string> = {
  gone: 'Its receiver responded with 410 Gone.',
  failing: `Every attempt of the last ${MAX_FAILING_DAYS} days failed.`,
};

function mailDisabled({ publicUrl, ...deps }: Deps, scope: OrganizationScope, { id, url, reason }: Failing): void {
  const where =
    publicUrl === undefined
      ? 'In Charter, open Organization, then Webhooks.'
      : `${publicUrl}/organization/webhooks/${id}`;
  const paragraphs = [
    'Charter no longer sends events to this webhook endpoint:',
    url,
    `${REASON_WORDS[reason]} Correct the receiver, then enable the endpoint. Deliveries that wait are sent then. Changes while it is disabled are not sent later: read them from the feed of events.`,
    where,
  ];
  mailAdministrators(deps, scope, async () => ({ subject: 'A webhook endpoint was disabled', paragraphs }));
}
