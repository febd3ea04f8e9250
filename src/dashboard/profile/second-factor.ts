import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
} from '../../service/second-factor.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { act, type Room } from '../http/room.ts';
import { newOnceId, once } from '../http/send-once.ts';
import { formTokenOf, sessionCookie } from '../http/session.ts';
import { redirect, type View } from '../http/view.ts';
import type { Html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import * as pages from './second-factor-pages.ts';

const RECOVERY_CODES = '/profile/second-factor/recovery-codes';

/** One's own second factor. */
export const secondFactorPages: Room['pages'] = [
  { path: '/profile/second-factor', show: async (context) => factorPage(context, null), act: act(['password'], begin) },
  { path: '/profile/second-factor/confirm', act: act(['code'], confirm) },
  { path: '/profile/second-factor/remove', act: act(['password'], remove) },
  { path: RECOVERY_CODES, show: async (context) => renewPage(context, null), act: act(['password', 'once'], renew) },
];

function factorPage(context: SignedInContext, problem: Problem | null): View {
  const { actor, formToken } = context;
  return shown(context, 'Second factor', problem, pages.secondFactor({ actor, formToken, problem }));
}

async function begin(context: SignedInContext, form: Form<'password'>): Promise<View> {
  return orAgain(
    async () => {
      const begun = await beginSecondFactor(context.dashboard.db, context.actor, { password: form.text('password') });
      const main = pages.confirmFactor({ formToken: context.formToken, problem: null, begun });
      return shown(context, 'Set up a second factor', null, main);
    },
    async (problem) => factorPage(context, problem),
  );
}

async function confirm(context: SignedInContext, form: Form<'code'>): Promise<View> {
  const { actor, formToken, dashboard, now } = context;
  const request = { code: form.text('code'), token: context.token, now };
  return orAgain(
    async () => {
      const { recoveryCodes, token } = await confirmSecondFactor(dashboard.db, actor, request);
      // The forms of this page must fit the session that goes on.
      const going = { ...context, token, formToken: formTokenOf(token) };
      const answer = codesPage(going, 'Your second factor is on', recoveryCodes);
      return { ...answer, cookies: [sessionCookie(token, dashboard.isSecure)] };
    },
    async (problem) =>
      shown(context, 'Set up a second factor', problem, pages.confirmFactor({ formToken, problem, begun: null })),
  );
}

async function remove(context: SignedInContext, form: Form<'password'>): Promise<View> {
  return orAgain(
    async () => {
      await removeSecondFactor(context.dashboard.db, context.actor, { password: form.text('password') });
      return redirect('/profile?done=factor-off');
    },
    async (problem) => factorPage(context, problem),
  );
}

function renewPage(context: SignedInContext, problem: Problem | null): View {
  const { formToken } = context;
  if (!context.actor.hasSecondFactor) return redirect('/profile/second-factor');
  const frame = { formToken, problem, action: RECOVERY_CODES, onceId: newOnceId(context) };
  return shown(context, 'New recovery codes', problem, pages.renewCodes(frame));
}

async function renew(context: SignedInContext, form: Form<'password' | 'once'>): Promise<View> {
  const sent = {
    onceId: form.text('once'),
    made: 'recovery-codes',
    link: { name: 'My profile', href: '/profile' },
  } as const;
  return orAgain(
    () =>
      // Sent again, by reloading what it showed, it would void the codes that were just copied.
      once(context, sent, async (formId) => {
        const request = { password: form.text('password'), formId };
        const { recoveryCodes } = await renewRecoveryCodes(context.dashboard.db, context.actor, request);
        return codesPage(context, 'Your new recovery codes', recoveryCodes);
      }),
    async (problem) => renewPage(context, problem),
  );
}

function codesPage(context: SignedInContext, title: string, codes: readonly string[]): View {
  return shown(context, title, null, pages.recoveryCodes({ title, codes }));
}

function shown(context: SignedInContext, title: string, problem: Problem | null, main: Html): View {
  return page(context, { title, status: problem?.status ?? 200, main });
}
