import {
  FORGOTTEN_PASSWORD_URL,
  SIGN_IN_CODE_URL,
  SIGN_IN_PASSKEY_OPTIONS_URL,
  SIGN_IN_PASSKEY_URL,
  SIGN_IN_URL,
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

const TOKEN = ':token';
const callsInTurn = true;

export const signInPages: readonly PublicPage[] = [
  {
    path: SIGN_IN_URL,
    get: showSignIn,
    post: form(SIGN_IN_FORM, submitSignIn, { callsInTurn }),
  },
  { path: SIGN_IN_PASSKEY_URL, post: form(PASSKEY_FORM, submitPasskey) },
  { path: SIGN_IN_PASSKEY_OPTIONS_URL, post: form({}, sendSignInOptions) },
  { path: SIGN_IN_CODE_URL, get: showCode, post: form(CODE_FORM, giveCode) },
  { path: FORGOTTEN_PASSWORD_URL, get: showForgottenPassword, post: form(FORGOTTEN_FORM, requestLink) },
  { path: welcomeUrl(TOKEN), get: showWelcome, post: form(WELCOME_FORM, choosePassword) },
];
