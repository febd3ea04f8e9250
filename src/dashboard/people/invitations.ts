import { LINK_HOURS } from '../../domain/people/access-link.ts';
import { formatCount } from '../../domain/text.ts';
import { html } from '../../html/html.ts';
import { isSingleSignOnRequired } from '../../service/authority/sign-in-ways.ts';
import { canWithdraw, correctEmail, inviteUser, withdrawInvitation } from '../../service/people/invitations.ts';
import { doRolesFollowGroups } from '../../service/sign-in/ways.ts';
import type { FoundUser } from '../../store/people/user-lists.ts';
import { formId, text } from '../forms/fields.ts';
import { emptyOf, type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import { INVITE_URL, USERS_URL, userUrl } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { actionForm, beside, emailText, head } from '../markup/parts.ts';
import { canMailLinks, linkPage } from './access-links.ts';
import { userPage } from './user.ts';
import { getManagedUser, roleField, userIdOf } from './user-parts.ts';

const emailField = text({
  label: 'E-mail',
  type: 'email',
  attributes: html`maxlength="254" autocomplete="off" required`,
});

export const INVITE_FORM = {
  formId: formId(),
  name: text({ label: 'Name', attributes: html`maxlength="200" autocomplete="off" required`, hasFocus: true }),
  email: emailField,
  role: roleField,
};

export async function showInvite(context: SignedInContext): Promise<View> {
  return invitePage(context, { problem: null, typed: { ...emptyOf(INVITE_FORM), role: 'member' } });
}

export async function invite(context: SignedInContext, { values, typed }: Form<typeof INVITE_FORM>): Promise<View> {
  const { dashboard, actor, now } = context;
  const outcome = await inviteUser(dashboard.db, actor, { ...values, now });
  switch (outcome.kind) {
    case 'link-made':
      return linkPage(context, outcome.link);
    case 'invalid':
    case 'conflict':
      return invitePage(context, { problem: problemOf(outcome), typed });
    case 'already-sent':
      return alreadySentPage(context, 'invitation', { name: 'See the users', href: USERS_URL });
  }
}

async function invitePage(context: SignedInContext, filled: Filled<typeof INVITE_FORM>): Promise<View> {
  const title = 'Invite a user';
  const { dashboard, actor } = context;
  const isRequired = await isSingleSignOnRequired(dashboard.db, actor, null);
  const followsGroups = await doRolesFollowGroups(dashboard.db, actor);
  const lead = isRequired
    ? 'They get a link with which they sign in at your identity provider.'
    : 'They get a link with which they choose a password.';
  const { problem } = filled;
  const { name, email, ...fields } = fieldsOf(INVITE_FORM, filled, { context, followsGroups });
  const main = html`${head({ title, up: { name: 'Users', href: USERS_URL }, lead })}
${problemSummary(problem, INVITE_FORM)}
${beside({
  title: 'What happens then',
  isLast: true,
  about: html`<ol class="steps"><li>${canMailLinks(context) ? 'We send the user a link.' : 'You see a link, once.'} It works for ${formatCount(LINK_HOURS.invitation, 'hour')}.</li>
<li>The user opens it and ${isRequired ? 'continues at your identity provider' : 'chooses a password'}.</li>
<li>The user ${isRequired ? 'is then signed in' : 'signs in'}, and can do what the role allows. You can change the role later.</li></ol>`,
  content: actionForm(context, {
    action: INVITE_URL,
    fields: html`<div class="field-row">${name}${email}</div>
${Object.values(fields)}`,
    button: 'Invite',
    cancel: USERS_URL,
  }),
})}`;
  return page(context, { title, main, problem });
}

// The pages that correct the e-mail of an invitation, or withdraw the invitation, before it is accepted.

export const EMAIL_FORM = { formId: formId(), email: emailField };

export async function showEmail(context: SignedInContext): Promise<View> {
  return emailPage(context, null);
}

export async function setEmail(context: SignedInContext, { values, typed }: Form<typeof EMAIL_FORM>): Promise<View> {
  const { dashboard, actor, now } = context;
  const userId = userIdOf(context);
  const outcome = await correctEmail(dashboard.db, actor, { userId, ...values, now });
  switch (outcome.kind) {
    case 'link-made':
      return linkPage(context, outcome.link);
    case 'invalid':
    case 'conflict':
      return emailPage(context, { problem: problemOf(outcome), typed });
    case 'already-sent':
      return alreadySentPage(context, 'invitation', { name: 'See the user', href: userUrl(userId) });
  }
}

/** Returns the page with the form. `refused` is the refused form; `null` if the form is shown for the first time. */
async function emailPage(context: SignedInContext, refused: Filled<typeof EMAIL_FORM> | null): Promise<View> {
  const user = await findInvitedUser(context);
  if (user === null)
    return refused === null ? redirect(userUrl(userIdOf(context))) : userPage(context, refused.problem);
  const url = userUrl(user.id);
  const filled = refused ?? { typed: user, problem: null };
  const { problem } = filled;
  const title = `Correct the e-mail of ${user.name}`;
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: emailText(user.email) })}
${problemSummary(problem, EMAIL_FORM)}
<div class="card narrow"><p>${user.name} has not accepted the invitation. The links to the former e-mail stop working, and the new one gets an invitation.</p>
${actionForm(context, { action: userUrl(user.id, 'email'), fields: Object.values(fieldsOf(EMAIL_FORM, filled, { context })), button: 'Change and invite', cancel: url })}</div>`;
  return page(context, { title, main, problem });
}

export async function showWithdrawal(context: SignedInContext): Promise<View> {
  const user = await findInvitedUser(context);
  if (user === null) return redirect(userUrl(userIdOf(context)));
  const url = userUrl(user.id);
  const title = `Withdraw the invitation of ${user.name}`;
  const isPossible = await canWithdraw(context.dashboard.db, context.actor, user);
  const content = isPossible
    ? html`<div class="notice danger"><p><strong>As soon as you press Withdraw, ${user.name} is no longer a user.</strong> The links to ${emailText(user.email)} stop working. You can invite the user again.</p></div>
${actionForm(context, { action: userUrl(user.id, 'withdraw'), button: 'Withdraw', kind: 'danger', cancel: url })}`
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

/** Returns the user in the path, or `null` if the user has accepted the invitation. */
async function findInvitedUser(context: SignedInContext): Promise<FoundUser | null> {
  const user = await getManagedUser(context);
  return user.hasAccepted ? null : user;
}
