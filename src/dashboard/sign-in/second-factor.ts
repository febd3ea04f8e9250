import { html } from '../../html/html.ts';
import { giveSecondFactor } from '../../service/sign-in/sign-in.ts';
import { SIGN_IN_CODE_URL, SIGN_IN_URL, urlOf } from '../addresses.ts';
import { endedSessionCookie } from '../http/cookies.ts';
import type { Form } from '../http/forms.ts';
import { formProblem, type Problem, problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { field, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { tellBreakGlass } from './break-glass.ts';
import { safeNext } from './next.ts';
import { startInBrowser } from './start-in-browser.ts';

export async function showCode(context: RequestContext): Promise<View> {
  return codePage(context, { next: safeNext(context.query.get('next')), problem: null });
}

export async function giveCode(context: RequestContext, form: Form<'code' | 'next'>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const next = safeNext(form.text('next'));
  const result = await giveSecondFactor(dashboard.db, {
    token: context.token ?? '',
    code: form.text('code'),
    auditSource,
    now,
  });
  switch (result.kind) {
    case 'signed-in':
      tellBreakGlass(context, result, 'password');
      return startInBrowser(context, { token: result.token, next });
    case 'ended':
      return redirect(`${SIGN_IN_URL}?done=ended`, { cookies: [endedSessionCookie(dashboard.isHttps)] });
    case 'wrong':
      return codePage(context, { next, problem: formProblem('The code is not right, or was used already.') });
    case 'rate-limited':
      return codePage(context, { next, problem: problemOf(result) });
  }
}

type Props = { readonly next: string; readonly problem: Problem | null };

function codePage(context: RequestContext, { next, problem }: Props): View {
  const main = html`<section class="card guest-card"><h1>Second factor</h1>
${problemSummary(problem, {})}
${postForm(
  { action: SIGN_IN_CODE_URL, formToken: context.formToken },
  html`${hidden('next', next)}
${field(
  {
    name: 'code',
    label: 'Code',
    hint: 'The six digits that your authenticator shows now, or one of your recovery codes.',
  },
  (attributes) =>
    html`<input ${attributes} class="code" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="40" required autofocus>`,
)}
<div class="actions"><button class="button primary wide">Sign in</button></div>`,
)}
<p class="aside"><a href="${SIGN_IN_URL}">Start again</a></p></section>`;
  return page(context, { title: 'Second factor', main, problem, formUrl: urlOf(SIGN_IN_CODE_URL, { next }) });
}
