import { openLink, setPassword } from '../../service/access-links.ts';
import { requestReset } from '../../service/request-reset.ts';
import { giveSecondFactor, signIn, signOut } from '../../service/sign-in.ts';
import { orAgain, type Problem, rateLimited } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import type { RequestContext } from '../http/request-context.ts';
import { act, type OpenPage, signedIn } from '../http/room.ts';
import { endedSessionCookie, safeNext, sessionCookie } from '../http/session.ts';
import { redirect, type View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import * as pages from './pages.ts';

export const signInPages: readonly OpenPage[] = [
  { path: '/sign-in', show: showSignIn, act: act(['email', 'password', 'next'], enter) },
  { path: '/sign-in/second-factor', show: async (context) => codePage(context), act: act(['code', 'next'], giveCode) },
  {
    path: '/forgotten-password',
    show: async (context) => forgottenPage(context, { email: '', problem: null }),
    act: act(['email'], askReset),
  },
  { path: '/welcome/:token', show: (context) => welcome(context, null), act: act(['password'], choosePassword) },
];

/** Apart, because its form carries the session's token. */
export async function leave(context: RequestContext & { token: string }): Promise<View> {
  const { dashboard, token, trace } = context;
  await signOut(dashboard.db, token, trace);
  return redirect('/sign-in?done=signed-out', { cookies: [endedSessionCookie(dashboard.isSecure)] });
}

async function showSignIn(context: RequestContext): Promise<View> {
  const next = safeNext(context.query.get('next'));
  if ((await signedIn(context)) !== null) return redirect(next);
  return signInPage(context, { email: '', next, problem: null });
}

async function enter(context: RequestContext, form: Form<'email' | 'password' | 'next'>): Promise<View> {
  const { dashboard, trace } = context;
  const { db, isSecure } = dashboard;
  const next = safeNext(form.text('next'));
  const email = form.text('email');
  const result = await signIn(db, { email, password: form.text('password'), trace, now: context.now });
  switch (result.kind) {
    case 'signed-in':
      return redirect(next, { cookies: [sessionCookie(result.token, isSecure)] });
    case 'second-factor':
      return redirect(withNext('/sign-in/second-factor', next), { cookies: [sessionCookie(result.token, isSecure)] });
    case 'new-password':
      return redirect(`/welcome/${result.token}?why=length`);
    case 'refused':
      return signInPage(context, { email, next, problem: refused('The e-mail or the password is not right.') });
    case 'rate-limited':
      return rateLimited(result, (problem) => signInPage(context, { email, next, problem }));
  }
}

async function giveCode(context: RequestContext, form: Form<'code' | 'next'>): Promise<View> {
  const { dashboard, trace, token } = context;
  const next = safeNext(form.text('next'));
  const result = await giveSecondFactor(dashboard.db, {
    token: token ?? '',
    code: form.text('code'),
    trace,
    now: context.now,
  });
  switch (result.kind) {
    case 'signed-in':
      return redirect(next, { cookies: [sessionCookie(result.token, dashboard.isSecure)] });
    case 'ended':
      return redirect('/sign-in?done=ended', { cookies: [endedSessionCookie(dashboard.isSecure)] });
    case 'refused':
      return codePage(context, { next, problem: refused('The code is not right, or was used already.') });
    case 'rate-limited':
      return rateLimited(result, (problem) => codePage(context, { next, problem }));
  }
}

async function askReset(context: RequestContext, form: Form<'email'>): Promise<View> {
  const { db, outbox, publicUrl } = context.dashboard;
  const email = form.text('email');
  return orAgain(
    async () => {
      // The address in a mail is the configured one: the request's Host is whatever its sender made it.
      if (publicUrl !== undefined && outbox.canSend)
        await requestReset(db, { email, trace: context.trace, now: context.now }, { outbox, publicUrl });
      return page(context, { title: 'Look into your mail', main: pages.askedReset() });
    },
    async (problem) => forgottenPage(context, { email, problem }),
  );
}

function forgottenPage(context: RequestContext, shown: { email: string; problem: Problem | null }): View {
  const { outbox, publicUrl } = context.dashboard;
  const canMail = publicUrl !== undefined && outbox.canSend;
  const main = pages.forgotten({ formToken: context.formToken, canMail, ...shown });
  return page(context, { title: 'Forgotten password', status: shown.problem?.status ?? 200, main });
}

async function welcome(context: RequestContext, problem: Problem | null): Promise<View> {
  const token = context.params['token'] ?? '';
  const link = await openLink(context.dashboard.db, token, context.now);
  if (link === null) return deadLink(context);
  const isTooShort = context.query.get('why') === 'length';
  const frame = { link, action: `/welcome/${token}`, formToken: context.formToken, problem };
  const main = pages.choosePassword({ ...frame, isTooShort });
  return page(context, { title: 'Choose your password', status: problem?.status ?? 200, main });
}

async function choosePassword(context: RequestContext, form: Form<'password'>): Promise<View> {
  const token = context.params['token'] ?? '';
  const { dashboard, trace } = context;
  return orAgain(
    async () => {
      if ((await openLink(dashboard.db, token, context.now)) === null) return deadLink(context);
      await setPassword(dashboard.db, { token, password: form.text('password'), trace, now: context.now });
      return redirect('/sign-in?done=password');
    },
    (problem) => welcome(context, problem),
  );
}

function deadLink(context: RequestContext): View {
  const message = 'It was used before, or is past its time. Ask whoever gave it to you for a new one.';
  const told = { status: 404, title: 'This link does not work any more', message };
  const main = errorPage({ ...told, link: { name: 'Go to the sign-in', href: '/sign-in' } });
  return page(context, { status: 404, title: told.title, main });
}

type Shown = { email: string; next: string; problem: Problem | null };

function signInPage(context: RequestContext, shown: Shown): View {
  const done = pages.DONE.get(context.query.get('done') ?? '');
  const main = pages.signIn({ ...shown, formToken: context.formToken, done });
  return page(context, { title: 'Sign in', status: shown.problem?.status ?? 200, main });
}

function codePage(context: RequestContext, shown?: { next: string; problem: Problem }): View {
  const next = shown?.next ?? safeNext(context.query.get('next'));
  const main = pages.secondFactor({ next, formToken: context.formToken, problem: shown?.problem ?? null });
  return page(context, { title: 'Second factor', status: shown?.problem.status ?? 200, main });
}

function refused(message: string): Problem {
  return { status: 422, message, fields: {} };
}

function withNext(path: string, next: string): string {
  return `${path}?next=${encodeURIComponent(next)}`;
}
