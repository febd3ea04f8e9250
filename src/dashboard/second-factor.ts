import { beginSecondFactor, confirmSecondFactor, removeSecondFactor } from '../service/second-factor.ts';
import { type Answer, redirect } from './answer.ts';
import { orAgain, type Problem } from './errors.ts';
import type { Form } from './forms.ts';
import type { Html } from './html.ts';
import { page } from './layout.ts';
import * as pages from './pages/second-factor.ts';
import { act, type Room } from './room.ts';
import type { SignedIn } from './visit.ts';

/** One's own second factor. */
export const secondFactorPages: Room['pages'] = [
  { path: '/profile/second-factor', show: async (visit) => factorPage(visit, null), act: act([], begin) },
  { path: '/profile/second-factor/confirm', act: act(['code'], confirm) },
  { path: '/profile/second-factor/remove', act: act(['password'], remove) },
];

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
