import { MAX_DOMAINS, txtRecordOf } from '../../../domain/single-sign-on.ts';
import { type Html, html } from '../../../html/html.ts';
import { icon } from '../../../html/icons.ts';
import type { SignInSettings } from '../../../service/single-sign-on/settings.ts';
import type { SsoDomainRecord } from '../../../store/people/sso-domains.ts';
import { domainsUrl } from '../../addresses.ts';
import type { SignedInContext } from '../../http/request-context.ts';
import { badge, copyField, field, hidden, postForm } from '../../markup/parts.ts';
import type { Retry } from './retry.ts';

export const DOMAIN_LABELS = { domain: 'Domain' };

export function domainsSection(
  context: SignedInContext,
  { domains }: SignInSettings,
  { domain = '', problem }: Retry,
): Html {
  return html`<section class="card" aria-labelledby="domains"><h2 id="domains">Domains</h2>
<p class="quiet">The domain of the e-mail leads people to your identity provider. A domain counts once a TXT record in DNS has shown that it is yours.</p>
${domains.map((each, i) => domainSetting(context, each, i))}
${
  domains.length < MAX_DOMAINS &&
  postForm(
    { action: domainsUrl(), formToken: context.formToken },
    html`${field(
      { name: 'domain', label: DOMAIN_LABELS.domain, hint: 'Such as example.org.', errors: problem?.fields },
      (attributes) =>
        html`<input ${attributes} type="text" value="${domain}" maxlength="253" autocomplete="off" autocapitalize="none" spellcheck="false" required>`,
    )}<div class="actions"><button class="button">${icon('create')}Add the domain</button></div>`,
  )
}</section>`;
}

function domainSetting({ formToken }: SignedInContext, record: SsoDomainRecord, i: number): Html {
  const { domain, verifiedAt } = record;
  const { name, value } = txtRecordOf(record);
  const button = (action: 'check' | 'remove', content: Html) =>
    postForm({ action: domainsUrl(action), formToken }, html`${hidden('domain', domain)}${content}`);
  return html`<div class="setting"><div><h3><span class="breakable">${domain}</span> ${verifiedAt === null ? badge('warn', 'Not verified') : badge('good', 'Verified')}</h3>
${
  verifiedAt === null &&
  html`<p class="quiet">Publish a TXT record with this name and value, then check it.</p>
${copyField({ id: `name-${i}`, label: 'Name', what: `the name for ${domain}`, text: name })}
${copyField({ id: `value-${i}`, label: 'Value', what: `the value for ${domain}`, text: value })}`
}</div>
<div class="actions">${verifiedAt === null && button('check', html`<button class="button">${icon('search')}Check<span class="unseen"> ${domain}</span></button>`)}${button('remove', html`<button class="button danger-plain">${icon('revoke')}Remove<span class="unseen"> ${domain}</span></button>`)}</div></div>`;
}
