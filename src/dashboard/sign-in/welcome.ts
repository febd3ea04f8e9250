import { html } from '../../html/html.ts';
import { openLink, setPassword } from '../../service/accounts/access-links.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { passwordField, postForm, problemSummary } from '../markup/parts.ts';

// An access link leads here: an invitation or a password reset.

export async function showWelcome(context: RequestContext): Promise<View> {
  return welcomePage(context, null);
}

export async function choosePassword(context: RequestContext, form: Form<'password'>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const outcome = await setPassword(dashboard.db, {
    token: tokenOf(context),
    password: form.text('password'),
    auditSource,
    now,
  });
  switch (outcome.kind) {
    case 'done':
      return redirect('/sign-in?done=password');
    case 'invalid':
      return welcomePage(context, problemOf(outcome));
    case 'dead-link':
      return deadLinkPage(context);
  }
}

function tokenOf({ params }: RequestContext): string {
  return params['token'] ?? '';
}

async function welcomePage(context: RequestContext, problem: Problem | null): Promise<View> {
  const token = tokenOf(context);
  const link = await openLink(context.dashboard.db, token, context.now);
  if (link === null) return deadLinkPage(context);
  const { name, email, organizationName, kind, passwordCharacters } = link;
  const isTooShort = context.query.get('why') === 'length';
  const main = html`<section class="card guest-card"><h1>Choose your password</h1>
<p>${kind === 'invitation' ? `Welcome to ${organizationName}, ${name}.` : `Hello ${name}.`} You sign in as <strong>${email}</strong>.</p>
${isTooShort && html`<p>Your second factor was removed, and without one your password is too short. Choose a longer one, then sign in with it.</p>`}
${problemSummary(problem, { password: 'Password' })}
${postForm(
  { action: `/welcome/${token}`, formToken: context.formToken },
  html`<input type="hidden" autocomplete="username" value="${email}">
${passwordField({
  name: 'password',
  label: 'Password',
  autocomplete: 'new-password',
  hint: `At least ${passwordCharacters} characters. A few unrelated words are strong and easy to remember.`,
  errors: problem?.fields,
})}
<div class="actions"><button class="button primary wide">Set the password</button></div>`,
)}</section>`;
  return page(context, { title: 'Choose your password', main, problem });
}

function deadLinkPage(context: RequestContext): View {
  const title = 'This link no longer works';
  const message = 'It was used before, or has expired. Ask the person who sent it for a new one.';
  const link = { name: 'Go to the sign-in', href: '/sign-in' };
  return errorPage(context, { status: 404, title, message, link });
}
