import { normalEmail } from '../../domain/people/email.ts';
import { SESSION_HOURS, SESSION_IDLE_MINUTES, type SessionEnd } from '../../domain/people/session.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { optionsForSignIn, signInWithPasskey } from '../../service/sign-in/passkeys/sign-in.ts';
import { signIn, signOut } from '../../service/sign-in/sign-in.ts';
import { findConnectionForEmail } from '../../service/sign-in/single-sign-on/scope.ts';
import { hasSso } from '../../store/unscoped/people.ts';
import {
  FORGOTTEN_PASSWORD_URL,
  SIGN_IN_CODE_URL,
  SIGN_IN_PASSKEY_OPTIONS_URL,
  SIGN_IN_PASSKEY_URL,
  SIGN_IN_URL,
  urlOf,
  welcomeUrl,
} from '../addresses.ts';
import { endedSessionCookie } from '../http/cookies.ts';
import type { Form } from '../http/forms.ts';
import { formProblem, type Problem, problemOf } from '../http/problem.ts';
import { findSignedIn, type RequestContext, type SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { cellNote, doneNotice, field, hidden, passwordField, postForm, problemSummary } from '../markup/parts.ts';
import { askedBy, noPasskeys, passkeyForm, relyingPartyOf, sendOptions } from '../passkeys/form.ts';
import { tellBreakGlass } from './break-glass.ts';
import { safeNext } from './next.ts';
import { passwordLink } from './password-link.ts';
import { goToProvider } from './provider.ts';
import { requiredPage } from './refusal-pages.ts';
import { startInBrowser } from './start-in-browser.ts';

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

/**
 * Asks for the e-mail first where any organization has single sign-on, because its domain decides how the person signs in.
 * Otherwise the password is asked for on the same page.
 */
export async function showSignIn(context: RequestContext): Promise<View> {
  const next = safeNext(context.query.get('next'));
  if ((await findSignedIn(context)) !== null) return redirect(next);
  const { db, publicUrl } = context.dashboard;
  const isFirstStep = context.query.get('with') !== 'password' && publicUrl !== undefined && (await hasSso(db));
  return signInPage(context, { email: '', next, problem: null, step: isFirstStep ? 'email' : 'both' });
}

export async function submitSignIn(
  context: RequestContext,
  form: Form<'email' | 'password' | 'next' | 'step'>,
): Promise<View> {
  const next = safeNext(form.text('next'));
  const email = form.text('email');
  if (form.text('step') === 'email') return continueWithEmail(context, { email, next });
  return context.inTurn(() => signInWithPassword(context, { email, password: form.text('password'), next }));
}

/** Depends on the domain alone, so that nobody can learn which e-mails have an account. */
async function continueWithEmail(
  context: RequestContext,
  { email, next }: { email: string; next: string },
): Promise<View> {
  const { dashboard, inTurn } = context;
  const address = normalEmail(email);
  if (address === null) {
    const problem = formProblem('Type the whole e-mail address, such as mei@example.org.');
    return signInPage(context, { email, next, problem, step: 'email' });
  }
  const { db, publicUrl } = dashboard;
  const connection = publicUrl === undefined ? null : await inTurn(() => findConnectionForEmail(db, address));
  if (connection === null) return signInPage(context, { email, next, problem: null, step: 'password' });
  return goToProvider(context, connection, { email: address, next });
}

async function signInWithPassword(
  context: RequestContext,
  { email, password, next }: { email: string; password: string; next: string },
): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const result = await signIn(dashboard.db, { email, password, auditSource, now });
  switch (result.kind) {
    case 'signed-in':
      tellBreakGlass(context, result, 'password');
      return startInBrowser(context, { token: result.token, next });
    case 'second-factor':
      return startInBrowser(context, { token: result.token, next: urlOf(SIGN_IN_CODE_URL, { next }) });
    case 'new-password':
      return redirect(`${welcomeUrl(result.token)}?why=length`);
    case 'single-sign-on-required':
      return requiredPage(context, result, next);
    case 'passkey-needed': {
      const problem = formProblem(
        'This account is for emergencies, so the password alone is not enough. Sign in with its passkey.',
      );
      return signInPage(context, { email, next, problem, step: 'both' });
    }
    case 'wrong': {
      const problem = formProblem('The e-mail or the password is not right.');
      return signInPage(context, { email, next, problem, step: 'both' });
    }
    case 'rate-limited':
      return signInPage(context, { email, next, problem: problemOf(result), step: 'both' });
  }
}

/** Not among the public pages, because its form carries the token of the session. */
export async function submitSignOut({ dashboard, token, auditSource }: SignedInContext): Promise<View> {
  await signOut(dashboard.db, token, auditSource);
  return redirect(`${SIGN_IN_URL}?done=signed-out`, { cookies: [endedSessionCookie(dashboard.isHttps)] });
}

type Props = {
  readonly email: string;
  readonly next: string;
  readonly problem: Problem | null;
  /** What the page asks for. "password": the e-mail was given on the page before. */
  readonly step: 'email' | 'password' | 'both';
};

function signInPage(context: RequestContext, { email, next, problem, step }: Props): View {
  const done = DONE.get(context.query.get('done') ?? '');
  const ended = new Map(Object.entries(ENDED)).get(context.query.get('ended') ?? '');
  const hasPasskeyForm = relyingPartyOf(context).kind === 'usable';
  const main = html`<section class="card guest-card"><h1>Sign in</h1>
${doneNotice(done)}${ended !== undefined && html`<div class="notice" role="status"><p><strong>Your session has ended.</strong> ${ended} Sign in to continue.</p></div>`}${problemSummary(problem, {})}
${postForm(
  { action: SIGN_IN_URL, formToken: context.formToken },
  html`${hidden('next', next)}${step === 'email' && hidden('step', 'email')}
${emailField({ email, hasFocus: problem === null && step !== 'password', isInCell: context.dashboard.common != null })}
${step !== 'email' && passwordField({ name: 'password', label: 'Password', autocomplete: 'current-password', hasFocus: problem === null && step === 'password' })}
<div class="actions"><button class="button primary wide">${step === 'email' ? 'Continue' : 'Sign in'}</button></div>`,
)}
${passkeySignIn(context, next)}
<p class="aside">${step === 'email' ? passwordLink(next) : html`<a href="${FORGOTTEN_PASSWORD_URL}">Forgotten your password?</a>`}</p>${cellNote(context)}</section>`;
  return page(context, { title: 'Sign in', main, problem, formUrl: urlOf(SIGN_IN_URL, { next }), hasPasskeyForm });
}

function passkeySignIn(context: RequestContext, next: string): Html {
  const site = relyingPartyOf(context);
  if (site.kind === 'none') return html`<p class="aside quiet">${noPasskeys(site)}</p>`;
  return passkeyForm({
    site: site.relyingParty,
    action: SIGN_IN_PASSKEY_URL,
    formToken: context.formToken,
    use: 'autofill',
    optionsUrl: SIGN_IN_PASSKEY_OPTIONS_URL,
    purpose: 'to sign in with a passkey',
    content: html`${hidden('next', next)}<div class="or"><span>or</span></div>
<button class="button wide">${icon('passkey')}Sign in with a passkey</button>`,
  });
}

type EmailField = {
  readonly email: string;
  readonly hasFocus: boolean;
  /** Whether the address that cells share may hand over the e-mail, in the fragment. */
  readonly isInCell: boolean;
};

function emailField({ email, hasFocus, isInCell }: EmailField): Html {
  return field(
    { name: 'email', label: 'E-mail' },
    (attributes) =>
      html`<input ${attributes} type="email" value="${email}" autocomplete="username webauthn" required${isInCell && html` data-handed-over`}${hasFocus && html` autofocus`}>`,
  );
}

export async function sendSignInOptions(context: RequestContext): Promise<View> {
  return sendOptions(context, (asking) => optionsForSignIn(context.dashboard.db, asking));
}

export async function submitPasskey(context: RequestContext, form: Form<'credential' | 'next'>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const site = relyingPartyOf(context);
  if (site.kind === 'none') throw new RequestError('not-found');
  const next = safeNext(form.text('next'));
  const { relyingParty } = site;
  const given = { credential: form.text('credential'), relyingParty, browser: askedBy(context), auditSource, now };
  const result = await signInWithPasskey(dashboard.db, given);
  switch (result.kind) {
    case 'signed-in':
      tellBreakGlass(context, result, 'passkey');
      return startInBrowser(context, { token: result.token, next });
    case 'single-sign-on-required':
      return requiredPage(context, result, next);
    case 'wrong':
      return signInPage(context, { email: '', next, problem: formProblem(WRONG), step: 'both' });
    case 'rate-limited':
      return signInPage(context, { email: '', next, problem: problemOf(result), step: 'both' });
  }
}

const WRONG = 'The passkey was not accepted. Try again, or sign in with your e-mail and your password.';
