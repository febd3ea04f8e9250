import { type Html, html } from '../../html/html.ts';
import { REPORTED } from '../../service/keys/report-keys.ts';
import { type ACTIONS, type AuditRecord, BY_SINGLE_SIGN_ON } from '../../store/audit/audit.ts';
import { UNUSED } from '../../store/keys/key-checks.ts';
import { holderUrl, keysUrlOf, keyUrl, userUrl } from '../http/addresses.ts';
import { table } from '../markup/table.ts';
import { exactInstant } from '../markup/words.ts';
import { detailLines } from './detail-words.ts';

export const ACTION_WORDS: Record<(typeof ACTIONS)[number], string> = {
  'key.created': 'API key created',
  'key.rotated': 'API key rotated',
  'key.revoked': 'API key revoked',
  'key.renamed': 'API key renamed',
  'key.restricted': 'API key restricted',
  'key.moved': 'API key moved',
  'user.invited': 'User invited',
  'user.email_changed': 'E-mail changed',
  'user.invitation_withdrawn': 'Invitation withdrawn',
  'user.invitation_taken_back': 'Invitation taken back',
  'user.removed': 'User removed',
  'user.role_changed': 'Role changed',
  'user.deactivated': 'User deactivated',
  'user.reactivated': 'User reactivated',
  'user.reset_link_made': 'Reset link made',
  'user.signed_in': 'Signed in',
  'user.sign_in_failed': 'Sign-in failed',
  'user.signed_out': 'Signed out',
  'user.session_ended': 'Session ended',
  'user.signed_out_everywhere': 'Signed out everywhere else',
  'user.password_set': 'Password set',
  'user.second_factor_on': 'Second factor on',
  'user.second_factor_off': 'Second factor off',
  'user.second_factor_removed': 'Second factor removed',
  'user.recovery_codes_made': 'Recovery codes made',
  'user.passkey_added': 'Passkey added',
  'user.passkey_renamed': 'Passkey renamed',
  'user.passkey_removed': 'Passkey removed',
  'user.password_check_failed': 'Password check failed',
  'user.proof_failed': 'Proof of identity failed',
  'user.created_by_sso': 'User created by single sign-on',
  'user.sso_linked': 'Linked for single sign-on',
  'user.sso_unlinked': 'Unlinked from single sign-on',
  'user.break_glass_used': 'Break-glass sign-in',
  'integration.created': 'Integration created',
  'integration.changed': 'Integration changed',
  'integration.owner_changed': 'Owner of an integration changed',
  'integration.suspended': 'Integration suspended',
  'integration.reactivated': 'Integration reactivated',
  'organization.policy_changed': 'Policy changed',
  'organization.limits_changed': 'Rate limits changed',
  'sso.connection_saved': 'Single sign-on set up',
  'sso.connection_removed': 'Single sign-on removed',
  'sso.domain_added': 'Domain added',
  'sso.domain_verified': 'Domain verified',
  'sso.domain_removed': 'Domain removed',
  'sso.rules_changed': 'Roles by single sign-on changed',
  'sso.required': 'Single sign-on required',
  'sso.no_longer_required': 'Single sign-on no longer required',
  'organization.suspended': 'Organization suspended',
  'organization.resumed': 'Organization resumed',
  'organization.exported': 'Organization exported',
  'organization.move_started': 'Move of the organization started',
  'organization.move_cancelled': 'Move of the organization cancelled',
  'organization.moved': 'Organization moved',
  'webhook.created': 'Webhook endpoint added',
  'webhook.changed': 'Webhook endpoint changed',
  'webhook.secret_rotated': 'Webhook secret rotated',
  'webhook.disabled': 'Webhook endpoint disabled',
  'webhook.enabled': 'Webhook endpoint enabled',
  'webhook.deleted': 'Webhook endpoint deleted',
  'webhook.resent': 'Webhook delivery resent',
  'webhook.test_sent': 'Webhook test event sent',
};
const WORDS_BY_NAME: ReadonlyMap<string, string> = new Map(Object.entries(ACTION_WORDS));

export function eventTable(events: readonly AuditRecord[]): Html {
  return html`<div class="card flush">${table({
    name: 'events',
    label: 'Events, the latest first',
    columns: ['Time', 'Event', 'By', 'Target', 'IP address'],
    rows: events.map((event) => ({ cells: cells(event) })),
  })}</div>`;
}

function cells(event: AuditRecord) {
  const { action, ip, userAgent, requestId } = event;
  return [
    exactInstant(event.at),
    html`<span class="strong">${WORDS_BY_NAME.get(action) ?? action}</span>${detailLines(event)}`,
    event.actorId === null
      ? html`<span class="quiet">${withoutUser(event)}</span>`
      : event.actorName === null
        ? REMOVED
        : html`<a class="clamp" href="${userUrl(event.actorId)}">${event.actorName}</a>`,
    target(event),
    html`<span>${ip === '' ? '—' : ip}</span>${userAgent !== '' && html`<details class="more"><summary>More<span class="unseen"> about this request</span></summary><p class="under breakable">${userAgent}</p><p class="under breakable">Request ${requestId}</p></details>`}`,
  ];
}

/**
 * The actions that Charter can take by itself. Charter disables an endpoint whose receiver is gone or keeps failing, and takes
 * back an invitation if another organization has verified the domain of its e-mail. Charter also ends unused keys; such an event
 * has the reason UNUSED.
 */
const BY_CHARTER = ['webhook.disabled', 'user.invitation_taken_back'];

function withoutUser({ action, detail, requestId }: AuditRecord): string {
  if (detail['why'] === REPORTED) return 'Somebody who found it';
  if (detail['by'] === BY_SINGLE_SIGN_ON) return 'Single sign-on';
  if (requestId !== '') return 'Not known';
  const isOwnAct = BY_CHARTER.includes(action) || detail['why'] === UNUSED;
  return isOwnAct ? 'Charter' : 'An operator';
}

function target(event: AuditRecord): Html {
  const { actorId, targetId, targetKind, targetName, keyId, keyName, keyPrefix, keyHolderId, keyHolderKind } = event;
  const isOwn = targetId === actorId;
  const whose = isOwn
    ? html`<span class="quiet">Own ${keyId === null ? 'account' : 'key'}</span>`
    : targetId === null || targetKind === null
      ? REMOVED
      : html`<a class="clamp" href="${holderUrl({ id: targetId, kind: targetKind })}">${targetName}</a>`;
  const key =
    keyId === null || keyHolderId === null || keyHolderKind === null
      ? html`<span class="clamp">${keyName}</span>`
      : html`<a class="clamp" href="${keyUrl({ id: keyId }, { listUrl: keysUrlOf({ id: keyHolderId, kind: keyHolderKind }), back: null })}">${keyName}</a>`;
  return html`${targetId !== null && whose}${keyPrefix !== null && html`<span class="under">${key}<code class="prefix">${keyPrefix}…</code></span>`}`;
}

const REMOVED: Html = html`<span class="quiet">Somebody who was removed</span>`;
