import { v7 as newId } from 'uuid';
import type { AuditSource } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Transaction } from '../sql/database.ts';
import { storable, storableClient } from '../sql/storable.ts';

export const ACTIONS = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.renamed',
  'key.restricted',
  'key.moved',
  'user.invited',
  'user.email_changed',
  'user.invitation_withdrawn',
  'user.invitation_taken_back',
  'user.removed',
  'user.role_changed',
  'user.deactivated',
  'user.reactivated',
  'user.reset_link_made',
  'user.signed_in',
  'user.sign_in_failed',
  'user.signed_out',
  'user.session_ended',
  'user.signed_out_everywhere',
  'user.password_set',
  'user.second_factor_on',
  'user.second_factor_off',
  'user.second_factor_removed',
  'user.recovery_codes_made',
  'user.passkey_added',
  'user.passkey_renamed',
  'user.passkey_removed',
  // Of version 1.0, in whose forms some actions asked for the password.
  'user.password_check_failed',
  'user.proof_failed',
  'user.created_by_sso',
  'user.sso_linked',
  'user.sso_unlinked',
  'user.break_glass_used',
  'integration.created',
  'integration.changed',
  'integration.owner_changed',
  'integration.suspended',
  'integration.reactivated',
  'organization.policy_changed',
  'organization.limits_changed',
  'sso.connection_saved',
  'sso.connection_removed',
  'sso.domain_added',
  'sso.domain_verified',
  'sso.domain_removed',
  'sso.rules_changed',
  'sso.required',
  'sso.no_longer_required',
  'organization.suspended',
  'organization.resumed',
  'organization.exported',
  'organization.move_started',
  'organization.move_cancelled',
  'organization.moved',
  'webhook.created',
  'webhook.changed',
  'webhook.secret_rotated',
  'webhook.disabled',
  'webhook.enabled',
  'webhook.deleted',
  'webhook.resent',
  'webhook.test_sent',
] as const;
export type AuditAction = (typeof ACTIONS)[number];

export type AuditEvent = {
  readonly action: AuditAction;
  /** `null` for an operator, and if nobody is signed in. */
  readonly actorUserId: string | null;
  readonly targetUserId?: string | null;
  readonly keyId?: string | null;
  /** What changed, as text for people. Never a key or another secret. */
  readonly detail?: Readonly<Record<string, string>>;
  /** `null` without a request, as for an operator's action. */
  readonly auditSource: AuditSource | null;
};

/** Room for the longest list of allowed addresses. */
const MAX_DETAIL_CHARACTERS = 2500;

type KeyEvents = {
  readonly action: AuditAction;
  /** A table or sub-query with the columns organization_id, event_id, user_id (the holder of the key) and key_id. */
  readonly from: string;
  /** The arguments of jsonb_build_object. */
  readonly detail: string;
  /** The address, the user agent and the id of the request; by default, there is none. */
  readonly client?: string;
};

/** SQL: inserts an event for each key of `from`, in a statement that acts on keys of several organizations. All members are SQL. */
export function insertKeyEvents({ action, from, detail, client = "'', '', ''" }: KeyEvents): string {
  return `
    insert into audit_events (organization_id, id, act, target_user_id, key_id, detail, ip, user_agent, request_id)
    select organization_id, event_id, '${action}', user_id, key_id, jsonb_build_object(${detail}), ${client} from ${from}`;
}

/** Writes the event in the transaction of its action, so that neither exists without the other. */
export async function recordAudit(tx: Transaction, scope: OrganizationScope, event: AuditEvent): Promise<void> {
  const { action, actorUserId, targetUserId = null, keyId = null, detail = {}, auditSource } = event;
  await tx.auditEvent.create({
    data: {
      organizationId: scope.organizationId,
      id: newId(),
      action,
      actorUserId,
      targetUserId,
      keyId,
      detail: Object.fromEntries(
        Object.entries(detail).map(([name, text]) => [name, storable(text, MAX_DETAIL_CHARACTERS)]),
      ),
      ...storableClient(auditSource ?? { ip: '', userAgent: '' }),
      requestId: storable(auditSource?.requestId ?? '', 64),
    },
    select: { id: true },
  });
}
