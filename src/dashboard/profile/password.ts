import { passwordCharacters } from '../../domain/people/password.ts';
import { html } from '../../html/html.ts';
import { findOwnWaysIn, NO_PASSWORD, type OwnWaysIn } from '../../service/authority/single-sign-on.ts';
import { changePassword } from '../../service/sign-in-settings/change-password.ts';
import { PASSWORD_URL, PROFILE_URL } from '../addresses.ts';
import { sessionCookie } from '../http/cookies.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { head, passwordField, postForm, problemSummary } from '../markup/parts.ts';

export async function showPassword(context: SignedInContext, { hasPassword }: OwnWaysIn): Promise<View> {
  return passwordPage(context, { hasPassword, problem: null });
}

export async function changeOwnPassword(context: SignedInContext, form: Form<'password'>): Promise<View> {
  const { dashboard, actor, token } = context;
  const outcome = await changePassword(dashboard.db, actor, { password: form.text('password'), token });
  if (outcome.kind !== 'session-renewed') {
    const { hasPassword } = await findOwnWaysIn(dashboard.db, actor);
    return passwordPage(context, { hasPassword, problem: problemOf(outcome) });
  }
  return redirect(`${PROFILE_URL}?done=password`, { cookies: [sessionCookie(outcome.token, dashboard.isHttps)] });
}

function passwordPage(
  context: SignedInContext,
  { hasPassword, problem }: { readonly hasPassword: boolean; readonly problem: Problem | null },
): View {
  const { actor, formToken } = context;
  const title = hasPassword ? 'Change password' : 'Set password';
  const main = html`${head({ title, up: { name: 'My profile', href: PROFILE_URL } })}
${problemSummary(problem, { password: 'New password' })}
<div class="card narrow">${postForm(
    { action: PASSWORD_URL, formToken },
    html`<input type="hidden" autocomplete="username" value="${actor.email}">
${passwordField({
  name: 'password',
  label: 'New password',
  autocomplete: 'new-password',
  hint: `At least ${passwordCharacters(actor.hasSecondFactor)} characters. A few unrelated words are strong and easy to remember.`,
  errors: problem?.fields,
})}
<div class="actions"><button class="button primary">${title}</button><a class="button plain" href="${PROFILE_URL}">Cancel</a></div>`,
  )}</div>`;
  return page(context, { title, main, problem });
}

/** A page about the password or the second factor, for those whose organization accepts them. */
export function needsPassword(get: (context: SignedInContext, ways: OwnWaysIn) => Promise<View>) {
  return async (context: SignedInContext): Promise<View> => {
    const ways = await findOwnWaysIn(context.dashboard.db, context.actor);
    if (ways.mayUsePassword) return get(context, ways);
    const link = { name: 'Go to My profile', href: PROFILE_URL };
    return errorPage(context, { status: 409, title: 'Single sign-on is required', message: NO_PASSWORD, link });
  };
}
