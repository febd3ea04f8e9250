import { type Html, html } from '../../../html/html.ts';
import { icon } from '../../../html/icons.ts';
import { connectionUrls } from '../../../service/single-sign-on/scope.ts';
import type { SignInSettings } from '../../../service/single-sign-on/settings.ts';
import { CONNECTION_URL, guideUrl, REMOVE_CONNECTION_URL } from '../../addresses.ts';
import type { SignedInContext } from '../../http/request-context.ts';
import { copyField, field, passwordField, postForm } from '../../markup/parts.ts';
import type { Retry } from './retry.ts';

export const CONNECTION_LABELS = { issuer: 'Issuer', client_id: 'Client ID', client_secret: 'Client secret' };

export function connectionSection(
  context: SignedInContext,
  { connection }: SignInSettings,
  { connection: typed, problem }: Retry,
): Html {
  const { issuer, clientId } = typed ?? connection ?? { issuer: '', clientId: '' };
  const { publicUrl } = context.dashboard;
  const errors = problem?.fields;
  const text = (name: 'issuer' | 'client_id', value: string, hint: string) =>
    field(
      { name, label: CONNECTION_LABELS[name], hint, errors },
      (attributes) =>
        html`<input ${attributes} type="${name === 'issuer' ? 'url' : 'text'}" value="${value}" maxlength="500" autocomplete="off" autocapitalize="none" spellcheck="false" required>`,
    );
  return html`<section class="card" aria-labelledby="connection"><h2 id="connection">Single sign-on</h2>
<p class="quiet">People sign in at the identity provider of your organization, by OpenID Connect: Entra ID, Okta, Google Workspace, Keycloak and others. The guide <a href="${guideUrl('single-sign-on')}">Single sign-on</a> has the steps for each.</p>
${addresses(context, connection !== null)}
${
  publicUrl !== undefined &&
  postForm(
    { action: CONNECTION_URL, formToken: context.formToken },
    html`${text('issuer', issuer, 'Such as https://login.example.org. Its settings are at this address with /.well-known/openid-configuration.')}
${text('client_id', clientId, 'As the provider shows it for the application that you create there.')}
${passwordField({
  name: 'client_secret',
  label: CONNECTION_LABELS.client_secret,
  autocomplete: 'off',
  isRequired: connection === null,
  hint:
    connection === null
      ? 'It is stored encrypted, and never shown again.'
      : 'It is stored encrypted, and never shown again. Leave it empty to keep the one that is stored.',
  errors,
})}
<div class="actions"><button class="button primary" name="act" value="save">Try and save</button><button class="button" name="act" value="try">Try only</button>${connection !== null && html`<a class="button danger-plain" href="${REMOVE_CONNECTION_URL}">${icon('revoke')}Remove<span class="unseen"> the connection</span></a>`}</div>`,
  )
}</section>`;
}

/** What the provider has to know about Charter. */
function addresses({ dashboard: { publicUrl }, actor }: SignedInContext, isFolded: boolean): Html {
  if (publicUrl === undefined)
    return html`<div class="notice warn"><p><strong>Single sign-on needs the address of this installation.</strong> An operator of Charter sets it with <code>PUBLIC_URL</code>.</p></div>`;
  const { redirectUri, initiateLoginUri, backChannelLogoutUri } = connectionUrls(publicUrl, actor.scope.organizationId);
  return html`<details class="more"${!isFolded && html` open`}><summary>Addresses for the provider</summary>
${copyField({ id: 'redirect-uri', label: 'Redirect URL', text: redirectUri })}
${copyField({ id: 'initiate-login-uri', label: 'Sign-in URL, for a tile', text: initiateLoginUri })}
${copyField({ id: 'logout-uri', label: 'Back-channel logout URL', text: backChannelLogoutUri })}</details>`;
}
