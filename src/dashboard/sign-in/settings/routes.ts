import { mayGovern } from '../../../domain/role.ts';
import { form, type Section } from '../../http/page-routes.ts';
import { SIGN_IN_SETTINGS_URL } from '../../organization/head.ts';
import {
  add,
  allowPasswords,
  changeConnection,
  changeRoles,
  check,
  remove,
  removeOne,
  requireIt,
  showRemoval,
} from './changes.ts';
import { CONNECTION_URL } from './connection-section.ts';
import { DOMAINS_URL } from './domains-section.ts';
import { settingsPage } from './page.ts';
import { ALLOW_PASSWORDS_URL, REQUIRE_URL } from './requirement-section.ts';
import { ROLES_URL } from './roles-section.ts';

const takesTurns = true;

/** For administrators. */
export const signInSettingsSection: Section = {
  mayEnter: mayGovern,
  pages: [
    { path: SIGN_IN_SETTINGS_URL, get: (context) => settingsPage(context) },
    {
      path: CONNECTION_URL,
      post: form(['issuer', 'client_id', 'client_secret', 'act'], changeConnection, { takesTurns }),
    },
    { path: `${CONNECTION_URL}/remove`, get: showRemoval, post: form([], remove) },
    { path: DOMAINS_URL, post: form(['domain'], add) },
    { path: `${DOMAINS_URL}/check`, post: form(['domain'], check, { takesTurns }) },
    { path: `${DOMAINS_URL}/remove`, post: form(['domain'], removeOne) },
    { path: ROLES_URL, post: form(['new_people', 'groups_claim', 'group_roles'], changeRoles) },
    { path: REQUIRE_URL, post: form(['break_glass'], requireIt) },
    { path: ALLOW_PASSWORDS_URL, post: form([], allowPasswords) },
  ],
};
