import { mayManage, maySeePeople, ROLES } from '../../domain/role.ts';
import { listUsers } from '../../service/people.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { act, type Room } from '../http/room.ts';
import { redirect, type View } from '../http/view.ts';
import { keyPages } from '../keys/routes.ts';
import { page } from '../markup/layout.ts';
import { invite, invitePage, sendLink } from './links.ts';
import {
  confirmDeactivation,
  confirmFactorRemoval,
  deactivate,
  idOf,
  reactivate,
  removeFactor,
  setRole,
  showUser,
} from './user.ts';
import * as pages from './user-list.ts';

const ONE = '/people/users/:userId';

/** For managers and administrators; the services decide again about each act. */
export const peopleRoom: Room = {
  mayEnter: maySeePeople,
  pages: [
    { path: '/people', show: async () => redirect('/people/users') },
    { path: '/people/users', show: showUsers },
    {
      path: '/people/users/invite',
      show: async (context) => invitePage(context, null),
      act: act(['name', 'email', 'role', 'once'], invite),
    },
    { path: ONE, show: (context) => showUser(context, null) },
    { path: `${ONE}/role`, act: act(['role'], setRole) },
    { path: `${ONE}/link`, act: act(['kind', 'once'], sendLink) },
    { path: `${ONE}/deactivate`, show: confirmDeactivation, act: act([], deactivate) },
    { path: `${ONE}/reactivate`, act: act([], reactivate) },
    { path: `${ONE}/second-factor`, show: confirmFactorRemoval, act: act([], removeFactor) },
    ...keyPages({
      root: ONE,
      holderId: idOf,
      base: (context) => `/people/users/${idOf(context)}/api-keys`,
      head: ({ actor }, { holder }) =>
        pages.userHead({ user: holder, current: 'api-keys', isSelf: holder.id === actor.userId }),
    }),
  ],
};

async function showUsers(context: SignedInContext): Promise<View> {
  const { actor, dashboard, query } = context;
  const search = query.get('search') ?? '';
  const after = query.get('after');
  const { users, next } = await listUsers(dashboard.db, actor, { search, after });
  const mayInvite = ROLES.some((role) => mayManage(actor.role, role));
  const main = pages.userList({ users, next, search, isFirst: after === null, mayInvite, actorId: actor.userId });
  return page(context, { title: 'People', main });
}
