import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
} from '../../service/second-factor.ts';
import { type Answer, redirect } from '../http/answer.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { act, type Room } from '../http/room.ts';
import { newOnceId, once } from '../http/send-once.ts';
import { formTokenOf, sessionCookie } from '../http/session.ts';
import type { SignedIn } from '../http/visit.ts';
import type { Html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import * as pages from './second-factor-pages.ts';

const RECOVERY_CODES = '/profile/second-factor/recovery-codes';

/** One's own second factor. */
export const secondFactorPages: Room['pages'] = [
  { path: '/profile/second-factor', show: async (visit) => factorPage(visit, null), act: act(['password'], begin) },
  { path: '/profile/second-factor/confirm', act: act(['code'], confirm) },
  { path: '/profile/second-factor/remove', act: act(['password'], remove) },
  { path: RECOVERY_CODES, show: async (visit) => renewPage(visit, null), act: act(['password', 'once'], renew) },
];

function factorPage(visit: SignedIn, problem: Problem | null): Answer {
  const { actor, formToken } = visit;
  return shown(visit, 'Second factor', problem, pages.secondFactor({ actor, formToken, problem }));
}

async function begin(visit: SignedIn, form: Form<'password'>): Promise<Answer> {
  return orAgain(
    async () => {
      const begun = await beginSecondFactor(visit.dashboard.db, visit.actor, { password: form.text('password') });
      const main = pages.confirmFactor({ formToken: visit.formToken, problem: null, begun });
      return shown(visit, 'Set up a second factor', null, main);
    },
    async (problem) => factorPage(visit, problem),
  );
}

async function confirm(visit: SignedIn, form: Form<'code'>): Promise<Answer> {
  const { actor, formToken, dashboard, now } = visit;
  const request = { code: form.text('code'), token: visit.token, now };
  return orAgain(
    async () => {
      const { recoveryCodes, token } = await confirmSecondFactor(dashboard.db, actor, request);
      // The forms of this page must fit the session that goes on.
      const going = { ...visit, token, formToken: formTokenOf(token) };
      const answer = codesPage(going, 'Your second factor is on', recoveryCodes);
      return { ...answer, cookies: [sessionCookie(token, dashboard.isSecure)] };
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

function renewPage(visit: SignedIn, problem: Problem | null): Answer {
  const { formToken } = visit;
  if (!visit.actor.hasSecondFactor) return redirect('/profile/second-factor');
  const frame = { formToken, problem, action: RECOVERY_CODES, onceId: newOnceId(visit) };
  return shown(visit, 'New recovery codes', problem, pages.renewCodes(frame));
}

async function renew(visit: SignedIn, form: Form<'password' | 'once'>): Promise<Answer> {
  const sent = {
    onceId: form.text('once'),
    made: 'recovery-codes',
    link: { name: 'My profile', href: '/profile' },
  } as const;
  return orAgain(
    () =>
      // Sent again, by reloading what it showed, it would void the codes that were just copied.
      once(visit, sent, async (formId) => {
        const request = { password: form.text('password'), formId };
        const { recoveryCodes } = await renewRecoveryCodes(visit.dashboard.db, visit.actor, request);
        return codesPage(visit, 'Your new recovery codes', recoveryCodes);
      }),
    async (problem) => renewPage(visit, problem),
  );
}

function codesPage(visit: SignedIn, title: string, codes: readonly string[]): Answer {
  return shown(visit, title, null, pages.recoveryCodes({ title, codes }));
}

function shown(visit: SignedIn, title: string, problem: Problem | null, main: Html): Answer {
  return page(visit, { title, status: problem?.status ?? 200, main });
}
