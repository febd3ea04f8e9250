import { PROOF_MINUTES } from '../../domain/people/session.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { optionsForProof } from '../../service/sign-in/passkeys/use-passkey.ts';
import { getWaysToProve } from '../../service/sign-in/prove.ts';
import { hiddenField, nextField, optional, password, secondFactorCode } from '../forms/fields.ts';
import { fieldsOf, problemSummary } from '../forms/form.ts';
import { PROFILE_URL, PROOF_OPTIONS_URL, PROVIDER_PROOF_URL, SIGN_OUT_URL } from '../http/addresses.ts';
import type { Problem } from '../http/problem.ts';
import { askedUrl, type SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { head, hiddenInput, postForm } from '../markup/parts.ts';
import { noPasskeysWords, passkeyField, passkeyForm, relyingPartyOf, sendOptions } from './passkeys.ts';

export const SEALED = 'sealed_form';

/**
 * The form of the page that asks for a proof. Its field names occur in no other form, so that another form is never read as a
 * proof.
 */
export const PROOF_FORM = {
  sealedForm: hiddenField(),
  proofPassword: optional(
    password({
      label: 'Password',
      autocomplete: 'current-password',
      hasFocus: true,
    }),
  ),
  proofCode: secondFactorCode({
    hint: 'The six digits that your authenticator shows now, or one of your recovery codes.',
  }),
  credential: passkeyField,
};

/** The form that begins a proof at the identity provider. */
export const PROVIDER_PROOF_FORM = { sealedForm: hiddenField(), next: nextField };

/** Sends the options with which the script of the page asks for a passkey. */
export async function sendProofOptions(context: SignedInContext): Promise<View> {
  return sendOptions(context, (asking) => optionsForProof(context.dashboard.db, context.actor, asking));
}

type Props = {
  /** What the person is about to do, such as "revoke the API key “Billing”". */
  readonly purpose: string;
  /** The sealed form that is handled after the proof. */
  readonly sealed: string;
  /** Why a proof was refused; `null` if the page is shown for the first time. */
  readonly problem: Problem | null;
};

/**
 * Returns the page that asks for a proof. The page replaces the response to a form. The form's action has not been carried out
 * yet.
 */
export async function proofPage(context: SignedInContext, { purpose, sealed, problem }: Props): Promise<View> {
  const { actor, dashboard, formToken, path } = context;
  const title = 'Confirm that it is you';
  const ways = await getWaysToProve(dashboard.db, actor);
  const action = askedUrl(context);
  const fields = fieldsOf(PROOF_FORM, { typed: { sealedForm: sealed }, problem });
  const main = html`${head({ title, lead: html`<span class="breakable">You are about to ${purpose}.</span>` })}
${problemSummary(problem, PROOF_FORM)}
<div class="card narrow"><p>This needs a proof of who you are that is at most ${PROOF_MINUTES} minutes old, so that nobody else can do it at your screen. Then Charter goes on with what you sent.</p>
${ways.passkeys > 0 && passkeyPart(context, { action, sealed })}
${ways.passkeys > 0 && ways.hasPassword && html`<div class="or"><span>or</span></div>`}
${
  ways.hasPassword &&
  postForm(
    { action, formToken },
    html`${fields.sealedForm}<input type="hidden" autocomplete="username" value="${actor.email}">
${fields.proofPassword}
${ways.hasSecondFactor && fields.proofCode}
<div class="actions"><button class="button primary">Confirm</button><a class="button plain" href="${parentOf(path)}">Cancel</a></div>`,
  )
}${ways.isLinked && (ways.hasPassword || ways.passkeys > 0) && html`<div class="or"><span>or</span></div>`}
${ways.isLinked && providerPart(context, sealed)}
${!ways.hasPassword && ways.passkeys === 0 && !ways.isLinked && signInAgain(formToken)}</div>`;
  return page(context, { title, main, problem, status: problem?.status ?? 403, hasPasskeyForm: ways.passkeys > 0 });
}

function providerPart(context: SignedInContext, sealed: string): Html {
  return postForm(
    { action: PROVIDER_PROOF_URL, formToken: context.formToken },
    html`${Object.values(fieldsOf(PROVIDER_PROOF_FORM, { typed: { sealedForm: sealed, next: askedUrl(context) }, problem: null }))}<p>Sign in at your identity provider anew.</p>
<div class="actions"><button class="button">${icon('profile')}Continue with single sign-on</button></div>`,
  );
}

/**
 * Returns the page that follows a proof at the identity provider. The page continues only when the person presses a button. The
 * attack: somebody finds an unattended browser, sends a form, and waits until the browser's owner signs in at the provider.
 */
export function goOnPage(context: SignedInContext, { purpose, sealed }: Omit<Props, 'problem'>): View {
  const title = 'You have confirmed that it is you';
  const buttons = html`<button class="button primary">Continue</button><a class="button plain" href="${parentOf(context.path)}">Cancel</a>`;
  const main = html`${head({ title, lead: html`<span class="breakable">You are about to ${purpose}.</span>` })}
<div class="card narrow"><p>Nothing has been changed yet. Select Continue to go on with what you sent.</p>
${waitingForm(context, sealed, buttons)}</div>`;
  return page(context, { title, main });
}

/** Returns a button from a page that says why the proof is missing, back to the page that asks for a proof. */
export function backToProof(context: SignedInContext, sealed: string): Html {
  return waitingForm(context, sealed, html`<button class="button">Back</button>`);
}

function waitingForm(context: SignedInContext, sealed: string, buttons: Html): Html {
  const { formToken } = context;
  return postForm(
    { action: askedUrl(context), formToken },
    html`${hiddenInput(SEALED, sealed)}<div class="actions">${buttons}</div>`,
  );
}

/** Returns the advice to sign in again, for people who have no other way to prove who they are. */
function signInAgain(formToken: string): Html {
  return html`<p>Sign in once more: for ${PROOF_MINUTES} minutes, no page asks again. A passkey, which you can add under <a href="${PROFILE_URL}">My profile</a>, spares you this.</p>
${postForm({ action: SIGN_OUT_URL, formToken }, html`<div class="actions"><button class="button primary">Sign out</button></div>`)}`;
}

function passkeyPart(context: SignedInContext, { action, sealed }: { action: string; sealed: string }): Html {
  const site = relyingPartyOf(context);
  if (site.kind === 'none') return html`<p class="quiet">${noPasskeysWords(site)}</p>`;
  return passkeyForm({
    site: site.relyingParty,
    action,
    formToken: context.formToken,
    use: 'get',
    optionsUrl: PROOF_OPTIONS_URL,
    purpose: 'to confirm with a passkey',
    content: html`${hiddenInput(SEALED, sealed)}<div class="actions"><button class="button">${icon('passkey')}Use a passkey</button></div>`,
  });
}

/**
 * Returns the path of the page above a form or a file, such as "/profile/api-keys/1" for "/profile/api-keys/1/revoke". That page
 * always exists.
 */
export function parentOf(path: string): string {
  return path.replace(/(\.csv|\/[^/]*)$/, '');
}
