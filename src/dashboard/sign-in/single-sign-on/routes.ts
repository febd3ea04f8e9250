import { mayGovern, maySeePeople } from '../../../domain/people/role.ts';
import {
  ALLOW_PASSWORDS_URL,
  CONNECTION_URL,
  confirmationUrl,
  domainsUrl,
  PROVIDER_PROOF_URL,
  REMOVE_CONNECTION_URL,
  REQUIRE_URL,
  ROLES_URL,
  SIGN_IN_SETTINGS_URL,
  singleSignOnUrl,
  userUrl,
  welcomeUrl,
} from '../../http/addresses.ts';
import { redirect } from '../../http/view.ts';
import { userNameOf as nameOf } from '../../people/user-parts.ts';
import { PROVIDER_PROOF_FORM } from '../../proof/page.ts';
import { MAX_PROVEN, provenForm } from '../../proof/proven.ts';
import { anyRole, form, type PublicPage, type SignedInPage } from '../../routing/page-routes.ts';
import { showWelcome } from '../access-links.ts';
import { CONFIRM_FORM, confirm, showConfirmation, unlink } from './confirm.ts';
import { comeBack, proveAtProvider, START_FORM, showStart, startAtProvider, welcomeByProvider } from './provider.ts';
import {
  allowPasswords,
  CHOSEN_DOMAIN_FORM,
  CONNECTION_FORM,
  changeConnection,
  changeRoles,
  DOMAIN_FORM,
  REQUIRE_FORM,
  ROLES_FORM,
  settingsPage,
  showConnectionRemoval,
  submitConnectionRemoval,
  submitDomain,
  submitDomainCheck,
  submitDomainRemoval,
  submitRequirement,
} from './settings.ts';

const ORGANIZATION = ':organizationId';
const TOKEN = ':token';
const callsInTurn = true;

export const publicPages: readonly PublicPage[] = [
  { path: welcomeUrl(TOKEN, 'single-sign-on'), get: showWelcome, post: form({}, welcomeByProvider, { callsInTurn }) },
  {
    path: singleSignOnUrl(ORGANIZATION, 'start'),
    get: showStart,
    post: form(START_FORM, startAtProvider, { callsInTurn }),
  },
  { path: singleSignOnUrl(ORGANIZATION, 'callback'), get: comeBack, callsInTurn },
  { path: confirmationUrl(ORGANIZATION, TOKEN), get: showConfirmation, post: form(CONFIRM_FORM, confirm) },
];

/**
 * Redirects to the page with the form. After a refusal, the browser shows the URL to which the form was sent, and people may open
 * that URL again.
 */
const get = () => redirect(SIGN_IN_SETTINGS_URL);

/**
 * The pages for people who are signed in. All forms except that for the proof change how people sign in, so they need a fresh
 * proof.
 */
export const signedInPages: readonly SignedInPage[] = [
  {
    path: PROVIDER_PROOF_URL,
    mayEnter: anyRole,
    post: form(PROVIDER_PROOF_FORM, proveAtProvider, { callsInTurn, size: MAX_PROVEN }),
  },
  {
    path: userUrl(':userId', 'unlink'),
    mayEnter: maySeePeople,
    post: provenForm('unlink the user', {}, unlink, { nameOf }),
  },
  { path: SIGN_IN_SETTINGS_URL, mayEnter: mayGovern, get: (context) => settingsPage(context) },
  {
    path: CONNECTION_URL,
    mayEnter: mayGovern,
    get,
    post: provenForm('change the connection to your identity provider', CONNECTION_FORM, changeConnection, {
      callsInTurn,
    }),
  },
  {
    path: REMOVE_CONNECTION_URL,
    mayEnter: mayGovern,
    get: showConnectionRemoval,
    post: provenForm('remove the connection to your identity provider', {}, submitConnectionRemoval),
  },
  { path: domainsUrl(), mayEnter: mayGovern, get, post: provenForm('add a domain', DOMAIN_FORM, submitDomain) },
  {
    path: domainsUrl('check'),
    mayEnter: mayGovern,
    get,
    post: provenForm('verify a domain', CHOSEN_DOMAIN_FORM, submitDomainCheck, { callsInTurn }),
  },
  {
    path: domainsUrl('remove'),
    mayEnter: mayGovern,
    get,
    post: provenForm('remove a domain', CHOSEN_DOMAIN_FORM, submitDomainRemoval),
  },
  {
    path: ROLES_URL,
    mayEnter: mayGovern,
    get,
    post: provenForm('change the roles by single sign-on', ROLES_FORM, changeRoles),
  },
  {
    path: REQUIRE_URL,
    mayEnter: mayGovern,
    get,
    post: provenForm('require single sign-on', REQUIRE_FORM, submitRequirement),
  },
  {
    path: ALLOW_PASSWORDS_URL,
    mayEnter: mayGovern,
    get,
    post: provenForm('let people sign in with passwords', {}, allowPasswords),
  },
];
