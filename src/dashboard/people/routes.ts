import { maySeePeople } from '../../domain/people/role.ts';
import { INVITE_URL, PEOPLE_URL, USERS_URL, userKeysUrl, userUrl } from '../http/addresses.ts';
import { redirect } from '../http/view.ts';
import { withFreshUses } from '../keys/context.ts';
import { keyPages } from '../keys/routes.ts';
import { provenForm } from '../proof/proven.ts';
import { form, type SignedInPage } from '../routing/page-routes.ts';
import { sendLink } from './access-links.ts';
import {
  DEACTIVATE_FORM,
  deactivate,
  reactivate,
  removeSecondFactor,
  SET_ROLE_FORM,
  setRole,
  showDeactivation,
  showDemotion,
  showSecondFactorRemoval,
} from './change-user.ts';
import {
  EMAIL_FORM,
  INVITE_FORM,
  invite,
  setEmail,
  showEmail,
  showInvite,
  showWithdrawal,
  withdraw,
} from './invitations.ts';
import { LINK_FORM, showUser } from './user.ts';
import { SEARCH_FORM, searchUsers, showUsers } from './user-list.ts';
import { userNameOf as nameOf, userHead, userIdOf } from './user-parts.ts';

const ID = ':userId';

/** The pages of users. The services check the permission for each action. */
export const peoplePages: readonly SignedInPage[] = [
  { path: PEOPLE_URL, mayEnter: maySeePeople, get: () => redirect(USERS_URL) },
  { path: USERS_URL, mayEnter: maySeePeople, get: showUsers, post: form(SEARCH_FORM, searchUsers) },
  {
    path: INVITE_URL,
    mayEnter: maySeePeople,
    get: showInvite,
    post: provenForm('invite a user', INVITE_FORM, invite),
  },
  { path: userUrl(ID), mayEnter: maySeePeople, get: withFreshUses(showUser) },
  {
    path: userUrl(ID, 'role'),
    mayEnter: maySeePeople,
    get: showDemotion,
    post: provenForm('change the role of the user', SET_ROLE_FORM, setRole, { nameOf }),
  },
  {
    path: userUrl(ID, 'link'),
    mayEnter: maySeePeople,
    post: provenForm('make a link that sets the password of the user', LINK_FORM, sendLink, { nameOf }),
  },
  {
    path: userUrl(ID, 'deactivate'),
    mayEnter: maySeePeople,
    postsDuringMove: true,
    get: withFreshUses(showDeactivation),
    post: provenForm('deactivate the user', DEACTIVATE_FORM, deactivate, { nameOf }),
  },
  {
    path: userUrl(ID, 'email'),
    mayEnter: maySeePeople,
    get: showEmail,
    post: provenForm('correct the e-mail of the user', EMAIL_FORM, setEmail, { nameOf }),
  },
  {
    path: userUrl(ID, 'withdraw'),
    mayEnter: maySeePeople,
    get: showWithdrawal,
    post: provenForm('withdraw the invitation', {}, withdraw),
  },
  {
    path: userUrl(ID, 'reactivate'),
    mayEnter: maySeePeople,
    post: provenForm('reactivate the user', {}, reactivate, { nameOf }),
  },
  {
    path: userUrl(ID, 'second-factor'),
    mayEnter: maySeePeople,
    get: showSecondFactorRemoval,
    post: provenForm('remove the second factor and the passkeys of the user', {}, removeSecondFactor, { nameOf }),
  },
  ...keyPages({
    listPath: userKeysUrl(ID),
    mayEnter: maySeePeople,
    holderKind: 'person',
    locate: (context) => ({
      holderId: userIdOf(context),
      listUrl: userKeysUrl(userIdOf(context)),
      head: (user) => userHead({ user, current: 'api-keys', isSelf: user.id === context.actor.userId }),
    }),
  }),
];
