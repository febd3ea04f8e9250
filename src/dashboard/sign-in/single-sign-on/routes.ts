import { mayGovern } from '../../../domain/people/role.ts';
import {
  ALLOW_PASSWORDS_URL,
  CONNECTION_URL,
  domainsUrl,
  REMOVE_CONNECTION_URL,
  REQUIRE_URL,
  ROLES_URL,
  SIGN_IN_SETTINGS_URL,
} from '../../http/addresses.ts';
import { redirect } from '../../http/view.ts';
import { provenForm } from '../../proof/proven.ts';
import type { SignedInPage } from '../../routing/page-routes.ts';
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

const takesTurns = true;
/** The address of a form stays in the browser after a refusal. Opened anew, it leads to the page that contains the form. */
const get = () => redirect(SIGN_IN_SETTINGS_URL);

/** All forms change how people sign in, so they need a fresh proof. */
export const signInSettingsPages: readonly SignedInPage[] = [
  { path: SIGN_IN_SETTINGS_URL, mayEnter: mayGovern, get: (context) => settingsPage(context) },
  {
    path: CONNECTION_URL,
    mayEnter: mayGovern,
    get,
    post: provenForm('change the connection to your identity provider', CONNECTION_FORM, changeConnection, {
      takesTurns,
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
    post: provenForm('verify a domain', CHOSEN_DOMAIN_FORM, submitDomainCheck, { takesTurns }),
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
