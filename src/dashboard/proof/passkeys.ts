import {
  type NoRelyingParty,
  type RelyingParty,
  type RelyingPartyCheck,
  relyingPartyAt,
} from '../../domain/people/ways-in.ts';
import { type Html, html } from '../../html/html.ts';
import type { Conflict, RateLimited } from '../../service/outcome.ts';
import type { AskingBrowser, PasskeyOptions } from '../../service/sign-in/passkeys/use-passkey.ts';
import { extraValue } from '../forms/fields.ts';
import { problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { hiddenInput } from '../markup/parts.ts';

type PasskeyForm = {
  readonly site: RelyingParty;
  readonly action: string;
  readonly formToken: string;
  /**
   * What the script asks the browser for: a new passkey ("create"), a passkey ("get"), or to offer passkeys in the e-mail field
   * ("autofill").
   */
  readonly use: 'create' | 'get' | 'autofill';
  /** The URL from which the script gets the options for the browser. */
  readonly optionsUrl: string;
  /** What the form is for, as the end of a sentence, such as "to sign in with a passkey". */
  readonly purpose: string;
  readonly content: Html;
};

/** The field in which the script sends the passkey's response. */
export const passkeyField = extraValue();

/**
 * Returns a form for a passkey. Browsers offer passkeys only to scripts, so the page says that it needs JavaScript until the
 * script shows the form. The script also checks that passkeys can be used at the page's address, which a proxy may hide from the
 * server.
 */
export function passkeyForm({ site, action, formToken, use, optionsUrl, purpose, content }: PasskeyForm): Html {
  return html`<form method="post" action="${action}" novalidate class="form" data-passkey="${use}" data-options="${optionsUrl}" data-origin="${site.origin}" hidden>${hiddenInput('form_token', formToken)}${hiddenInput('credential', '')}${content}
<div class="notice danger" role="alert" tabindex="-1" hidden><p></p></div></form>
<p class="quiet" data-without-script>You need JavaScript ${purpose}.</p>
<p class="quiet" data-without-passkeys hidden>This browser cannot use passkeys. You need a current browser ${purpose}.</p>
<p class="quiet" data-elsewhere hidden>Passkeys work only at the address of this installation. Open <code>${site.origin}</code> instead.</p>`;
}

type Asking = { readonly relyingParty: RelyingParty; readonly browser: AskingBrowser; readonly now: Date };

/** Returns the response to the page's script: the options for the browser, or a message for the person. */
export async function sendOptions(
  context: RequestContext,
  make: (asking: Asking) => Promise<PasskeyOptions | Conflict | RateLimited>,
): Promise<View> {
  const site = relyingPartyOf(context);
  if (site.kind === 'none') throw new RequestError('not-found');
  const outcome = await make({ relyingParty: site.relyingParty, browser: askingBrowserOf(context), now: context.now });
  if (outcome.kind === 'options') return { kind: 'json', status: 200, body: outcome.options };
  const { status, message } = problemOf(outcome);
  const headers = outcome.kind === 'rate-limited' ? { 'Retry-After': String(outcome.retryAfterSeconds) } : {};
  return { kind: 'json', status, body: { message }, headers };
}

/** Returns the site (relying party) of the passkeys at this address, or why passkeys are not possible at this address. */
export function relyingPartyOf({ dashboard, origin }: RequestContext): RelyingPartyCheck {
  return relyingPartyAt(origin, { isConfigured: dashboard.publicUrl !== undefined });
}

export function askingBrowserOf({ formToken, auditSource }: RequestContext): AskingBrowser {
  return { formToken, ip: auditSource.ip };
}

/** Returns why passkeys cannot be used at this address, and what the person can do. */
export function noPasskeysWords({ why, instead }: NoRelyingParty): Html {
  if (why === 'ip-address')
    return html`Passkeys need a host name, and this address is an IP address. ${instead !== null ? html`Open <code>${instead}</code> instead.` : 'Open Charter at its host name.'}`;
  if (why === 'insecure') return html`Passkeys need HTTPS, and this address begins with http://.`;
  return html`Passkeys need the address of this installation: an operator must set PUBLIC_URL.`;
}
