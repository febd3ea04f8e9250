import { SESSION_HOURS, SESSION_IDLE_MINUTES, type SessionEnd } from '../../domain/session.ts';
import { html } from '../../html/html.ts';
import { signIn, signOut } from '../../service/accounts/sign-in.ts';
import { endedSessionCookie, sessionCookie } from '../http/cookies.ts';
import type { Form } from '../http/forms.ts';
import { formProblem, type Problem, problemOf } from '../http/problem.ts';
import { findSignedIn, type RequestContext, type SignedInContext } from '../http/request-context.ts';
import { urlOf } from '../http/url.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { doneNotice, field, hidden, passwordField, postForm, problemSummary } from '../markup/parts.ts';
import { safeNext } from './next.ts';

const DONE = new Map([
  ['signed-out', 'You are signed out.'],
  ['ended', 'Your sign-in took too long or was ended. Please sign in again.'],
  ['password', 'Your password is set. Sign in with it.'],
]);

const ENDED: Record<SessionEnd, string> = {
  idle: `It was not used for ${SESSION_IDLE_MINUTES} minutes.`,
  'too-old': `It reached its maximum of ${SESSION_HOURS} hours.`,
  ended: `A session ends after ${SESSION_IDLE_MINUTES} minutes without use, if somebody ends it in another browser, and if the account is deactivated, gets a new password or a role with more permissions, or has its second factor set up or reset.`,
};

export async function showSignIn(context: RequestContext): Promise<View> {
  const next = safeNext(context.query.get('next'));
  if ((await findSignedIn(context)) !== null) return redirect(next);
  return signInPage(context, { email: '', next, problem: null });
}

export async function submitSignIn(context: RequestContext, form: Form<'email' | 'password' | 'next'>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const next = safeNext(form.text('next'));
  const email = form.text('email');
  const result = await signIn(dashboard.db, { email, password: form.text('password'), auditSource, now });
  switch (result.kind) {
    case 'signed-in':
      return redirect(next, { cookies: [sessionCookie(result.token, dashboard.isHttps)] });
    case 'second-factor': {
      const cookies = [sessionCookie(result.token, dashboard.isHttps)];
      return redirect(`/sign-in/second-factor?next=${encodeURIComponent(next)}`, { cookies });
    }
    case 'new-password':
      return redirect(`/welcome/${result.token}?why=length`);
    case 'wrong':
      return signInPage(context, { email, next, problem: formProblem('The e-mail or the password is not right.') });
    case 'rate-limited':
      return signInPage(context, { email, next, problem: problemOf(result) });
  }
}

/** Not among the public pages, because its form carries the token of the session. */
export async function submitSignOut({ dashboard, token, auditSource }: SignedInContext): Promise<View> {
  await signOut(dashboard.db, token, auditSource);
  return redirect('/sign-in?done=signed-out', { cookies: [endedSessionCookie(dashboard.isHttps)] });
}

type Props = { readonly email: string; readonly next: string; readonly problem: Problem | null };

function signInPage(context: RequestContext, { email, next, problem }: Props): View {
  const done = DONE.get(context.query.get('done') ?? '');
  const ended = new Map(Object.entries(ENDED)).get(context.query.get('ended') ?? '');
  const main = html`<section class="card guest-card"><h1>Sign in</h1>
${doneNotice(done)}${ended !== undefined && html`<div class="notice" role="status"><p><strong>Your session has ended.</strong> ${ended} Sign in to continue.</p></div>`}${problemSummary(problem, {})}
${postForm(
  { action: '/sign-in', formToken: context.formToken },
  html`${hidden('next', next)}
${field(
  { name: 'email', label: 'E-mail' },
  (attributes) =>
    html`<input ${attributes} type="email" value="${email}" autocomplete="username" required${problem === null && html` autofocus`}>`,
)}
${passwordField({ name: 'password', label: 'Password', autocomplete: 'current-password' })}
<div class="actions"><button class="button primary wide">Sign in</button></div>`,
)}
<p class="aside"><a href="/forgotten-password">Forgotten your password?</a></p></section>`;
  return page(context, { title: 'Sign in', main, problem, formUrl: urlOf('/sign-in', { next }) });
}
