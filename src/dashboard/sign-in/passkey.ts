import { optionsForSignIn, signInWithPasskey } from '../../service/passkeys/sign-in.ts';
import type { Form } from '../http/forms.ts';
import { formProblem, problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { sendOptions } from '../passkeys/options.ts';
import { askedBy, relyingPartyOf } from '../passkeys/relying-party.ts';
import { tellBreakGlass } from './break-glass.ts';
import { safeNext } from './next.ts';
import { requiredPage } from './refusal-pages.ts';
import { signInPage } from './sign-in.ts';
import { startInBrowser } from './start-in-browser.ts';

export async function sendSignInOptions(context: RequestContext): Promise<View> {
  return sendOptions(context, (asking) => optionsForSignIn(context.dashboard.db, asking));
}

export async function submitPasskey(context: RequestContext, form: Form<'credential' | 'next'>): Promise<View> {
  const { dashboard, auditSource, now } = context;
  const site = relyingPartyOf(context);
  if (site.kind === 'none') throw new RequestError('not-found');
  const next = safeNext(form.text('next'));
  const { relyingParty } = site;
  const given = { credential: form.text('credential'), relyingParty, browser: askedBy(context), auditSource, now };
  const result = await signInWithPasskey(dashboard.db, given);
  switch (result.kind) {
    case 'signed-in':
      tellBreakGlass(context, result, 'passkey');
      return startInBrowser(context, { token: result.token, next });
    case 'single-sign-on-required':
      return requiredPage(context, result, next);
    case 'wrong':
      return signInPage(context, { email: '', next, problem: formProblem(WRONG), step: 'both' });
    case 'rate-limited':
      return signInPage(context, { email: '', next, problem: problemOf(result), step: 'both' });
  }
}

const WRONG = 'The passkey was not accepted. Try again, or sign in with your e-mail and your password.';
