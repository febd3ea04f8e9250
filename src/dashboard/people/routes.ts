import { maySeePeople } from '../../domain/role.ts';
import { NEW_OWNER } from '../../service/integrations/hand-over.ts';
import { form, type Section } from '../http/page-routes.ts';
import { redirect } from '../http/view.ts';
import { keyPages } from '../keys/routes.ts';
import { provenForm } from '../proof/proven.ts';
import { sendLink } from './access-link.ts';
import { deactivate, reactivate, showDeactivation } from './deactivate.ts';
import { setEmail, showEmail, showWithdrawal, withdraw } from './invitation.ts';
import { invite, showInvite } from './invite.ts';
import { setRole, showDemotion } from './role.ts';
import { removeSecondFactor, showSecondFactorRemoval } from './second-factor.ts';
import { unlink } from './unlink.ts';
import { showUser } from './user.ts';
import { userNameOf as nameOf, userHead, userIdOf, userKeysUrl } from './user-head.ts';
import { searchUsers, showUsers } from './user-list.ts';

const ONE = '/people/users/:userId';

/** For managers and administrators. The services decide again for each action. */
export const peopleSection: Section = {
  mayEnter: maySeePeople,
  pages: [
    { path: '/people', get: () => redirect('/people/users') },
    { path: '/people/users', get: showUsers, post: form(['search', 'state'], searchUsers) },
    {
      path: '/people/users/invite',
      get: showInvite,
      post: provenForm('invite a user', ['name', 'email', 'role', 'form_id'], invite),
    },
    { path: ONE, get: showUser },
    {
      path: `${ONE}/role`,
      get: showDemotion,
      post: provenForm('change the role of the user', ['role', NEW_OWNER], setRole, { nameOf }),
    },
    {
      path: `${ONE}/link`,
      post: provenForm('make a link that sets the password of the user', ['kind', 'form_id'], sendLink, { nameOf }),
    },
    {
      path: `${ONE}/deactivate`,
      postsDuringMove: true,
      get: showDeactivation,
      post: provenForm('deactivate the user', [NEW_OWNER], deactivate, { nameOf }),
    },
    {
      path: `${ONE}/email`,
      get: showEmail,
      post: provenForm('correct the e-mail of the user', ['email', 'form_id'], setEmail, { nameOf }),
    },
    {
      path: `${ONE}/withdraw`,
      get: showWithdrawal,
      post: provenForm('withdraw the invitation', [], withdraw),
    },
    { path: `${ONE}/unlink`, post: provenForm('unlink the user', [], unlink, { nameOf }) },
    { path: `${ONE}/reactivate`, post: provenForm('reactivate the user', [], reactivate, { nameOf }) },
    {
      path: `${ONE}/second-factor`,
      get: showSecondFactorRemoval,
      post: provenForm('remove the second factor and the passkeys of the user', [], removeSecondFactor, { nameOf }),
    },
    ...keyPages({
      root: ONE,
      isOfIntegrations: false,
      locate: (context) => ({
        holderId: userIdOf(context),
        listUrl: userKeysUrl(userIdOf(context)),
        head: (user) => userHead({ user, current: 'api-keys', isSelf: user.id === context.actor.userId }),
      }),
    }),
  ],
};
