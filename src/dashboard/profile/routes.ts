import { changePassword } from '../../service/change-password.ts';
import { recoveryCodesLeft } from '../../service/second-factor.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { act, type Room } from '../http/room.ts';
import { sessionCookie } from '../http/session.ts';
import { redirect, type View } from '../http/view.ts';
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
      show: async (context) => passwordPage(context, null),
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

async function showProfile(context: SignedInContext): Promise<View> {
  const { actor, dashboard } = context;
  const codesLeft = actor.hasSecondFactor ? await recoveryCodesLeft(dashboard.db, actor) : 0;
  const done = pages.DONE.get(context.query.get('done') ?? '');
  return page(context, { title: 'My profile', main: pages.profile({ actor, codesLeft, done }) });
}

function passwordPage(context: SignedInContext, problem: Problem | null): View {
  const { actor, formToken } = context;
  const main = pages.password({ actor, formToken, problem });
  return page(context, { title: 'Change password', status: problem?.status ?? 200, main });
}

async function newPassword(context: SignedInContext, form: Form<'current_password' | 'password'>): Promise<View> {
  const { db, isSecure } = context.dashboard;
  const request = { currentPassword: form.text('current_password'), password: form.text('password'), now: context.now };
  return orAgain(
    async () => {
      const { token } = await changePassword(db, context.actor, request);
      return redirect('/profile?done=password', { cookies: [sessionCookie(token, isSecure)] });
    },
    async (problem) => passwordPage(context, problem),
  );
}
