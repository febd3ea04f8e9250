import { formatCount } from '../../domain/format.ts';
import { mayManage } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import { NEW_OWNER } from '../../service/integrations/hand-over.ts';
import { listOwnedBy } from '../../service/integrations/integrations.ts';
import { type KeyDetails, listActiveKeys } from '../../service/keys/list-keys.ts';
import { deactivateUser, reactivateUser } from '../../service/people/change-user.ts';
import { getUser } from '../../service/people/people.ts';
import type { NamedIntegration } from '../../store/integrations/integrations.ts';
import type { UserDetails } from '../../store/people/user-lists.ts';
import { integrationUrl, userKeysUrl, userUrl } from '../addresses.ts';
import { doneDuringMove } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { keyLine } from '../keys/cells.ts';
import { page } from '../markup/layout.ts';
import { beside, emailText, field, head, postForm, problemSummary } from '../markup/parts.ts';
import { since } from '../markup/words.ts';
import { userPage } from './user.ts';
import { userIdOf } from './user-head.ts';

export async function showDeactivation(context: SignedInContext): Promise<View> {
  return deactivationPage(context, null);
}

/** `retry`: the form was refused, and is shown again with what was sent. */
async function deactivationPage(
  context: SignedInContext,
  retry: { readonly problem: Problem; readonly newOwner: string } | null,
): Promise<View> {
  const { actor, dashboard, formToken, now } = context;
  const user = await getUser(dashboard.db, actor, userIdOf(context));
  if (!mayManage(actor.role, user.role)) throw new RequestError('not-allowed');
  const owned = await listOwnedBy(dashboard.db, actor, user.id);
  const keys = await listActiveKeys(dashboard.db, actor, { userId: user.id, now });
  const isSelf = user.id === actor.userId;
  const problem = retry?.problem ?? null;
  const title = `Deactivate ${user.name}`;
  const url = userUrl(user.id);
  const content = html`<div class="notice danger"><p><strong>As soon as you press Deactivate${isSelf && ', you are signed out yourself'}:</strong></p>
<ul><li>${endingKeys(user, keys, now)}</li>
<li>Every session and every open link of ${user.name} ends.</li></ul></div>
<p>The user can be reactivated later; the keys cannot. Keys that ${user.name} made for others stay active, and are listed for review.</p>
${postForm(
  { action: userUrl(user.id, 'deactivate'), formToken },
  html`${ownedIntegrations(user, owned)}${owned.length > 0 && newOwnerField({ value: retry?.newOwner ?? (isSelf ? '' : actor.email), problem })}<div class="actions"><button class="button danger">Deactivate</button><a class="button plain" href="${url}">Cancel</a></div>`,
)}`;
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: emailText(user.email) })}
${problemSummary(problem, { [NEW_OWNER]: NEW_OWNER_LABEL })}
${keys.length > 0 ? beside({ title: 'API keys that end', about: html`<ul class="lines">${keys.map((key) => keyLine(key, userKeysUrl(user.id), now))}</ul>`, content }) : html`<div class="card narrow">${content}</div>`}`;
  return page(context, { title, main, problem });
}

/** How many keys end, and when any of them was last used. */
function endingKeys({ name }: UserDetails, keys: readonly KeyDetails[], now: Date): Html {
  if (keys.length === 0) return html`${name} has no active API key.`;
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []).toSorted((a, b) => b.getTime() - a.getTime());
  const [latest] = uses;
  const lastUsed = latest === undefined ? 'No use is recorded yet.' : html`The last use was ${since(latest, now)}.`;
  return html`${formatCount(keys.length, 'active API key')} of ${name} ${keys.length === 1 ? 'is' : 'are'} revoked for good. ${lastUsed} Requests that use ${keys.length === 1 ? 'it' : 'one'} are refused with 401.`;
}

export async function deactivate(context: SignedInContext, form: Form<typeof NEW_OWNER>): Promise<View> {
  const userId = userIdOf(context);
  const newOwner = form.has(NEW_OWNER) ? form.text(NEW_OWNER) : undefined;
  const outcome = await deactivateUser(context.dashboard.db, context.actor, { userId, newOwner, now: context.now });
  if (outcome.kind === 'invalid')
    return deactivationPage(context, { problem: problemOf(outcome), newOwner: newOwner ?? '' });
  if (outcome.kind !== 'done') return userPage(context, problemOf(outcome));
  if (context.isMoving) return doneDuringMove(context, 'The user is deactivated.');
  return redirect(`${userUrl(userId)}?done=deactivated`);
}

export async function reactivate(context: SignedInContext): Promise<View> {
  const userId = userIdOf(context);
  const outcome = await reactivateUser(context.dashboard.db, context.actor, { userId });
  if (outcome.kind !== 'done') return userPage(context, problemOf(outcome));
  return redirect(`${userUrl(userId)}?done=reactivated`);
}

export const NEW_OWNER_LABEL = 'New owner of the integrations';

/** The integrations whose owner is about to be deactivated or demoted. */
export function ownedIntegrations(
  { name }: { readonly name: string },
  owned: readonly NamedIntegration[],
): Html | false {
  if (owned.length === 0) return false;
  const [what, their] = [formatCount(owned.length, 'integration'), owned.length === 1 ? 'its' : 'their'];
  return html`<h2>Integrations</h2>
<p>${name} owns ${what}. ${owned.length === 1 ? 'It keeps' : 'They keep'} working with ${their} API keys, and need${owned.length === 1 && 's'} somebody who answers for ${owned.length === 1 ? 'it' : 'them'}.</p>
<ul class="lines">${owned.map((each) => html`<li><a href="${integrationUrl(each.id)}">${each.name}</a></li>`)}</ul>`;
}

type FieldProps = { readonly value: string; readonly problem: Problem | null };

export function newOwnerField(
  { value, problem }: FieldProps,
  hint = 'The e-mail of an active user of your organization.',
): Html {
  return field(
    { name: NEW_OWNER, label: NEW_OWNER_LABEL, hint, errors: problem?.fields },
    (attributes) =>
      html`<input ${attributes} type="email" value="${value}" maxlength="254" autocomplete="off" required>`,
  );
}
