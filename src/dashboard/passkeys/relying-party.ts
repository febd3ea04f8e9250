import { type NoRelyingParty, type RelyingPartyCheck, relyingPartyAt } from '../../domain/relying-party.ts';
import { type Html, html } from '../../html/html.ts';
import type { AskingBrowser } from '../../service/passkeys/challenges.ts';
import type { RequestContext } from '../http/request-context.ts';

/** The site to which the passkeys of this address belong. */
export function relyingPartyOf({ dashboard, origin }: RequestContext): RelyingPartyCheck {
  return relyingPartyAt(origin, { isConfigured: dashboard.publicUrl !== undefined });
}

export function askedBy({ formToken, auditSource }: RequestContext): AskingBrowser {
  return { formToken, ip: auditSource.ip };
}

/** Why there are no passkeys at this address, and what helps. */
export function noPasskeys({ why, instead }: NoRelyingParty): Html {
  if (why === 'ip-address')
    return html`Passkeys need a host name, and this address is an IP address. ${instead !== null ? html`Open <code>${instead}</code> instead.` : 'Open Charter at its host name.'}`;
  if (why === 'insecure') return html`Passkeys need HTTPS, and this address begins with http://.`;
  return html`Passkeys need the address of this installation: an operator must set PUBLIC_URL.`;
}
