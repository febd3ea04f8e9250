import { form, type PublicPage } from '../http/page-routes.ts';
import { confirm, showConfirmation } from './confirm.ts';
import { requestLink, showForgottenPassword } from './forgotten-password.ts';
import { sendSignInOptions, submitPasskey } from './passkey.ts';
import { comeBack, showStart, startAtProvider } from './provider.ts';
import { giveCode, showCode } from './second-factor.ts';
import { PASSKEY_OPTIONS_URL, PASSKEY_URL, showSignIn, submitSignIn } from './sign-in.ts';
import { choosePassword, showWelcome, welcomeByProvider } from './welcome.ts';

const PROVIDER = '/single-sign-on/:organizationId';
const takesTurns = true;

export const signInPages: readonly PublicPage[] = [
  {
    path: '/sign-in',
    get: showSignIn,
    post: form(['email', 'password', 'next', 'step'], submitSignIn, { takesTurns }),
  },
  { path: PASSKEY_URL, post: form(['credential', 'next'], submitPasskey) },
  { path: PASSKEY_OPTIONS_URL, post: form([], sendSignInOptions) },
  { path: '/sign-in/second-factor', get: showCode, post: form(['code', 'next'], giveCode) },
  { path: '/forgotten-password', get: showForgottenPassword, post: form(['email'], requestLink) },
  { path: '/welcome/:token', get: showWelcome, post: form(['password'], choosePassword) },
  { path: '/welcome/:token/single-sign-on', get: showWelcome, post: form([], welcomeByProvider, { takesTurns }) },
  { path: `${PROVIDER}/start`, get: showStart, post: form(['email', 'next'], startAtProvider, { takesTurns }) },
  { path: `${PROVIDER}/callback`, get: comeBack, takesTurns },
  {
    path: `${PROVIDER}/confirm/:token`,
    get: showConfirmation,
    post: form(['password', 'code', 'credential'], confirm),
  },
];
