import { changePassword } from '../../service/change-password.ts';
import { recoveryCodesLeft } from '../../service/second-factor.ts';
import { type Answer, redirect } from '../http/answer.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { act, type Room } from '../http/room.ts';
import { sessionCookie } from '../http/session.ts';
import type { SignedIn } from '../http/visit.ts';
import { keyPages } from '../keys/routes.ts';
import { page } from '../markup/layout.ts';
import { leave } from '../sign-in/routes.ts';
import * as pages from './pages.ts';
import { secondFactorPages } from './second-factor.ts';

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
    ...secondFactorPages,
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
  const main = pages.password({ actor, formToken, problem });
  return page(visit, { title: 'Change password', status: problem?.status ?? 200, main });
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
