import { formatCount } from '../../domain/format.ts';
import { LINK_HOURS } from '../../domain/people/access-link.ts';
import { html } from '../../html/html.ts';
import { isSingleSignOnRequired } from '../../service/authority/single-sign-on.ts';
import { inviteUser } from '../../service/people/invitations.ts';
import { doRolesFollowGroups } from '../../service/sign-in-settings/rules.ts';
import { INVITE_URL, USERS_URL } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { beside, field, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { linkPage, mailsLinks } from './access-link.ts';
import { roleField } from './role-field.ts';

/** The values of the form's fields. */
type Values = { readonly name: string; readonly email: string; readonly role: string };

export async function showInvite(context: SignedInContext): Promise<View> {
  return invitePage(context, { problem: null, values: { name: '', email: '', role: 'member' } });
}

export async function invite(
  context: SignedInContext,
  form: Form<'name' | 'email' | 'role' | 'form_id'>,
): Promise<View> {
  const { dashboard, actor, now } = context;
  const values = { name: form.text('name'), email: form.text('email'), role: form.text('role') };
  const formId = readFormId(context, form.text('form_id'));
  const outcome = await inviteUser(dashboard.db, actor, { ...values, formId, now });
  switch (outcome.kind) {
    case 'link-made':
      return linkPage(context, outcome.link);
    case 'invalid':
    case 'conflict':
      return invitePage(context, { problem: problemOf(outcome), values });
    case 'already-sent':
      return alreadySentPage(context, 'invitation', { name: 'See the users', href: USERS_URL });
  }
}

const LABELS = { name: 'Name', email: 'E-mail', role: 'Role' };

type Props = { readonly problem: Problem | null; readonly values: Values };

async function invitePage(context: SignedInContext, { problem, values }: Props): Promise<View> {
  const title = 'Invite a user';
  const { dashboard, actor } = context;
  const isRequired = await isSingleSignOnRequired(dashboard.db, actor, null);
  const followsGroups = await doRolesFollowGroups(dashboard.db, actor);
  const lead = isRequired
    ? 'They get a link with which they sign in at your identity provider.'
    : 'They get a link with which they choose a password.';
  const errors = problem?.fields;
  const main = html`${head({ title, up: { name: 'Users', href: USERS_URL }, lead })}
${problemSummary(problem, LABELS)}
${beside({
  title: 'What happens then',
  isLast: true,
  about: html`<ol class="steps"><li>${mailsLinks(context) ? 'We send the user a link.' : 'You see a link, once.'} It works for ${formatCount(LINK_HOURS.invitation, 'hour')}.</li>
<li>The user opens it and ${isRequired ? 'continues at your identity provider' : 'chooses a password'}.</li>
<li>The user ${isRequired ? 'is then signed in' : 'signs in'}, and can do what the role allows. You can change the role later.</li></ol>`,
  content: postForm(
    { action: INVITE_URL, formToken: context.formToken },
    html`${hidden('form_id', newFormId(context))}
<div class="field-row">${field({ name: 'name', label: LABELS.name, errors }, (attributes) => html`<input ${attributes} type="text" value="${values.name}" maxlength="200" autocomplete="off" required>`)}
${field({ name: 'email', label: LABELS.email, errors }, (attributes) => html`<input ${attributes} type="email" value="${values.email}" maxlength="254" autocomplete="off" required>`)}</div>
${roleField({ actorRole: actor.role, chosen: values.role, problem, followsGroups })}
<div class="actions"><button class="button primary">Invite</button><a class="button plain" href="${USERS_URL}">Cancel</a></div>`,
  ),
})}`;
  return page(context, { title, main, problem });
}
