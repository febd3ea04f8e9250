import { hashToken } from '../../domain/people/session.ts';
import { type Html, html } from '../../html/html.ts';
import { NO_PASSWORD } from '../../service/authority/single-sign-on.ts';
import { type OpenLink, openLink, setPassword } from '../../service/people/access-links.ts';
import { findConnectionById } from '../../service/sign-in/single-sign-on/scope.ts';
import { PROFILE_URL, SIGN_IN_URL, welcomeUrl } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { emailText, passwordField, postForm, problemSummary } from '../markup/parts.ts';
import { goToProvider } from './provider.ts';

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
      return redirect(`${SIGN_IN_URL}?done=password&with=password`);
    case 'invalid':
      return welcomePage(context, problemOf(outcome));
    case 'conflict':
      return refusedPage(context, outcome.message);
    case 'dead-link':
      return deadLinkPage(context);
  }
}

/** The person continues at the provider. The link is used up when the provider says that its e-mail is theirs. */
export async function welcomeByProvider(context: RequestContext): Promise<View> {
  const { dashboard, now, inTurn } = context;
  const token = tokenOf(context);
  const found = await inTurn(async () => {
    const link = await openLink(dashboard.db, token, now);
    const connection =
      link === null || dashboard.publicUrl === undefined
        ? null
        : await findConnectionById(dashboard.db, link.organizationId);
    return link === null || connection === null ? null : { link, connection };
  });
  if (found === null || found.link.singleSignOn === 'no') return deadLinkPage(context);
  const { link, connection } = found;
  return goToProvider(context, connection, { email: link.email, next: PROFILE_URL, linkHash: hashToken(token) });
}

function tokenOf({ params }: RequestContext): string {
  return params['token'] ?? '';
}

async function welcomePage(context: RequestContext, problem: Problem | null): Promise<View> {
  const token = tokenOf(context);
  const link = await openLink(context.dashboard.db, token, context.now);
  if (link === null) return deadLinkPage(context);
  const { name, email, organizationName, kind, passwordCharacters, singleSignOn } = link;
  if (singleSignOn === 'required') return providerPage(context, link);
  const isTooShort = context.query.get('why') === 'length';
  const main = html`<section class="card guest-card"><h1>Choose your password</h1>
<p>${kind === 'invitation' ? `Welcome to ${organizationName}, ${name}.` : `Hello ${name}.`} You sign in as <strong>${emailText(email)}</strong>.</p>
${isTooShort && html`<p>Your second factor was removed, and without one your password is too short. Choose a longer one, then sign in with it.</p>`}
${problemSummary(problem, { password: 'Password' })}
${postForm(
  { action: welcomeUrl(token), formToken: context.formToken },
  html`<input type="hidden" autocomplete="username" value="${email}">
${passwordField({
  name: 'password',
  label: 'Password',
  autocomplete: 'new-password',
  hint: `At least ${passwordCharacters} characters. A few unrelated words are strong and easy to remember.`,
  errors: problem?.fields,
})}
<div class="actions"><button class="button primary wide">Set the password</button></div>`,
)}
${singleSignOn === 'possible' && html`<p class="aside">Or, without a password here:</p>${providerForm(context, { isPrimary: false })}`}</section>`;
  return page(context, { title: 'Choose your password', main, problem });
}

/** Where single sign-on is required, the link is not for a password. It proves whose account is linked. */
function providerPage(context: RequestContext, { kind, name, email, organizationName }: OpenLink): View {
  const title = 'Sign in at your organization';
  const main = html`<section class="card guest-card"><h1>${title}</h1>
<p>${kind === 'invitation' ? `Welcome to ${organizationName}, ${name}.` : `Hello ${name}.`} ${NO_PASSWORD} Sign in as <strong>${emailText(email)}</strong>.</p>
${providerForm(context, { isPrimary: true })}</section>`;
  return page(context, { title, main });
}

function providerForm(context: RequestContext, { isPrimary }: { isPrimary: boolean }): Html {
  const action = welcomeUrl(tokenOf(context), 'single-sign-on');
  return postForm(
    { action, formToken: context.formToken },
    html`<div class="actions"><button class="button ${isPrimary && 'primary '}wide">Continue with single sign-on</button></div>`,
  );
}

/** The e-mail has become that of another account or organization since the invitation. */
function refusedPage(context: RequestContext, message: string): View {
  const link = { name: 'Go to the sign-in', href: SIGN_IN_URL };
  return errorPage(context, { status: 409, title: 'You cannot accept this invitation', message, link });
}

function deadLinkPage(context: RequestContext): View {
  const title = 'This link no longer works';
  const message = 'It was used before, has expired, or was withdrawn. Ask the person who sent it for a new one.';
  const link = { name: 'Go to the sign-in', href: SIGN_IN_URL };
  return errorPage(context, { status: 404, title, message, link });
}
