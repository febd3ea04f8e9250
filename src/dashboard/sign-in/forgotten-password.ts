import { type Html, html } from '../../html/html.ts';
import { requestReset } from '../../service/people/request-reset.ts';
import { FORGOTTEN_PASSWORD_URL, SIGN_IN_URL } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { cellNote, field, postForm, problemSummary } from '../markup/parts.ts';

export async function showForgottenPassword(context: RequestContext): Promise<View> {
  return forgottenPage(context, { email: '', problem: null });
}

export async function requestLink(context: RequestContext, form: Form<'email'>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const { db, outbox, publicUrl } = dashboard;
  const email = form.text('email');
  // The mail needs the configured address: anybody can send a request with another Host.
  if (publicUrl === undefined || !outbox.canSend) return requestedPage(context);
  const outcome = await requestReset(db, { email, auditSource, now }, { outbox, publicUrl });
  switch (outcome.kind) {
    case 'done':
      return requestedPage(context);
    case 'rate-limited':
      return forgottenPage(context, { email, problem: problemOf(outcome) });
  }
}

type Props = { readonly email: string; readonly problem: Problem | null };

function forgottenPage(context: RequestContext, props: Props): View {
  const { outbox, publicUrl } = context.dashboard;
  const canMail = publicUrl !== undefined && outbox.canSend;
  const main = html`<section class="card guest-card"><h1>Forgotten password</h1>
${canMail ? requestForm(context, props) : html`<p>Ask an administrator or a manager of your organization for a reset link. They find it under <strong>People</strong>, on your page.</p>`}
<p class="aside"><a href="${SIGN_IN_URL}">Back to the sign-in</a></p>${cellNote(context)}</section>`;
  return page(context, { title: 'Forgotten password', main, problem: props.problem });
}

function requestForm({ formToken }: RequestContext, { email, problem }: Props): Html {
  return html`<p>We send you a link with which you choose a new password. It works once, within an hour.</p>
${problemSummary(problem, {})}
${postForm(
  { action: FORGOTTEN_PASSWORD_URL, formToken },
  html`${field(
    { name: 'email', label: 'E-mail' },
    (attributes) => html`<input ${attributes} type="email" value="${email}" autocomplete="username" required>`,
  )}
<div class="actions"><button class="button primary wide">Send the link</button></div>`,
)}`;
}

/** The same for every e-mail, so that nobody can learn which ones have an account. */
function requestedPage(context: RequestContext): View {
  const main = html`<section class="card guest-card"><h1>Check your mail</h1>
<p>If the e-mail belongs to an account here, a link is on its way. If nothing arrives within a few minutes, ask an administrator of your organization.</p>
<p class="aside"><a href="${SIGN_IN_URL}">Back to the sign-in</a></p></section>`;
  return page(context, { title: 'Check your mail', main });
}
