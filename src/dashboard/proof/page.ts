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

/** The names differ from those of other forms, so that a page of such a form cannot be taken for the proof. */
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

/** For a proof at the identity provider. */
export const PROVIDER_PROOF_FORM = { sealedForm: hiddenField(), next: nextField };

/** What the script of the page needs to ask for a passkey. */
export async function sendProofOptions(context: SignedInContext): Promise<View> {
  return sendOptions(context, (asking) => optionsForProof(context.dashboard.db, context.actor, asking));
}

type Props = {
  /** What the person is about to do: "revoke the API key “Billing”". */
  readonly purpose: string;
  /** What goes on after the proof. */
  readonly sealed: string;
  /** Why a proof was refused; `null` when the page is first shown. */
  readonly problem: Problem | null;
};

/** Asks for a proof, in place of the response to a form. Nothing has been carried out yet. */
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
 * After a proof at the identity provider, in place of the page that asked for it. It waits for a click: the form may have been sent
 * by somebody else, who found the browser open and left the sign-in to its owner.
 */
export function goOnPage(context: SignedInContext, { purpose, sealed }: Omit<Props, 'problem'>): View {
  const title = 'You have confirmed that it is you';
  const buttons = html`<button class="button primary">Continue</button><a class="button plain" href="${parentOf(context.path)}">Cancel</a>`;
  const main = html`${head({ title, lead: html`<span class="breakable">You are about to ${purpose}.</span>` })}
<div class="card narrow"><p>Nothing has been changed yet. Select Continue to go on with what you sent.</p>
${waitingForm(context, sealed, buttons)}</div>`;
  return page(context, { title, main });
}

/** For a page that says why there is no proof: leads back to the page that asks for one. */
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

/** What somebody can do who has no way to prove who they are. */
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

/** The page above, which exists for every form and file: "/profile/api-keys/1" of "/profile/api-keys/1/revoke". */
export function parentOf(path: string): string {
  return path.replace(/(\.csv|\/[^/]*)$/, '');
}
