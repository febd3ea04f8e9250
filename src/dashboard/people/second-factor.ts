import { PASSWORD_CHARACTERS } from '../../domain/people/password.ts';
import { mayManage } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import { getUser } from '../../service/people/people.ts';
import { resetSecondFactor } from '../../service/sign-in-settings/reset-second-factor.ts';
import type { UserDetails } from '../../store/people/user-lists.ts';
import { SECOND_FACTOR_URL, userUrl } from '../addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { emailText, head, postForm } from '../markup/parts.ts';
import { userPage } from './user.ts';
import { userIdOf } from './user-head.ts';

/** For another user's second factor and passkeys. One's own are changed under My profile. */
export async function showSecondFactorRemoval(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken } = context;
  const user = await getUser(dashboard.db, actor, userIdOf(context));
  if (user.id === actor.userId) return redirect(SECOND_FACTOR_URL);
  if (!mayManage(actor.role, user.role)) throw new RequestError('not-allowed');
  const title = `Remove the second factor and the passkeys of ${user.name}`;
  const main = html`${head({ title, up: { name: user.name, href: userUrl(user.id) }, lead: emailText(user.email) })}
<div class="card narrow">${user.hasSecondFactor || user.passkeys > 0 ? removalForm(user, formToken) : nothingToRemove(user)}</div>`;
  return page(context, { title, main });
}

export async function removeSecondFactor(context: SignedInContext): Promise<View> {
  const userId = userIdOf(context);
  const outcome = await resetSecondFactor(context.dashboard.db, context.actor, { userId });
  if (outcome.kind !== 'done') return userPage(context, problemOf(outcome));
  return redirect(`${userUrl(userId)}?done=factor-removed`);
}

/** What stops working, as the subject of a sentence. */
function stoppingWords({ hasSecondFactor, passkeys }: UserDetails): string {
  const factor = 'Their authenticator and their recovery codes';
  if (!hasSecondFactor) return 'Their passkeys';
  return passkeys > 0 ? `${factor}, and their passkeys,` : factor;
}

function removalForm(user: UserDetails, formToken: string): Html {
  const { id, name } = user;
  const url = userUrl(id);
  return html`<div class="notice danger"><p><strong>As soon as you press Remove:</strong></p>
<ul><li>The password alone opens the account of ${name}, until they set up a second factor or a passkey again.</li>
<li>${stoppingWords(user)} stop working.</li>
<li>Every session of ${name} ends.</li></ul></div>
<p>First make sure that the request comes from ${name}: somebody who has stolen the password would ask for the same. The password stays; one shorter than ${PASSWORD_CHARACTERS} characters must be replaced at the next sign-in.</p>
${postForm(
  { action: userUrl(id, 'second-factor'), formToken },
  html`<div class="actions"><button class="button danger">Remove</button><a class="button plain" href="${url}">Cancel</a></div>`,
)}`;
}

function nothingToRemove({ id, name }: UserDetails): Html {
  return html`<p>${name} has neither a second factor nor a passkey, so there is nothing to remove.</p>
<p class="actions"><a class="button" href="${userUrl(id)}">See the user</a></p>`;
}
