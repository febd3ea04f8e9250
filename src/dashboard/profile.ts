import { changePassword } from '../service/change-password.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  recoveryCodesLeft,
  removeSecondFactor,
} from '../service/second-factor.ts';
import { type Answer, redirect } from './answer.ts';
import { orAgain, type Problem } from './errors.ts';
import type { Form } from './forms.ts';
import type { Html } from './html.ts';
import { keyPages } from './keys.ts';
import { page } from './layout.ts';
import * as pages from './pages/profile.ts';
import { act, type Room } from './room.ts';
import { sessionCookie } from './session.ts';
import { leave } from './sign-in.ts';
import type { SignedIn } from './visit.ts';

/** What everybody has: themselves. */
export const profileRoom: Room = {
  pages: [
    { path: '/sign-out', act: act([], leave) },
    { path: '/profile', show: showProfile },
    {
      path: '/profile/password',
      show: async (visit) => passwordPage(visit, null),
      act: act(['current_password', 'password'], newPassword),
    },
    {
      path: '/profile/second-factor',
      show: async (visit) => factorPage(visit, null),
      act: act([], begin),
    },
    { path: '/profile/second-factor/confirm', act: act(['code'], confirm) },
    { path: '/profile/second-factor/remove', act: act(['password'], remove) },
    ...keyPages({
      root: '/profile',
      holderId: ({ actor }) => actor.userId,
      base: () => '/profile/api-keys',
      head: () => pages.profileHead('api-keys'),
    }),
  ],
};

async function showProfile(visit: SignedIn): Promise<Answer> {
  const { actor, dashboard } = visit;
  const codesLeft = actor.hasSecondFactor ? await recoveryCodesLeft(dashboard.db, actor) : 0;
  const done = pages.DONE.get(visit.query.get('done') ?? '');
  return page(visit, { title: 'My profile', main: pages.profile({ actor, codesLeft, done }) });
}

function passwordPage(visit: SignedIn, problem: Problem | null): Answer {
  const { actor, formToken } = visit;
  return shown(visit, 'Change password', problem, pages.password({ actor, formToken, problem }));
}

async function newPassword(visit: SignedIn, form: Form<'current_password' | 'password'>): Promise<Answer> {
  const { db, isSecure } = visit.dashboard;
  const request = { currentPassword: form.text('current_password'), password: form.text('password'), now: visit.now };
  return orAgain(
    async () => {
      const { token } = await changePassword(db, visit.actor, request);
      return redirect('/profile?done=password', { cookies: [sessionCookie(token, isSecure)] });
    },
    async (problem) => passwordPage(visit, problem),
  );
}

function factorPage(visit: SignedIn, problem: Problem | null): Answer {
  const { actor, formToken } = visit;
  return shown(visit, 'Second factor', problem, pages.secondFactor({ actor, formToken, problem }));
}

async function begin(visit: SignedIn): Promise<Answer> {
  return orAgain(
    async () => {
      const begun = await beginSecondFactor(visit.dashboard.db, visit.actor);
      const main = pages.confirmFactor({ formToken: visit.formToken, problem: null, begun });
      return shown(visit, 'Set up a second factor', null, main);
    },
    async (problem) => factorPage(visit, problem),
  );
}

async function confirm(visit: SignedIn, form: Form<'code'>): Promise<Answer> {
  const { actor, formToken } = visit;
  return orAgain(
    async () => {
      const { recoveryCodes } = await confirmSecondFactor(visit.dashboard.db, actor, {
        code: form.text('code'),
        now: visit.now,
      });
      return shown(visit, 'Recovery codes', null, pages.recoveryCodes(recoveryCodes));
    },
    async (problem) =>
      shown(visit, 'Set up a second factor', problem, pages.confirmFactor({ formToken, problem, begun: null })),
  );
}

async function remove(visit: SignedIn, form: Form<'password'>): Promise<Answer> {
  return orAgain(
    async () => {
      await removeSecondFactor(visit.dashboard.db, visit.actor, { password: form.text('password') });
      return redirect('/profile?done=factor-off');
    },
    async (problem) => factorPage(visit, problem),
  );
}

function shown(visit: SignedIn, title: string, problem: Problem | null, main: Html): Answer {
  return page(visit, { title, status: problem?.status ?? 200, main });
}
