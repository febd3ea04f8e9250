import { normalEmail } from '../../domain/people/email.ts';
import { SESSION_HOURS, SESSION_IDLE_MINUTES, type SessionEnd } from '../../domain/people/session.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import type { SingleSignOnRequired } from '../../service/authority/sign-in-ways.ts';
import { optionsForSignIn, signInWithPasskey } from '../../service/sign-in/passkeys/sign-in.ts';
import { giveSecondFactor, signIn, signOut } from '../../service/sign-in/sign-in.ts';
import { hiddenField, nextField, password, secondFactorCode, text } from '../forms/fields.ts';
import { type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import {
  FORGOTTEN_PASSWORD_URL,
  SIGN_IN_CODE_URL,
  SIGN_IN_PASSKEY_OPTIONS_URL,
  SIGN_IN_PASSKEY_URL,
  SIGN_IN_URL,
  safeNext,
  urlOf,
  welcomeUrl,
} from '../http/addresses.ts';
import { endedSessionCookie } from '../http/cookies.ts';
import { formProblem, type Problem, problemOf } from '../http/problem.ts';
import { findSignedIn, type RequestContext, type SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { cellNote, doneNotice, passwordLink, postForm } from '../markup/parts.ts';
import {
  askingBrowserOf,
  noPasskeysWords,
  passkeyField,
  passkeyForm,
  relyingPartyOf,
  sendOptions,
} from '../proof/passkeys.ts';
import { startAfterSignIn, startInBrowser } from './start-session.ts';
import { PROVIDER_WAYS } from './ways.ts';

const DONE = new Map([
  ['signed-out', 'You are signed out.'],
  ['ended', 'Your sign-in took too long or was ended. Please sign in again.'],
  ['password', 'Your password is set. Sign in with it.'],
  [
    'connection-saved',
    'The connection to your identity provider is saved. Sessions by the earlier one have ended, so sign in anew.',
  ],
  [
    'connection-removed',
    'The connection to your identity provider is removed, and the sessions by it have ended. Sign in with a password or a passkey.',
  ],
]);

const ENDED: Record<SessionEnd, string> = {
  idle: `It was not used for ${SESSION_IDLE_MINUTES} minutes.`,
  'too-old': `It reached its maximum of ${SESSION_HOURS} hours.`,
  ended: `A session ends after ${SESSION_IDLE_MINUTES} minutes without use, if somebody ends it in another browser, and if the account is deactivated, gets a new password or a role with more permissions, or has its second factor set up or reset. A session by single sign-on also ends when you sign out at your identity provider, when your account is unlinked, and when the connection is changed or removed. A session by password or passkey ends when your organization requires single sign-on.`,
};

type SignInProps = {
  /** The fields of the page. "password" means that the person has entered the e-mail on the previous page. */
  readonly step: 'email' | 'password' | 'both';
  /** Whether this is a cell. If so, the shared address of the cells may pass the e-mail in the URL fragment. */
  readonly isInCell: boolean;
};

export const SIGN_IN_FORM = {
  next: nextField,
  step: hiddenField(),
  email: text({
    label: 'E-mail',
    type: 'email',
    attributes: ({ isInCell }: SignInProps) =>
      html`autocomplete="username webauthn" required${isInCell && html` data-handed-over`}`,
    hasFocus: ({ step }: SignInProps) => step !== 'password',
  }),
  password: password({
    label: 'Password',
    autocomplete: 'current-password',
    hasFocus: ({ step }: SignInProps) => step === 'password',
  }),
};

/**
 * Shows the sign-in page. If an organization has single sign-on, the page asks only for the e-mail, because the e-mail's domain
 * decides how the person signs in. Otherwise the page asks for the password, too.
 */
export async function showSignIn(context: RequestContext): Promise<View> {
  const next = safeNext(context.query.get('next'));
  if ((await findSignedIn(context)) !== null) return redirect(next);
  const asksFirst = context.query.get('with') !== 'password' && (await asksForEmailFirst(context));
  return signInPage(context, { email: '', next, problem: null, step: asksFirst ? 'email' : 'both' });
}

async function asksForEmailFirst(context: RequestContext): Promise<boolean> {
  for (const way of PROVIDER_WAYS) if (await way.mayLeadToProvider(context)) return true;
  return false;
}

export async function submitSignIn(context: RequestContext, { values }: Form<typeof SIGN_IN_FORM>): Promise<View> {
  if (values.step === 'email') return continueWithEmail(context, values);
  return context.inTurn(() => signInWithPassword(context, values));
}

/**
 * Continues with the way to sign in that the e-mail's domain requires. The response depends only on the domain, so that nobody
 * can learn which e-mails have an account.
 */
async function continueWithEmail(
  context: RequestContext,
  { email, next }: { email: string; next: string },
): Promise<View> {
  const address = normalEmail(email);
  if (address === null) {
    const problem = formProblem('Type the whole e-mail address, such as mei@example.org.');
    return signInPage(context, { email, next, problem, step: 'email' });
  }
  for (const way of PROVIDER_WAYS) {
    const view = await way.beginByEmail(context, { email: address, next });
    if (view !== null) return view;
  }
  return signInPage(context, { email, next, problem: null, step: 'password' });
}

/**
 * Returns the page for a person whose password or passkey was right, but whose organization accepts neither passwords nor
 * passkeys.
 */
function requiredPage(context: RequestContext, required: SingleSignOnRequired, next: string): View {
  const [way] = PROVIDER_WAYS;
  return errorPage(context, {
    status: 403,
    title: 'Your organization requires single sign-on',
    message: 'It accepts neither passwords nor passkeys here. Sign in at its identity provider.',
    link:
      way === undefined || context.dashboard.publicUrl === undefined
        ? { name: 'Go to the sign-in', href: SIGN_IN_URL }
        : { name: 'Continue with single sign-on', href: way.startUrl(required, next) },
  });
}

async function signInWithPassword(
  context: RequestContext,
  { email, password, next }: { email: string; password: string; next: string },
): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const showAgain = (problem: Problem) => signInPage(context, { email, next, problem, step: 'both' });
  const result = await signIn(dashboard.db, { email, password, auditSource, now });
  switch (result.kind) {
    case 'signed-in':
      return startAfterSignIn(context, result, { by: 'password', next });
    case 'second-factor':
      return startInBrowser(context, { token: result.token, next: urlOf(SIGN_IN_CODE_URL, { next }) });
    case 'new-password':
      return redirect(`${welcomeUrl(result.token)}?why=length`);
    case 'single-sign-on-required':
      return requiredPage(context, result, next);
    case 'passkey-needed':
      return showAgain(formProblem(PASSKEY_NEEDED));
    case 'wrong':
      return showAgain(formProblem('The e-mail or the password is not right.'));
    case 'rate-limited':
      return showAgain(problemOf(result));
  }
}

const PASSKEY_NEEDED =
  'This account is for emergencies, so the password alone is not enough. Sign in with its passkey.';

/** Signs the person out. The form is not on a public page, because its token must be tied to the session. */
export async function submitSignOut({ dashboard, token, auditSource }: SignedInContext): Promise<View> {
  await signOut(dashboard.db, token, auditSource);
  return redirect(`${SIGN_IN_URL}?done=signed-out`, { cookies: [endedSessionCookie(dashboard.isHttps)] });
}

type Shown = Pick<SignInProps, 'step'> & {
  readonly email: string;
  readonly next: string;
  readonly problem: Problem | null;
};

function signInPage(context: RequestContext, { email, next, problem, step }: Shown): View {
  const isInCell = context.dashboard.common != null;
  const fields = fieldsOf(SIGN_IN_FORM, { typed: { email, next, step }, problem }, { step, isInCell });
  const done = DONE.get(context.query.get('done') ?? '');
  const ended = new Map(Object.entries(ENDED)).get(context.query.get('ended') ?? '');
  const hasPasskeyForm = relyingPartyOf(context).kind === 'usable';
  const main = html`<section class="card guest-card"><h1>Sign in</h1>
${doneNotice(done)}${ended !== undefined && html`<div class="notice" role="status"><p><strong>Your session has ended.</strong> ${ended} Sign in to continue.</p></div>`}${problemSummary(problem)}
${postForm(
  { action: SIGN_IN_URL, formToken: context.formToken },
  html`${fields.next}${step === 'email' && fields.step}
${fields.email}
${step !== 'email' && fields.password}
<div class="actions"><button class="button primary wide">${step === 'email' ? 'Continue' : 'Sign in'}</button></div>`,
)}
${passkeySignIn(context, next)}
<p class="aside">${step === 'email' ? passwordLink(next) : html`<a href="${FORGOTTEN_PASSWORD_URL}">Forgotten your password?</a>`}</p>${cellNote(context)}</section>`;
  return page(context, { title: 'Sign in', main, problem, formUrl: urlOf(SIGN_IN_URL, { next }), hasPasskeyForm });
}

function passkeySignIn(context: RequestContext, next: string): Html {
  const site = relyingPartyOf(context);
  if (site.kind === 'none') return html`<p class="aside quiet">${noPasskeysWords(site)}</p>`;
  return passkeyForm({
    site: site.relyingParty,
    action: SIGN_IN_PASSKEY_URL,
    formToken: context.formToken,
    use: 'autofill',
    optionsUrl: SIGN_IN_PASSKEY_OPTIONS_URL,
    purpose: 'to sign in with a passkey',
    content: html`${fieldsOf(PASSKEY_FORM, { typed: { next }, problem: null }).next}<div class="or"><span>or</span></div>
<button class="button wide">${icon('passkey')}Sign in with a passkey</button>`,
  });
}

export async function sendSignInOptions(context: RequestContext): Promise<View> {
  return sendOptions(context, (asking) => optionsForSignIn(context.dashboard.db, asking));
}

export const PASSKEY_FORM = { credential: passkeyField, next: nextField };

export async function submitPasskey(context: RequestContext, { values }: Form<typeof PASSKEY_FORM>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const site = relyingPartyOf(context);
  if (site.kind === 'none') throw new RequestError('not-found');
  const { next, credential = '' } = values;
  const { relyingParty } = site;
  const browser = askingBrowserOf(context);
  const given = { credential, relyingParty, browser, auditSource, now };
  const showAgain = (problem: Problem) => signInPage(context, { email: '', next, problem, step: 'both' });
  const result = await signInWithPasskey(dashboard.db, given);
  switch (result.kind) {
    case 'signed-in':
      return startAfterSignIn(context, result, { by: 'passkey', next });
    case 'single-sign-on-required':
      return requiredPage(context, result, next);
    case 'wrong':
      return showAgain(formProblem(WRONG_PASSKEY));
    case 'rate-limited':
      return showAgain(problemOf(result));
  }
}

const WRONG_PASSKEY = 'The passkey was not accepted. Try again, or sign in with your e-mail and your password.';

// The form for the second factor, which follows the password.

export const CODE_FORM = {
  next: nextField,
  code: secondFactorCode({
    hint: 'The six digits that your authenticator shows now, or one of your recovery codes.',
    hasFocus: true,
  }),
};

export async function showCode(context: RequestContext): Promise<View> {
  return codePage(context, { next: safeNext(context.query.get('next')), problem: null });
}

export async function giveCode(context: RequestContext, { values }: Form<typeof CODE_FORM>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const { next, code } = values;
  const given = { token: context.token ?? '', code, auditSource, now };
  const result = await giveSecondFactor(dashboard.db, given);
  switch (result.kind) {
    case 'signed-in':
      return startAfterSignIn(context, result, { by: 'password', next });
    case 'ended':
      return redirect(`${SIGN_IN_URL}?done=ended`, { cookies: [endedSessionCookie(dashboard.isHttps)] });
    case 'wrong':
      return codePage(context, { next, problem: formProblem('The code is not right, or was used already.') });
    case 'rate-limited':
      return codePage(context, { next, problem: problemOf(result) });
  }
}

type CodeProps = { readonly next: string; readonly problem: Problem | null };

function codePage(context: RequestContext, { next, problem }: CodeProps): View {
  const main = html`<section class="card guest-card"><h1>Second factor</h1>
${problemSummary(problem)}
${postForm(
  { action: SIGN_IN_CODE_URL, formToken: context.formToken },
  html`${Object.values(fieldsOf(CODE_FORM, { typed: { next }, problem }))}
<div class="actions"><button class="button primary wide">Sign in</button></div>`,
)}
<p class="aside"><a href="${SIGN_IN_URL}">Start again</a></p></section>`;
  return page(context, { title: 'Second factor', main, problem, formUrl: urlOf(SIGN_IN_CODE_URL, { next }) });
}
