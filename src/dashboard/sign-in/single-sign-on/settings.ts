import { shownEmail } from '../../../domain/people/email.ts';
import {
  isReservedDomain,
  MAX_DOMAINS,
  MAX_GROUP_ROLES,
  NEW_PEOPLE_ROLES,
  txtRecordOf,
} from '../../../domain/people/single-sign-on.ts';
import { formatCount } from '../../../domain/text.ts';
import { type Html, html } from '../../../html/html.ts';
import { icon } from '../../../html/icons.ts';
import { type Conflict, DONE, type Done, type Invalid } from '../../../service/outcome.ts';
import { connectionUrls } from '../../../service/sign-in/single-sign-on/connection.ts';
import { addDomain, removeDomain, verifyDomain } from '../../../service/sign-in/single-sign-on/domains.ts';
import { requireSingleSignOn } from '../../../service/sign-in/single-sign-on/enforcement.ts';
import {
  getSignInSettings,
  removeConnection,
  type SignInSettings,
  saveConnection,
  saveRules,
  tryConnection,
} from '../../../service/sign-in/single-sign-on/settings.ts';
import { stopRequiringSingleSignOn } from '../../../service/sign-in-settings/requirement.ts';
import type { SsoDomainRecord } from '../../../store/people/single-sign-on.ts';
import { extraValue, hiddenField, lines, password, select, text } from '../../forms/fields.ts';
import { emptyOf, type Form, fieldsOf, problemSummary, type Typed } from '../../forms/form.ts';
import {
  ALLOW_PASSWORDS_URL,
  CONNECTION_URL,
  domainsUrl,
  guideUrl,
  PROFILE_URL,
  REMOVE_CONNECTION_URL,
  REQUIRE_URL,
  ROLES_URL,
  SIGN_IN_SETTINGS_URL,
  SIGN_IN_URL,
} from '../../http/addresses.ts';
import { formProblem, type Problem, problemOf } from '../../http/problem.ts';
import { findSignedIn, type SignedInContext } from '../../http/request-context.ts';
import { RequestError } from '../../http/request-error.ts';
import { redirect, type View } from '../../http/view.ts';
import { noMailWords } from '../../markup/key-notices.ts';
import { page } from '../../markup/layout.ts';
import { organizationHead } from '../../markup/organization-head.ts';
import { actionForm, badge, copyField, doneNotice, emailText, head, postForm } from '../../markup/parts.ts';
import { instant, ROLE_WORDS } from '../../markup/words.ts';
import { relyingPartyOf } from '../../proof/passkeys.ts';
import { depsOf } from './provider.ts';

const CONFIRMATIONS = new Map([
  ['connection', 'The connection is saved. People whose e-mail is of a verified domain can sign in with it.'],
  ['removed', 'The connection is removed.'],
  ['domain', 'The domain is added. Publish its TXT record, then check it.'],
  ['verified', 'The domain is verified.'],
  ['domain-removed', 'The domain is removed.'],
  ['roles', 'The roles are saved. They apply from the next sign-in of each person on.'],
  ['required', 'Single sign-on is required. All sessions by password or passkey have ended.'],
  ['passwords', 'Passwords work again.'],
]);

const EXACT_TEXT = html`autocomplete="off" autocapitalize="none" spellcheck="false"`;

type ConnectionProps = { readonly isNew: boolean };

export const CONNECTION_FORM = {
  issuer: text({
    label: 'Issuer',
    hint: 'Such as https://login.example.org. Its settings are at this address with /.well-known/openid-configuration.',
    type: 'url',
    attributes: html`maxlength="500" ${EXACT_TEXT} required`,
  }),
  clientId: text({
    label: 'Client ID',
    hint: 'As the provider shows it for the application that you create there.',
    attributes: html`maxlength="500" ${EXACT_TEXT} required`,
  }),
  clientSecret: password({
    label: 'Client secret',
    autocomplete: 'off',
    isRequired: ({ isNew }: ConnectionProps) => isNew,
    hint: ({ isNew }: ConnectionProps) =>
      `It is stored encrypted, and never shown again.${isNew ? '' : ' Leave it empty to keep the one that is stored.'}`,
  }),
  /** The value of the button that was pressed. */
  act: extraValue(),
};

export const DOMAIN_FORM = {
  domain: text({
    label: 'Domain',
    hint: 'Such as example.org.',
    attributes: html`maxlength="253" ${EXACT_TEXT} required`,
  }),
};

/** The form with a button beside each domain. */
export const CHOSEN_DOMAIN_FORM = { domain: hiddenField() };

export const ROLES_FORM = {
  newPeople: select({
    label: 'New people',
    hint: 'For people who sign in at your provider with an e-mail of a verified domain, but have no account here.',
    options: [
      { value: '', words: 'Get no account: they must be invited' },
      ...NEW_PEOPLE_ROLES.map((role) => ({ value: role, words: `Become ${ROLE_WORDS[role].name.toLowerCase()}s` })),
    ],
  }),
  groupsClaim: text({
    label: 'Claim with groups',
    hint: 'Such as groups. Leave it empty if roles do not follow groups.',
    attributes: html`maxlength="100" ${EXACT_TEXT}`,
  }),
  groupRoles: lines({
    label: 'Roles by group',
    hint: `One group in each line, at most ${MAX_GROUP_ROLES}, such as “Integration team = member”, with viewer, member or manager. The highest role counts; without any of the groups, it is that of new people. Administrators keep their role.`,
    attributes: html`rows="4" maxlength="9000" autocapitalize="none" spellcheck="false"`,
  }),
};

export const REQUIRE_FORM = {
  breakGlass: select({
    label: 'Break-glass administrator',
    options: ({ candidates }: Pick<SignInSettings, 'candidates'>) =>
      candidates.map(({ id, name, email }) => ({ value: id, words: `${name} (${shownEmail(email)})` })),
  }),
};

const ALL_FIELDS = { ...CONNECTION_FORM, ...DOMAIN_FORM, ...ROLES_FORM, ...REQUIRE_FORM };

/** What the page shows again after a refused form or after a test of the connection. */
type Retry = {
  readonly problem?: Problem | null;
  /** The result of a test of the connection. */
  readonly notice?: string;
  readonly connection?: Typed<typeof CONNECTION_FORM>;
  readonly domain?: Typed<typeof DOMAIN_FORM>;
  readonly roles?: Typed<typeof ROLES_FORM>;
  readonly breakGlass?: Typed<typeof REQUIRE_FORM>;
};

export async function settingsPage(context: SignedInContext, retry: Retry = {}): Promise<View> {
  const { actor, dashboard, query, inTurn } = context;
  const settings = await inTurn(() => getSignInSettings(dashboard.db, actor));
  const { problem = null, notice } = retry;
  const done = context.method === 'POST' ? undefined : CONFIRMATIONS.get(query.get('done') ?? '');
  const main = html`${organizationHead('sign-in', actor)}${doneNotice(notice ?? done)}${problemSummary(problem, ALL_FIELDS)}
${connectionSection(context, settings, retry)}
${domainsSection(context, settings, retry)}
${settings.connection !== null && rolesSection(context, settings.connection, retry)}
${settings.connection !== null && requirementSection(context, settings, retry)}`;
  return page(context, { title: 'Sign-in', main, problem, formUrl: SIGN_IN_SETTINGS_URL });
}

function connectionSection(
  context: SignedInContext,
  { connection }: SignInSettings,
  { connection: typed = connection ?? emptyOf(CONNECTION_FORM), problem = null }: Retry,
): Html {
  const { publicUrl } = context.dashboard;
  const fields = fieldsOf(CONNECTION_FORM, { typed, problem }, { isNew: connection === null });
  return html`<section class="card" aria-labelledby="connection"><h2 id="connection">Single sign-on</h2>
<p class="quiet">People sign in at the identity provider of your organization, by OpenID Connect: Entra ID, Okta, Google Workspace, Keycloak and others. The guide <a href="${guideUrl('single-sign-on')}">Single sign-on</a> has the steps for each.</p>
${addresses(context, connection !== null)}
${
  publicUrl !== undefined &&
  postForm(
    { action: CONNECTION_URL, formToken: context.formToken },
    html`${Object.values(fields)}
<div class="actions"><button class="button primary" name="act" value="save">Try and save</button><button class="button" name="act" value="try">Try only</button>${connection !== null && html`<a class="button danger-plain" href="${REMOVE_CONNECTION_URL}">${icon('revoke')}Remove<span class="unseen"> the connection</span></a>`}</div>`,
  )
}</section>`;
}

/** Returns the URLs of Charter that the provider needs. */
function addresses(context: SignedInContext, isFolded: boolean): Html {
  const { actor, dashboard } = context;
  const { publicUrl } = dashboard;
  if (publicUrl === undefined) {
    const site = relyingPartyOf(context);
    const local = site.kind === 'usable' ? site.relyingParty.origin : site.instead;
    return html`<div class="notice warn"><p><strong>Single sign-on needs the address of this installation.</strong> An operator of Charter sets it with <code>PUBLIC_URL</code>.${local !== null && html` To try it on your own machine, start Charter again with <code class="breakable">PUBLIC_URL=${local}</code>, and open that address.`}</p></div>`;
  }
  const { redirectUri, initiateLoginUri, backChannelLogoutUri } = connectionUrls(publicUrl, actor.scope.organizationId);
  return html`<details class="more"${!isFolded && html` open`}><summary>Addresses for the provider</summary>
${copyField({ id: 'redirect-uri', label: 'Redirect URL', text: redirectUri })}
${copyField({ id: 'initiate-login-uri', label: 'Sign-in URL, for a tile', text: initiateLoginUri })}
${copyField({ id: 'logout-uri', label: 'Back-channel logout URL', text: backChannelLogoutUri })}</details>`;
}

function domainsSection(
  context: SignedInContext,
  { domains }: SignInSettings,
  { domain: typed = emptyOf(DOMAIN_FORM), problem = null }: Retry,
): Html {
  return html`<section class="card" aria-labelledby="domains"><h2 id="domains">Domains</h2>
<p class="quiet">The domain of the e-mail leads people to your identity provider. A domain counts once a TXT record in DNS has shown that it is yours.</p>
${domains.map((each, i) => domainSetting(context, each, i))}
${
  domains.length < MAX_DOMAINS &&
  postForm(
    { action: domainsUrl(), formToken: context.formToken },
    html`${fieldsOf(DOMAIN_FORM, { typed, problem }).domain}<div class="actions"><button class="button">${icon('create')}Add the domain</button></div>`,
  )
}</section>`;
}

function domainSetting({ formToken, actor }: SignedInContext, record: SsoDomainRecord, i: number): Html {
  const { domain, verifiedAt } = record;
  const { name, value } = txtRecordOf(record);
  const button = (action: 'check' | 'remove', content: Html) =>
    postForm(
      { action: domainsUrl(action), formToken },
      html`${fieldsOf(CHOSEN_DOMAIN_FORM, { typed: { domain }, problem: null }).domain}${content}`,
    );
  return html`<div class="setting"><div><h3><span class="breakable">${domain}</span> ${verifiedAt === null ? badge('warn', 'Not verified') : badge('good', 'Verified')}</h3>
${
  verifiedAt === null &&
  html`<p class="quiet">Publish a TXT record with this name and value, then check it.</p>
${copyField({ id: `name-${i}`, label: 'Name', what: `the name for ${domain}`, text: name })}
${copyField({ id: `value-${i}`, label: 'Value', what: `the value for ${domain}`, text: value })}
${isReservedDomain(domain) && html`<p class="quiet">This domain is reserved for examples, so it has no TXT records. To try single sign-on with it, an operator verifies it by <code class="breakable">npm run admin -- vouch-domain --organization ${actor.scope.organizationId} --domain ${domain}</code></p>`}`
}</div>
<div class="actions">${verifiedAt === null && button('check', html`<button class="button">${icon('search')}Check<span class="unseen"> ${domain}</span></button>`)}${button('remove', html`<button class="button danger-plain">${icon('revoke')}Remove<span class="unseen"> ${domain}</span></button>`)}</div></div>`;
}

function rolesSection(
  { formToken }: SignedInContext,
  { newPeopleRole, groupsClaim, groupRoles }: NonNullable<SignInSettings['connection']>,
  { roles, problem = null }: Retry,
): Html {
  const typed = roles ?? {
    newPeople: newPeopleRole ?? '',
    groupsClaim,
    groupRoles: groupRoles.map(({ groupName, role }) => `${groupName} = ${role}`).join('\n'),
  };
  return html`<section class="card" aria-labelledby="roles"><h2 id="roles">New people and groups</h2>
${postForm(
  { action: ROLES_URL, formToken },
  html`${Object.values(fieldsOf(ROLES_FORM, { typed, problem }))}
<div class="actions"><button class="button">Save roles</button></div>`,
)}</section>`;
}

function requirementSection(
  context: SignedInContext,
  { connection, candidates, breakGlassId, shutOut }: SignInSettings,
  { breakGlass: typed = { breakGlass: breakGlassId ?? '' }, problem = null }: Retry,
): Html | false {
  if (connection === null) return false;
  const { enforcedAt } = connection;
  const isRequired = enforcedAt !== null;
  const { formToken } = context;
  return html`<section class="card" aria-labelledby="require"><h2 id="require">Require single sign-on ${isRequired && badge('good', 'Required')}</h2>
<p class="quiet">${isRequired ? html`Since ${instant(enforcedAt)}.` : 'First sign in by single sign-on yourself. All sessions by password or passkey end.'} Nobody signs in with a password or a passkey any more, except one administrator for emergencies, who has both. ${useWords(context)} API keys are not affected.</p>
${shutOutNotice(shutOut, isRequired)}
${
  candidates.length === 0
    ? html`<p>That needs an administrator with a password and a passkey, and there is none yet. Administrators add passkeys under <a href="${PROFILE_URL}">My profile</a>.</p>`
    : postForm(
        { action: REQUIRE_URL, formToken },
        html`${fieldsOf(REQUIRE_FORM, { typed, problem }, { candidates }).breakGlass}<div class="actions"><button class="button">${isRequired ? 'Change the administrator' : 'Require single sign-on'}</button></div>`,
      )
}
${isRequired && postForm({ action: ALLOW_PASSWORDS_URL, formToken }, html`<div class="actions"><button class="button danger-plain">Stop requiring it</button></div>`)}</section>`;
}

/** Returns a sentence about who is notified when the break-glass administrator has signed in. */
function useWords(context: SignedInContext): Html {
  const noMail = noMailWords(context);
  return noMail === false
    ? html`All administrators get a mail when that account is used.`
    : html`The audit log records each use of that account.${noMail}`;
}

function shutOutNotice({ people, total }: SignInSettings['shutOut'], isRequired: boolean): Html | false {
  const others = total - people.length;
  return (
    total > 0 &&
    html`<div class="notice warn"><p><strong>${formatCount(total, 'person', 'people')} ${isRequired ? 'cannot sign in' : 'could not sign in any more'}.</strong> Their e-mail is of no verified domain, and your provider has not signed them in yet:</p>
<ul>${people.map(({ name, email }) => html`<li>${name}, ${emailText(email)}</li>`)}${others > 0 && html`<li>and ${formatCount(others, 'other')}</li>`}</ul></div>`
  );
}

/** Tests the connection, and saves it only if the test succeeds. */
export async function changeConnection(
  context: SignedInContext,
  { values, typed: connection }: Form<typeof CONNECTION_FORM>,
): Promise<View> {
  const { dashboard, actor, inTurn } = context;
  const { db, webhooks: targets, providers: access, publicUrl } = dashboard;
  if (publicUrl === undefined) throw new RequestError('not-found');
  const { redirectUri } = connectionUrls(publicUrl, actor.scope.organizationId);
  const tried = await tryConnection(db, actor, { ...values, access, targets, redirectUri, inTurn });
  if (tried.kind === 'invalid') return settingsPage(context, { problem: problemOf(tried), connection });
  if (tried.kind !== 'tried') return settingsPage(context, { problem: formProblem(tried.words), connection });
  if (values.act === 'try') {
    const again = values.clientSecret.trim() === '' ? '' : ' Type the secret again to save it.';
    const notice = tried.isSecretProven
      ? `The connection works: the provider accepts the client ID and the client secret.${again}`
      : 'The provider answers, but does not say whether it accepts the client secret.';
    return settingsPage(context, { notice, connection });
  }
  const outcome = await inTurn(() => saveConnection(db, actor, { ...values, issuer: tried.issuer, targets }));
  if (outcome.kind !== 'done') return settingsPage(context, { problem: problemOf(outcome), connection });
  return connectionView(context, 'connection');
}

export async function showConnectionRemoval(context: SignedInContext): Promise<View> {
  const { dashboard, actor } = context;
  const { connection } = await getSignInSettings(dashboard.db, actor);
  if (connection === null) return redirect(SIGN_IN_SETTINGS_URL);
  const title = 'Remove the connection';
  const main = html`${head({ title, up: { name: 'Sign-in', href: SIGN_IN_SETTINGS_URL }, lead: connection.issuer })}
<div class="card narrow"><div class="notice danger"><p><strong>As soon as you press Remove:</strong></p>
<ul><li>Nobody can sign in by single sign-on, and the sessions by it end.</li>
<li>If you signed in by single sign-on yourself, your session ends, too. Make sure before that you can sign in with a password or a passkey.</li>
<li>People who have no password need a link to set one.</li>
<li>People are no longer linked to their accounts at the provider. After a new connection, each of them confirms their account again.</li>
<li>The settings under New people and groups are deleted: the role of new people, the claim with groups and the roles by group.</li></ul></div>
<p>API keys and verified domains stay.</p>
${actionForm(context, { action: REMOVE_CONNECTION_URL, button: 'Remove', kind: 'danger', cancel: SIGN_IN_SETTINGS_URL })}</div>`;
  return page(context, { title, main });
}

export async function submitConnectionRemoval(context: SignedInContext): Promise<View> {
  const outcome = await removeConnection(context.dashboard.db, context.actor);
  return outcome.kind === 'done'
    ? connectionView(context, 'removed')
    : settingsPage(context, { problem: problemOf(outcome) });
}

/**
 * Returns the response to a change of the connection. The change ends all sessions that began by single sign-on, possibly the
 * administrator's own.
 */
async function connectionView(context: SignedInContext, done: 'connection' | 'removed'): Promise<View> {
  if ((await findSignedIn(context)) !== null) return settingsView(context, DONE, { done });
  return redirect(`${SIGN_IN_URL}?done=${done === 'connection' ? 'connection-saved' : 'connection-removed'}`);
}

/** Returns the settings with a confirmation, or with the reason for the refusal and the refused form. */
async function settingsView(
  context: SignedInContext,
  outcome: Done | Invalid | Conflict,
  { done, ...sent }: { readonly done: string } & Retry,
): Promise<View> {
  return outcome.kind === 'done'
    ? redirect(`${SIGN_IN_SETTINGS_URL}?done=${done}`)
    : settingsPage(context, { problem: problemOf(outcome), ...sent });
}

export async function submitDomain(
  context: SignedInContext,
  { values, typed: domain }: Form<typeof DOMAIN_FORM>,
): Promise<View> {
  const outcome = await addDomain(context.dashboard.db, context.actor, values);
  return settingsView(context, outcome, { done: 'domain', domain });
}

export async function submitDomainCheck(
  context: SignedInContext,
  { values }: Form<typeof CHOSEN_DOMAIN_FORM>,
): Promise<View> {
  const { actor, now } = context;
  const outcome = await verifyDomain(depsOf(context), actor, { ...values, now });
  return settingsView(context, outcome, { done: 'verified' });
}

export async function submitDomainRemoval(
  context: SignedInContext,
  { values }: Form<typeof CHOSEN_DOMAIN_FORM>,
): Promise<View> {
  const outcome = await removeDomain(context.dashboard.db, context.actor, values);
  return settingsView(context, outcome, { done: 'domain-removed' });
}

export async function changeRoles(
  context: SignedInContext,
  { values, typed: roles }: Form<typeof ROLES_FORM>,
): Promise<View> {
  const outcome = await saveRules(context.dashboard.db, context.actor, values);
  return settingsView(context, outcome, { done: 'roles', roles });
}

export async function submitRequirement(
  context: SignedInContext,
  { values, typed: breakGlass }: Form<typeof REQUIRE_FORM>,
): Promise<View> {
  const { dashboard, actor, token, now } = context;
  const outcome = await requireSingleSignOn(dashboard.db, actor, { token, ...values, now });
  return settingsView(context, outcome, { done: 'required', breakGlass });
}

export async function allowPasswords(context: SignedInContext): Promise<View> {
  const outcome = await stopRequiringSingleSignOn(context.dashboard.db, context.actor);
  return settingsView(context, outcome, { done: 'passwords' });
}
