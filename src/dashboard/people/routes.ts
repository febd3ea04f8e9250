import { maySeePeople } from '../../domain/role.ts';
import { NEW_OWNER } from '../../service/integrations/hand-over.ts';
import { form, type Section } from '../http/page-routes.ts';
import { redirect } from '../http/view.ts';
import { keyPages } from '../keys/routes.ts';
import { provenForm } from '../proof/proven.ts';
import { sendLink } from './access-link.ts';
import { deactivate, reactivate, showDeactivation } from './deactivate.ts';
import { invite, showInvite } from './invite.ts';
import { setRole, showDemotion } from './role.ts';
import { removeSecondFactor, showSecondFactorRemoval } from './second-factor.ts';
import { unlink } from './unlink.ts';
import { showUser } from './user.ts';
import { userHead, userIdOf, userKeysUrl } from './user-head.ts';
import { searchUsers, showUsers } from './user-list.ts';

const ONE = '/people/users/:userId';

/** For managers and administrators. The services decide again for each action. */
export const peopleSection: Section = {
  mayEnter: maySeePeople,
  pages: [
    { path: '/people', get: () => redirect('/people/users') },
    { path: '/people/users', get: showUsers, post: form(['search', 'state'], searchUsers) },
    { path: '/people/users/invite', get: showInvite, post: provenForm(['name', 'email', 'role', 'form_id'], invite) },
    { path: ONE, get: showUser },
    { path: `${ONE}/role`, get: showDemotion, post: provenForm(['role', NEW_OWNER], setRole) },
    { path: `${ONE}/link`, post: provenForm(['kind', 'form_id'], sendLink) },
    { path: `${ONE}/deactivate`, get: showDeactivation, post: form([NEW_OWNER], deactivate) },
    { path: `${ONE}/unlink`, post: provenForm([], unlink) },
    { path: `${ONE}/reactivate`, post: form([], reactivate) },
    { path: `${ONE}/second-factor`, get: showSecondFactorRemoval, post: provenForm([], removeSecondFactor) },
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
