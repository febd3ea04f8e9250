import {
  confirmationUrl,
  FORGOTTEN_PASSWORD_URL,
  SIGN_IN_CODE_URL,
  SIGN_IN_PASSKEY_OPTIONS_URL,
  SIGN_IN_PASSKEY_URL,
  SIGN_IN_URL,
  singleSignOnUrl,
  welcomeUrl,
} from '../http/addresses.ts';
import { form, type PublicPage } from '../routing/page-routes.ts';
import {
  choosePassword,
  FORGOTTEN_FORM,
  requestLink,
  showForgottenPassword,
  showWelcome,
  WELCOME_FORM,
  welcomeByProvider,
} from './access-links.ts';
import {
  CODE_FORM,
  giveCode,
  PASSKEY_FORM,
  SIGN_IN_FORM,
  sendSignInOptions,
  showCode,
  showSignIn,
  submitPasskey,
  submitSignIn,
} from './sign-in.ts';
import { CONFIRM_FORM, confirm, showConfirmation } from './single-sign-on/confirm.ts';
import { comeBack, START_FORM, showStart, startAtProvider } from './single-sign-on/provider.ts';

const ORGANIZATION = ':organizationId';
const TOKEN = ':token';
const takesTurns = true;

export const signInPages: readonly PublicPage[] = [
  {
    path: SIGN_IN_URL,
    get: showSignIn,
    post: form(SIGN_IN_FORM, submitSignIn, { takesTurns }),
  },
  { path: SIGN_IN_PASSKEY_URL, post: form(PASSKEY_FORM, submitPasskey) },
  { path: SIGN_IN_PASSKEY_OPTIONS_URL, post: form({}, sendSignInOptions) },
  { path: SIGN_IN_CODE_URL, get: showCode, post: form(CODE_FORM, giveCode) },
  { path: FORGOTTEN_PASSWORD_URL, get: showForgottenPassword, post: form(FORGOTTEN_FORM, requestLink) },
  { path: welcomeUrl(TOKEN), get: showWelcome, post: form(WELCOME_FORM, choosePassword) },
  { path: welcomeUrl(TOKEN, 'single-sign-on'), get: showWelcome, post: form({}, welcomeByProvider, { takesTurns }) },
  {
    path: singleSignOnUrl(ORGANIZATION, 'start'),
    get: showStart,
    post: form(START_FORM, startAtProvider, { takesTurns }),
  },
  { path: singleSignOnUrl(ORGANIZATION, 'callback'), get: comeBack, takesTurns },
  {
    path: confirmationUrl(ORGANIZATION, TOKEN),
    get: showConfirmation,
    post: form(CONFIRM_FORM, confirm),
  },
];
