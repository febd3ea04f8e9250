import {
  confirmationUrl,
  FORGOTTEN_PASSWORD_URL,
  SIGN_IN_CODE_URL,
  SIGN_IN_PASSKEY_OPTIONS_URL,
  SIGN_IN_PASSKEY_URL,
  SIGN_IN_URL,
  singleSignOnUrl,
  welcomeUrl,
} from '../addresses.ts';
import { form, type PublicPage } from '../http/page-routes.ts';
import { choosePassword, requestLink, showForgottenPassword, showWelcome, welcomeByProvider } from './access-links.ts';
import { giveCode, sendSignInOptions, showCode, showSignIn, submitPasskey, submitSignIn } from './sign-in.ts';
import { confirm, showConfirmation } from './single-sign-on/confirm.ts';
import { comeBack, showStart, startAtProvider } from './single-sign-on/provider.ts';

const ORGANIZATION = ':organizationId';
const TOKEN = ':token';
const takesTurns = true;

export const signInPages: readonly PublicPage[] = [
  {
    path: SIGN_IN_URL,
    get: showSignIn,
    post: form(['email', 'password', 'next', 'step'], submitSignIn, { takesTurns }),
  },
  { path: SIGN_IN_PASSKEY_URL, post: form(['credential', 'next'], submitPasskey) },
  { path: SIGN_IN_PASSKEY_OPTIONS_URL, post: form([], sendSignInOptions) },
  { path: SIGN_IN_CODE_URL, get: showCode, post: form(['code', 'next'], giveCode) },
  { path: FORGOTTEN_PASSWORD_URL, get: showForgottenPassword, post: form(['email'], requestLink) },
  { path: welcomeUrl(TOKEN), get: showWelcome, post: form(['password'], choosePassword) },
  { path: welcomeUrl(TOKEN, 'single-sign-on'), get: showWelcome, post: form([], welcomeByProvider, { takesTurns }) },
  {
    path: singleSignOnUrl(ORGANIZATION, 'start'),
    get: showStart,
    post: form(['email', 'next'], startAtProvider, { takesTurns }),
  },
  { path: singleSignOnUrl(ORGANIZATION, 'callback'), get: comeBack, takesTurns },
  {
    path: confirmationUrl(ORGANIZATION, TOKEN),
    get: showConfirmation,
    post: form(['password', 'code', 'credential'], confirm),
  },
];
