import { deviceOf, SESSION_HOURS, SESSION_IDLE_MINUTES } from '../../domain/people/session.ts';
import { type Html, html } from '../../html/html.ts';
import { endOtherSessions, endOwnSession, listSessions, MAX_LISTED_SESSIONS } from '../../service/sign-in/sessions.ts';
import type { ListedSession } from '../../store/people/sessions.ts';
import { hiddenField } from '../forms/fields.ts';
import { type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { PASSWORD_URL, SESSIONS_URL, SIGN_OUT_EVERYWHERE_URL } from '../http/addresses.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { badge, doneNotice, postForm } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { instant, since } from '../markup/words.ts';
import { profileHead } from './profile.ts';

// The signed-in person's own sessions, one for each browser.

const DONE = new Map([
  ['ended', 'The session is ended. Its browser has to sign in again.'],
  ['everywhere', 'You are signed out everywhere else. Only this session is left.'],
]);

export const END_FORM = { sessionId: hiddenField() };

export async function showSessions(context: SignedInContext): Promise<View> {
  return sessionsPage(context, null);
}

export async function endOne(context: SignedInContext, { values }: Form<typeof END_FORM>): Promise<View> {
  const { dashboard, actor, token } = context;
  const outcome = await endOwnSession(dashboard.db, actor, { ...values, token });
  if (outcome.kind !== 'done') return sessionsPage(context, problemOf(outcome));
  return redirect(`${SESSIONS_URL}?done=ended`);
}

/** Ends all sessions of the account except the current one. */
export async function signOutEverywhere({ dashboard, actor, token }: SignedInContext): Promise<View> {
  await endOtherSessions(dashboard.db, actor, { token });
  return redirect(`${SESSIONS_URL}?done=everywhere`);
}

async function sessionsPage(context: SignedInContext, problem: Problem | null): Promise<View> {
  const { actor, dashboard, formToken, now, query, token } = context;
  const { sessions, isCut } = await listSessions(dashboard.db, actor, { token, now });
  const main = html`${profileHead('sessions')}${doneNotice(DONE.get(query.get('done') ?? ''))}${problemSummary(problem)}
<section aria-labelledby="sessions"><div class="section-head"><h2 id="sessions">Sessions</h2>${
    sessions.length > 1 &&
    postForm(
      { action: SIGN_OUT_EVERYWHERE_URL, formToken },
      html`<button class="button danger-plain">Sign out everywhere else</button>`,
    )
  }</div>
<p class="quiet">These browsers are signed in to your account. A session ends ${SESSION_IDLE_MINUTES} minutes after its last request, and ${SESSION_HOURS} hours after the sign-in. If you do not know one, end it and <a href="${PASSWORD_URL}">change your password</a>.${sessions.length > 1 && ' “Sign out everywhere else” keeps this session and ends all others at once.'}${isCut && ` The list shows ${MAX_LISTED_SESSIONS} sessions; there are more.`}</p>
<div class="card flush">${table({
    name: 'sessions',
    label: 'Your sessions, this one first',
    columns: ['Device', 'IP address', 'Last seen', 'Signed in', 'Actions'],
    rows: sessions.map((session) => ({ cells: cells(session, { formToken, now }) })),
  })}</div></section>`;
  return page(context, { title: 'Sessions', main, problem, formUrl: SESSIONS_URL });
}

function cells(session: ListedSession, { formToken, now }: { formToken: string; now: Date }) {
  const { createdAt, lastSeenAt, ip, userAgent, isCurrent } = session;
  const device = deviceOf(userAgent);
  return [
    html`<span class="strong">${device}</span>${isCurrent && html` ${badge('good', 'This session')}`}${userAgent !== '' && html`<details class="more"><summary>More<span class="unseen"> about ${device}</span></summary><p class="under breakable">${userAgent}</p></details>`}`,
    ip === '' ? '—' : ip,
    isCurrent ? 'Now' : since(lastSeenAt, now),
    instant(createdAt),
    !isCurrent && endForm(session, { device, formToken }),
  ];
}

function endForm({ id, ip }: ListedSession, { device, formToken }: { device: string; formToken: string }): Html {
  return postForm(
    { action: SESSIONS_URL, formToken },
    html`${fieldsOf(END_FORM, { typed: { sessionId: id }, problem: null }).sessionId}<button class="button small danger-plain">End<span class="unseen"> the session of ${device}${ip !== '' && ` at ${ip}`}</span></button>`,
  );
}
