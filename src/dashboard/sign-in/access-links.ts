import { type Html, html } from '../../html/html.ts';
import { NO_PASSWORD } from '../../service/authority/sign-in-ways.ts';
import { type OpenLink, openLink, requestReset, setPassword } from '../../service/people/access-links.ts';
import { password, text } from '../forms/fields.ts';
import { emptyOf, type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { FORGOTTEN_PASSWORD_URL, SIGN_IN_URL, welcomeUrl } from '../http/addresses.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { cellNote, emailText, postForm } from '../markup/parts.ts';

// Access links: the pages to which the links in invitations and password resets lead, and the page on which people ask for a
// reset.

export const WELCOME_FORM = {
  password: password({
    label: 'Password',
    autocomplete: 'new-password',
    hint: ({ passwordCharacters }: Pick<OpenLink, 'passwordCharacters'>) =>
      `At least ${passwordCharacters} characters. A few unrelated words are strong and easy to remember.`,
  }),
};

export async function showWelcome(context: RequestContext): Promise<View> {
  return welcomePage(context, null);
}

export async function choosePassword(context: RequestContext, { values }: Form<typeof WELCOME_FORM>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const given = { token: tokenOf(context), ...values, auditSource, now };
  const outcome = await setPassword(dashboard.db, given);
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

export function tokenOf({ params }: RequestContext): string {
  return params['token'] ?? '';
}

async function welcomePage(context: RequestContext, problem: Problem | null): Promise<View> {
  const token = tokenOf(context);
  const link = await openLink(context.dashboard.db, token, context.now);
  if (link === null) return deadLinkPage(context);
  const { email, singleSignOn } = link;
  if (singleSignOn === 'required') return providerPage(context, link);
  const isTooShort = context.query.get('why') === 'length';
  const main = html`<section class="card guest-card"><h1>Choose your password</h1>
<p>${greetingOf(link)} You sign in as <strong>${emailText(email)}</strong>.</p>
${isTooShort && html`<p>Your second factor was removed, and without one your password is too short. Choose a longer one, then sign in with it.</p>`}
${problemSummary(problem, WELCOME_FORM)}
${postForm(
  { action: welcomeUrl(token), formToken: context.formToken },
  html`<input type="hidden" autocomplete="username" value="${email}">
${fieldsOf(WELCOME_FORM, { typed: {}, problem }, link).password}
<div class="actions"><button class="button primary wide">Set the password</button></div>`,
)}
${singleSignOn === 'possible' && html`<p class="aside">Or, without a password here:</p>${providerForm(context, { isPrimary: false })}`}</section>`;
  return page(context, { title: 'Choose your password', main, problem });
}

function greetingOf({ kind, name, organizationName }: OpenLink): string {
  return kind === 'invitation' ? `Welcome to ${organizationName}, ${name}.` : `Hello ${name}.`;
}

/**
 * Returns the page for a link to an account whose organization requires single sign-on. Such a link sets no password. It proves
 * that the account belongs to the person who signs in at the provider.
 */
function providerPage(context: RequestContext, link: OpenLink): View {
  const title = 'Sign in at your organization';
  const main = html`<section class="card guest-card"><h1>${title}</h1>
<p>${greetingOf(link)} ${NO_PASSWORD} Sign in as <strong>${emailText(link.email)}</strong>.</p>
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

const TO_SIGN_IN = { name: 'Go to the sign-in', href: SIGN_IN_URL };

/** Returns the page for an invitation whose e-mail now belongs to another account or organization. */
function refusedPage(context: RequestContext, message: string): View {
  return errorPage(context, { status: 409, title: 'You cannot accept this invitation', message, link: TO_SIGN_IN });
}

export function deadLinkPage(context: RequestContext): View {
  const title = 'This link no longer works';
  const message = 'It was used before, has expired, or was withdrawn. Ask the person who sent it for a new one.';
  return errorPage(context, { status: 404, title, message, link: TO_SIGN_IN });
}

export const FORGOTTEN_FORM = {
  email: text({ label: 'E-mail', type: 'email', attributes: html`autocomplete="username" required` }),
};

type Filling = Filled<typeof FORGOTTEN_FORM>;

export async function showForgottenPassword(context: RequestContext): Promise<View> {
  return forgottenPage(context, { typed: emptyOf(FORGOTTEN_FORM), problem: null });
}

export async function requestLink(
  context: RequestContext,
  { values, typed }: Form<typeof FORGOTTEN_FORM>,
): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const { db, outbox, publicUrl } = dashboard;
  // The link in the mail must contain the configured address. The Host header is not used, because the client can write any
  // server name into it.
  if (publicUrl === undefined || !outbox.canSend) return requestedPage(context);
  const outcome = await requestReset(db, { ...values, auditSource, now }, { outbox, publicUrl });
  switch (outcome.kind) {
    case 'done':
      return requestedPage(context);
    case 'rate-limited':
      return forgottenPage(context, { typed, problem: problemOf(outcome) });
  }
}

function forgottenPage(context: RequestContext, filled: Filling): View {
  const { outbox, publicUrl } = context.dashboard;
  const canMail = publicUrl !== undefined && outbox.canSend;
  const main = html`<section class="card guest-card"><h1>Forgotten password</h1>
${canMail ? requestForm(context, filled) : html`<p>Ask an administrator or a manager of your organization for a reset link. They find it under <strong>People</strong>, on your page.</p>`}
<p class="aside"><a href="${SIGN_IN_URL}">Back to the sign-in</a></p>${cellNote(context)}</section>`;
  return page(context, { title: 'Forgotten password', main, problem: filled.problem });
}

function requestForm({ formToken }: RequestContext, filled: Filling): Html {
  return html`<p>We send you a link with which you choose a new password. It works once, within an hour.</p>
${problemSummary(filled.problem)}
${postForm(
  { action: FORGOTTEN_PASSWORD_URL, formToken },
  html`${fieldsOf(FORGOTTEN_FORM, filled).email}
<div class="actions"><button class="button primary wide">Send the link</button></div>`,
)}`;
}

/** Returns the same page for every e-mail, so that nobody can learn which e-mails have an account. */
function requestedPage(context: RequestContext): View {
  const main = html`<section class="card guest-card"><h1>Check your mail</h1>
<p>If the e-mail belongs to an account here, a link is on its way. If nothing arrives within a few minutes, ask an administrator of your organization.</p>
<p class="aside"><a href="${SIGN_IN_URL}">Back to the sign-in</a></p></section>`;
  return page(context, { title: 'Check your mail', main });
}
