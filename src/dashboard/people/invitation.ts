import { mayManage } from '../../domain/people/role.ts';
import { html } from '../../html/html.ts';
import { canWithdraw, correctEmail, withdrawInvitation } from '../../service/people/invitations.ts';
import { getUser } from '../../service/people/people.ts';
import type { FoundUser } from '../../store/people/user-lists.ts';
import { USERS_URL, userUrl } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { emailText, field, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { linkPage } from './access-link.ts';
import { userPage } from './user.ts';
import { userIdOf } from './user-head.ts';

// What can be done about an invitation that nobody has accepted.

export async function showEmail(context: SignedInContext): Promise<View> {
  return emailPage(context, null);
}

export async function setEmail(context: SignedInContext, form: Form<'email' | 'form_id'>): Promise<View> {
  const { dashboard, actor, now } = context;
  const userId = userIdOf(context);
  const email = form.text('email');
  const formId = readFormId(context, form.text('form_id'));
  const outcome = await correctEmail(dashboard.db, actor, { userId, email, formId, now });
  switch (outcome.kind) {
    case 'link-made':
      return linkPage(context, outcome.link);
    case 'invalid':
    case 'conflict':
      return emailPage(context, { problem: problemOf(outcome), email });
    case 'already-sent':
      return alreadySentPage(context, 'invitation', { name: 'See the user', href: userUrl(userId) });
  }
}

/** `retry`: the form was refused, and is shown again with what was sent. */
async function emailPage(
  context: SignedInContext,
  retry: { readonly problem: Problem; readonly email: string } | null,
): Promise<View> {
  const user = await getInvited(context);
  if (user === null) return redirect(userUrl(userIdOf(context)));
  const url = userUrl(user.id);
  const problem = retry?.problem ?? null;
  const title = `Correct the e-mail of ${user.name}`;
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: emailText(user.email) })}
${problemSummary(problem, { email: 'E-mail' })}
<div class="card narrow"><p>${user.name} has not accepted the invitation. The links to the former e-mail stop working, and the new one gets an invitation.</p>
${postForm(
  { action: userUrl(user.id, 'email'), formToken: context.formToken },
  html`${hidden('form_id', newFormId(context))}
${field({ name: 'email', label: 'E-mail', errors: problem?.fields }, (attributes) => html`<input ${attributes} type="email" value="${retry?.email ?? user.email}" maxlength="254" autocomplete="off" required>`)}
<div class="actions"><button class="button primary">Change and invite</button><a class="button plain" href="${url}">Cancel</a></div>`,
)}</div>`;
  return page(context, { title, main, problem });
}

export async function showWithdrawal(context: SignedInContext): Promise<View> {
  const user = await getInvited(context);
  if (user === null) return redirect(userUrl(userIdOf(context)));
  const url = userUrl(user.id);
  const title = `Withdraw the invitation of ${user.name}`;
  const isPossible = await canWithdraw(context.dashboard.db, context.actor, user);
  const content = isPossible
    ? html`<div class="notice danger"><p><strong>As soon as you press Withdraw, ${user.name} is no longer a user.</strong> The links to ${emailText(user.email)} stop working. You can invite the user again.</p></div>
${postForm(
  { action: userUrl(user.id, 'withdraw'), formToken: context.formToken },
  html`<div class="actions"><button class="button danger">Withdraw</button><a class="button plain" href="${url}">Cancel</a></div>`,
)}`
    : html`<p>${user.name} has API keys or integrations, whose history stays. Deactivate the user instead.</p>
<p class="actions"><a class="button danger-plain" href="${userUrl(user.id, 'deactivate')}">Deactivate</a><a class="button plain" href="${url}">Cancel</a></p>`;
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: emailText(user.email) })}
<div class="card narrow">${content}</div>`;
  return page(context, { title, main });
}

export async function withdraw(context: SignedInContext): Promise<View> {
  const outcome = await withdrawInvitation(context.dashboard.db, context.actor, { userId: userIdOf(context) });
  if (outcome.kind !== 'done') return userPage(context, problemOf(outcome));
  return redirect(`${USERS_URL}?done=withdrawn`);
}

/** `null` for somebody who has accepted. */
async function getInvited(context: SignedInContext): Promise<FoundUser | null> {
  const { actor, dashboard } = context;
  const user = await getUser(dashboard.db, actor, userIdOf(context));
  if (!mayManage(actor.role, user.role)) throw new RequestError('not-allowed');
  return user.hasAccepted ? null : user;
}
