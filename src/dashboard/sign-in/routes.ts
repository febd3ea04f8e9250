import { form, type PublicPage } from '../http/page-routes.ts';
import { requestLink, showForgottenPassword } from './forgotten-password.ts';
import { giveCode, showCode } from './second-factor.ts';
import { showSignIn, submitSignIn } from './sign-in.ts';
import { choosePassword, showWelcome } from './welcome.ts';

export const signInPages: readonly PublicPage[] = [
  { path: '/sign-in', get: showSignIn, post: form(['email', 'password', 'next'], submitSignIn) },
  { path: '/sign-in/second-factor', get: showCode, post: form(['code', 'next'], giveCode) },
  { path: '/forgotten-password', get: showForgottenPassword, post: form(['email'], requestLink) },
  { path: '/welcome/:token', get: showWelcome, post: form(['password'], choosePassword) },
];
