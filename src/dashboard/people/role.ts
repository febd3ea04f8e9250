import { shownEmail } from '../../domain/people/email.ts';
import { isRole, mayManage } from '../../domain/people/role.ts';
import { html } from '../../html/html.ts';
import { NEW_OWNER } from '../../service/integrations/hand-over.ts';
import { listOwnedBy } from '../../service/integrations/integrations.ts';
import { changeRole } from '../../service/people/change-user.ts';
import { getUser } from '../../service/people/people.ts';
import { urlOf, userUrl } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { emailText, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';
import { NEW_OWNER_LABEL, newOwnerField, ownedIntegrations } from './deactivate.ts';
import { userPage } from './user.ts';
import { userIdOf } from './user-head.ts';

export async function setRole(context: SignedInContext, form: Form<'role' | typeof NEW_OWNER>): Promise<View> {
  const userId = userIdOf(context);
  const role = form.text('role');
  const newOwner = form.has(NEW_OWNER) ? form.text(NEW_OWNER) : undefined;
  const outcome = await changeRole(context.dashboard.db, context.actor, { userId, role, newOwner });
  if (outcome.kind === 'done') return redirect(`${userUrl(userId)}?done=role`);
  const problem = problemOf(outcome);
  if (problem.fields[NEW_OWNER] === undefined) return userPage(context, problem);
  // The form of the user's page does not ask for a new owner.
  if (newOwner === undefined) return redirect(urlOf(userUrl(userId, 'role'), { role }));
  return demotionPage(context, { role, newOwner, problem });
}

/** Confirms a demotion of a user who owns integrations. */
export async function showDemotion(context: SignedInContext): Promise<View> {
  const { query, actor } = context;
  return demotionPage(context, { role: query.get('role') ?? '', newOwner: actor.email, problem: null });
}

type Props = { readonly role: string; readonly newOwner: string; readonly problem: Problem | null };

async function demotionPage(context: SignedInContext, { role, newOwner, problem }: Props): Promise<View> {
  const { actor, dashboard, formToken } = context;
  const user = await getUser(dashboard.db, actor, userIdOf(context));
  const url = userUrl(user.id);
  if (!isRole(role)) return redirect(url);
  if (!mayManage(actor.role, user.role)) throw new RequestError('not-allowed');
  const owned = await listOwnedBy(dashboard.db, actor, user.id);
  const title = `Change the role of ${user.name}`;
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: emailText(user.email) })}
${problemSummary(problem, { [NEW_OWNER]: NEW_OWNER_LABEL })}
<div class="card narrow"><p>From <strong>${ROLE_WORDS[user.role].name}</strong> to <strong>${ROLE_WORDS[role].name}</strong>. It applies at once, to all keys of ${user.name} too.</p>
${postForm(
  { action: userUrl(user.id, 'role'), formToken },
  html`${hidden('role', role)}${ownedIntegrations(user, owned)}${owned.length > 0 && newOwnerField({ value: newOwner, problem }, `The e-mail of an active user. ${user.name} stays the owner with ${shownEmail(user.email)}.`)}
<div class="actions"><button class="button primary">Change role</button><a class="button plain" href="${url}">Cancel</a></div>`,
)}</div>`;
  return page(context, { title, main, problem });
}
