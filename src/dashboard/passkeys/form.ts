import type { RelyingParty } from '../../domain/relying-party.ts';
import { type Html, html } from '../../html/html.ts';
import { hidden } from '../markup/parts.ts';

type PasskeyForm = {
  readonly site: RelyingParty;
  readonly action: string;
  readonly formToken: string;
  /** What the script asks the browser for. "autofill": also beside the saved passwords of the field for the e-mail. */
  readonly use: 'create' | 'get' | 'autofill';
  /** Where the script gets its options. */
  readonly optionsUrl: string;
  /** What the form is for, as the end of a sentence: "to sign in with a passkey". */
  readonly purpose: string;
  readonly content: Html;
};

/**
 * Browsers offer passkeys to scripts only, so the page says what it needs one for until the script has shown the form. The script
 * also compares the address, which a proxy can hide from the server.
 */
export function passkeyForm({ site, action, formToken, use, optionsUrl, purpose, content }: PasskeyForm): Html {
  return html`<form method="post" action="${action}" novalidate class="form" data-passkey="${use}" data-options="${optionsUrl}" data-origin="${site.origin}" hidden>${hidden('form_token', formToken)}${hidden('credential', '')}${content}
<div class="notice danger" role="alert" tabindex="-1" hidden><p></p></div></form>
<p class="quiet" data-without-script>You need JavaScript ${purpose}.</p>
<p class="quiet" data-without-passkeys hidden>This browser cannot use passkeys. You need a current browser ${purpose}.</p>
<p class="quiet" data-elsewhere hidden>Passkeys work only at the address of this installation. Open <code>${site.origin}</code> instead.</p>`;
}
