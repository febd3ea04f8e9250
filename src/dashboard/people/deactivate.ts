import { mayManage } from '../../domain/role.ts';
import { deactivateUser, reactivateUser } from '../../service/change-user.ts';
import { getUser } from '../../service/people.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { head, postForm } from '../markup/parts.ts';
import { userPage } from './user.ts';
import { userIdOf, userUrl } from './user-head.ts';

export async function showDeactivation(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken } = context;
  const user = await getUser(dashboard.db, actor, userIdOf(context));
  if (!mayManage(actor.role, user.role)) throw new RequestError('not-allowed');
  const isSelf = user.id === actor.userId;
  const title = `Deactivate ${user.name}`;
  const url = userUrl(user.id);
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: user.email })}
<div class="card narrow">
<div class="notice danger"><p><strong>As soon as you press Deactivate${isSelf && ', you are signed out yourself'}:</strong></p>
<ul><li>Every API key of ${user.name} is revoked for good. Requests that use one are refused with 401.</li>
<li>Every session and every open link of ${user.name} ends.</li></ul></div>
<p>The user can be reactivated later; the keys cannot. Keys that ${user.name} made for others stay active, and are listed for review.</p>
${postForm(
  { action: `${url}/deactivate`, formToken },
  html`<div class="actions"><button class="button danger">Deactivate</button><a class="button plain" href="${url}">Cancel</a></div>`,
)}</div>`;
  return page(context, { title, main });
}

export async function deactivate(context: SignedInContext): Promise<View> {
  const userId = userIdOf(context);
  const outcome = await deactivateUser(context.dashboard.db, context.actor, { userId, now: context.now });
  if (outcome.kind !== 'done') return userPage(context, problemOf(outcome));
  return redirect(`${userUrl(userId)}?done=deactivated`);
}

export async function reactivate(context: SignedInContext): Promise<View> {
  const userId = userIdOf(context);
  const outcome = await reactivateUser(context.dashboard.db, context.actor, { userId });
  if (outcome.kind !== 'done') return userPage(context, problemOf(outcome));
  return redirect(`${userUrl(userId)}?done=reactivated`);
}
