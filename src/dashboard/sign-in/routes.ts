import { openLink, setPassword } from '../../service/access-links.ts';
import { requestReset } from '../../service/request-reset.ts';
import { giveSecondFactor, signIn, signOut } from '../../service/sign-in.ts';
import { type Answer, redirect } from '../http/answer.ts';
import { orAgain, type Problem, slowed } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { act, type OpenPage, signedIn } from '../http/room.ts';
import { endedSessionCookie, safeNext, sessionCookie } from '../http/session.ts';
import type { Visit } from '../http/visit.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import * as pages from './pages.ts';

export const signInPages: readonly OpenPage[] = [
  { path: '/sign-in', show: showSignIn, act: act(['email', 'password', 'next'], enter) },
  { path: '/sign-in/second-factor', show: async (visit) => codePage(visit), act: act(['code', 'next'], giveCode) },
  {
    path: '/forgotten-password',
    show: async (visit) => forgottenPage(visit, { email: '', problem: null }),
    act: act(['email'], askReset),
  },
  { path: '/welcome/:token', show: (visit) => welcome(visit, null), act: act(['password'], choosePassword) },
];

/** Apart, because its form carries the session's token. */
export async function leave(visit: Visit & { token: string }): Promise<Answer> {
  const { dashboard, token, trace } = visit;
  await signOut(dashboard.db, token, trace);
  return redirect('/sign-in?done=signed-out', { cookies: [endedSessionCookie(dashboard.isSecure)] });
}

async function showSignIn(visit: Visit): Promise<Answer> {
  const next = safeNext(visit.query.get('next'));
  if ((await signedIn(visit)) !== null) return redirect(next);
  return signInPage(visit, { email: '', next, problem: null });
}

async function enter(visit: Visit, form: Form<'email' | 'password' | 'next'>): Promise<Answer> {
  const { dashboard, trace } = visit;
  const { db, isSecure } = dashboard;
  const next = safeNext(form.text('next'));
  const email = form.text('email');
  const result = await signIn(db, { email, password: form.text('password'), trace, now: visit.now });
  switch (result.kind) {
    case 'signed-in':
      return redirect(next, { cookies: [sessionCookie(result.token, isSecure)] });
    case 'second-factor':
      return redirect(withNext('/sign-in/second-factor', next), { cookies: [sessionCookie(result.token, isSecure)] });
    case 'new-password':
      return redirect(`/welcome/${result.token}?why=length`);
    case 'refused':
      return signInPage(visit, { email, next, problem: refused('The e-mail or the password is not right.') });
    case 'slowed':
      return slowed(result, (problem) => signInPage(visit, { email, next, problem }));
  }
}

async function giveCode(visit: Visit, form: Form<'code' | 'next'>): Promise<Answer> {
  const { dashboard, trace, token } = visit;
  const next = safeNext(form.text('next'));
  const result = await giveSecondFactor(dashboard.db, {
    token: token ?? '',
    code: form.text('code'),
    trace,
    now: visit.now,
  });
  switch (result.kind) {
    case 'signed-in':
      return redirect(next, { cookies: [sessionCookie(result.token, dashboard.isSecure)] });
    case 'ended':
      return redirect('/sign-in?done=ended', { cookies: [endedSessionCookie(dashboard.isSecure)] });
    case 'refused':
      return codePage(visit, { next, problem: refused('The code is not right, or was used already.') });
    case 'slowed':
      return slowed(result, (problem) => codePage(visit, { next, problem }));
  }
}

async function askReset(visit: Visit, form: Form<'email'>): Promise<Answer> {
  const { db, outbox, publicUrl } = visit.dashboard;
  const email = form.text('email');
  return orAgain(
    async () => {
      // The address in a mail is the configured one: the request's Host is whatever its sender made it.
      if (publicUrl !== undefined && outbox.canSend)
        await requestReset(db, { email, trace: visit.trace, now: visit.now }, { outbox, publicUrl });
      return page(visit, { title: 'Look into your mail', main: pages.askedReset() });
    },
    async (problem) => forgottenPage(visit, { email, problem }),
  );
}

function forgottenPage(visit: Visit, shown: { email: string; problem: Problem | null }): Answer {
  const { outbox, publicUrl } = visit.dashboard;
  const canMail = publicUrl !== undefined && outbox.canSend;
  const main = pages.forgotten({ formToken: visit.formToken, canMail, ...shown });
  return page(visit, { title: 'Forgotten password', status: shown.problem?.status ?? 200, main });
}

async function welcome(visit: Visit, problem: Problem | null): Promise<Answer> {
  const token = visit.params['token'] ?? '';
  const link = await openLink(visit.dashboard.db, token, visit.now);
  if (link === null) return deadLink(visit);
  const isTooShort = visit.query.get('why') === 'length';
  const frame = { link, action: `/welcome/${token}`, formToken: visit.formToken, problem };
  const main = pages.choosePassword({ ...frame, isTooShort });
  return page(visit, { title: 'Choose your password', status: problem?.status ?? 200, main });
}

async function choosePassword(visit: Visit, form: Form<'password'>): Promise<Answer> {
  const token = visit.params['token'] ?? '';
  const { dashboard, trace } = visit;
  return orAgain(
    async () => {
      if ((await openLink(dashboard.db, token, visit.now)) === null) return deadLink(visit);
      await setPassword(dashboard.db, { token, password: form.text('password'), trace, now: visit.now });
      return redirect('/sign-in?done=password');
    },
    (problem) => welcome(visit, problem),
  );
}

function deadLink(visit: Visit): Answer {
  const message = 'It was used before, or is past its time. Ask whoever gave it to you for a new one.';
  const told = { status: 404, title: 'This link does not work any more', message };
  const main = errorPage({ ...told, link: { name: 'Go to the sign-in', href: '/sign-in' } });
  return page(visit, { status: 404, title: told.title, main });
}

type Shown = { email: string; next: string; problem: Problem | null };

function signInPage(visit: Visit, shown: Shown): Answer {
  const done = pages.DONE.get(visit.query.get('done') ?? '');
  const main = pages.signIn({ ...shown, formToken: visit.formToken, done });
  return page(visit, { title: 'Sign in', status: shown.problem?.status ?? 200, main });
}

function codePage(visit: Visit, shown?: { next: string; problem: Problem }): Answer {
  const next = shown?.next ?? safeNext(visit.query.get('next'));
  const main = pages.secondFactor({ next, formToken: visit.formToken, problem: shown?.problem ?? null });
  return page(visit, { title: 'Second factor', status: shown?.problem.status ?? 200, main });
}

function refused(message: string): Problem {
  return { status: 422, message, fields: {} };
}

function withNext(path: string, next: string): string {
  return `${path}?next=${encodeURIComponent(next)}`;
}
