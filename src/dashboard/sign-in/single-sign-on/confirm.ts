import { type Html, html } from '../../../html/html.ts';
import { icon } from '../../../html/icons.ts';
import {
  type Confirmation,
  confirmAccount,
  type GivenForAccount,
  openConfirmation,
} from '../../../service/sign-in/single-sign-on/confirm.ts';
import { unlinkUser } from '../../../service/sign-in/single-sign-on/enforcement.ts';
import { password, secondFactorCode } from '../../forms/fields.ts';
import { type Form, fieldsOf, problemSummary } from '../../forms/form.ts';
import { FORGOTTEN_PASSWORD_URL, SIGN_IN_PASSKEY_OPTIONS_URL, SIGN_IN_URL } from '../../http/addresses.ts';
import { type Problem, problemOf } from '../../http/problem.ts';
import type { RequestContext, SignedInContext } from '../../http/request-context.ts';
import { RequestError } from '../../http/request-error.ts';
import type { View } from '../../http/view.ts';
import { page } from '../../markup/layout.ts';
import { emailText, postForm } from '../../markup/parts.ts';
import { userView } from '../../people/change-user.ts';
import { userIdOf } from '../../people/user-parts.ts';
import { askingBrowserOf, noPasskeysWords, passkeyField, passkeyForm, relyingPartyOf } from '../../proof/passkeys.ts';
import { startInBrowser } from '../start-session.ts';
import { getConnection } from './provider.ts';
import { lostPage, notAdmittedPage } from './refusal-pages.ts';

// When a person first uses single sign-on and an account with the same e-mail exists, this page asks for a proof that the account
// is the person's.

export const CONFIRM_FORM = {
  password: password({ label: 'Password', autocomplete: 'current-password', hasFocus: true }),
  code: secondFactorCode({
    hint: 'From your authenticator, or a recovery code.',
    hasFocus: ({ by }: Pick<Confirmation, 'by'>) => by === 'link',
  }),
  credential: passkeyField,
};

type ConfirmationForm = Form<typeof CONFIRM_FORM>;

export async function showConfirmation(context: RequestContext): Promise<View> {
  return confirmationPage(context, null);
}

export async function confirm(context: RequestContext, form: ConfirmationForm): Promise<View> {
  const { dashboard, auditSource } = context;
  const connection = await getConnection(context);
  const confirming = { ...keyOf(context), given: givenProofOf(context, form), auditSource };
  const outcome = await confirmAccount(dashboard.db, connection, confirming);
  switch (outcome.kind) {
    case 'signed-in':
      return startInBrowser(context, outcome);
    case 'lost':
      return lostPage(context);
    case 'not-admitted':
      return notAdmittedPage(context, outcome);
    case 'invalid':
    case 'rate-limited':
      return confirmationPage(context, problemOf(outcome));
  }
}

function givenProofOf(context: RequestContext, { values }: ConfirmationForm): GivenForAccount {
  const { credential, password, code } = values;
  if (credential === undefined) return { kind: 'password', password, code };
  const site = relyingPartyOf(context);
  if (site.kind === 'none') throw new RequestError('not-found');
  const { relyingParty } = site;
  return { kind: 'passkey', credential, relyingParty, browser: askingBrowserOf(context) };
}

function keyOf({ params, browserSecret, now }: RequestContext) {
  return { token: params['token'] ?? '', browserSecret, now };
}

async function confirmationPage(context: RequestContext, problem: Problem | null): Promise<View> {
  const connection = await getConnection(context);
  const found = await openConfirmation(context.dashboard.db, connection, keyOf(context));
  if (found === null) return lostPage(context);
  const main = html`<section class="card guest-card"><h1>Is this account yours?</h1>
<p>Your organization’s identity provider says that you are <strong>${emailText(found.email)}</strong>, and there is an account with this e-mail already.</p>
${problemSummary(problem, CONFIRM_FORM)}
${found.by !== 'none' && proofForm(context, found, problem)}
${found.by !== 'none' && found.hasPasskey && html`<div class="or"><span>or</span></div>`}
${found.hasPasskey && passkeyPart(context, found)}
${WITHOUT_PROOF[found.by](found)}
<p class="aside">Not your account? <a href="${SIGN_IN_URL}">Go back to the sign-in</a>, and tell an administrator of your organization.</p></section>`;
  return page(context, { title: 'Is this account yours?', main, problem, hasPasskeyForm: found.hasPasskey });
}

/** What the page offers to people who cannot give the required proof. */
const WITHOUT_PROOF: Record<Confirmation['by'], (found: Confirmation) => Html | false> = {
  password: () =>
    html`<p class="aside"><a href="${FORGOTTEN_PASSWORD_URL}">Forgotten your password?</a> The link that you get replaces the password here.</p>`,
  link: () => false,
  none: ({ hasPasskey }) =>
    html`<p>${hasPasskey ? 'Without the passkey:' : 'It has no password.'} <a href="${FORGOTTEN_PASSWORD_URL}">Ask for a link</a>, or use the one in your invitation if it still works, and choose single sign-on there.</p>`,
};

/**
 * Returns the form for a passkey. The options for the browser do not name the account's passkeys, because the person has not
 * proved yet that the account is theirs.
 */
function passkeyPart(context: RequestContext, { by }: Confirmation): Html {
  const site = relyingPartyOf(context);
  if (site.kind === 'none') return html`<p class="quiet">${noPasskeysWords(site)}</p>`;
  return passkeyForm({
    site: site.relyingParty,
    action: context.path,
    formToken: context.formToken,
    use: 'get',
    optionsUrl: SIGN_IN_PASSKEY_OPTIONS_URL,
    purpose: 'to confirm with a passkey',
    content: html`${by === 'none' && html`<p>Confirm it once with a passkey of the account. From then on you sign in by single sign-on.</p>`}
<div class="actions"><button class="button wide">${icon('passkey')}Confirm with a passkey</button></div>`,
  });
}

function proofForm(context: RequestContext, found: Confirmation, problem: Problem | null): Html {
  const { email, by, hasSecondFactor } = found;
  const fields = fieldsOf(CONFIRM_FORM, { typed: {}, problem }, found);
  return postForm(
    { action: context.path, formToken: context.formToken },
    html`<input type="hidden" autocomplete="username" value="${email}">
<p>${by === 'link' ? 'Your link replaces the password. Confirm the account once with its second factor.' : 'Confirm it once with the password of the account.'} From then on you sign in by single sign-on.</p>
${by === 'password' && fields.password}
${hasSecondFactor && fields.code}
<div class="actions"><button class="button primary wide">Confirm and sign in</button></div>`,
  );
}

/** Removes the link between an account and the person at the identity provider. */
export async function unlink(context: SignedInContext): Promise<View> {
  const outcome = await unlinkUser(context.dashboard.db, context.actor, { userId: userIdOf(context) });
  return userView(context, outcome, 'unlinked');
}
