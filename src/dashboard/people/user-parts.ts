import { mayManage, ROLES, type Role } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import { getUser } from '../../service/people/people.ts';
import type { FoundUser } from '../../store/people/user-lists.ts';
import { select } from '../forms/fields.ts';
import { USERS_URL, userKeysUrl, userUrl } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { emailText, head } from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';

// Parts that the pages of users share.

export function userIdOf({ params }: SignedInContext): string {
  return params['userId'] ?? '';
}

/** Returns the user in the path. Throws "forbidden" if the actor may not manage users with that role. */
export async function getManagedUser(context: SignedInContext): Promise<FoundUser> {
  const { actor, dashboard } = context;
  const user = await getUser(dashboard.db, actor, userIdOf(context));
  if (!mayManage(actor.role, user.role)) throw new RequestError('not-allowed');
  return user;
}

export async function userNameOf(context: SignedInContext): Promise<string> {
  return (await getUser(context.dashboard.db, context.actor, userIdOf(context))).name;
}

type HeadProps = {
  readonly user: { readonly id: string; readonly name: string; readonly email: string | null; readonly role: Role };
  readonly current: 'details' | 'api-keys';
  readonly isSelf: boolean;
};

export function userHead({ user, current, isSelf }: HeadProps): Html {
  const url = userUrl(user.id);
  return head({
    title: user.name,
    up: { name: 'Users', href: USERS_URL },
    lead: html`${emailText(user.email ?? '')} · ${ROLE_WORDS[user.role].name}${isSelf && ' · This is you'}`,
    tabs: {
      label: `Pages of ${user.name}`,
      tabs: [
        { name: 'Details', href: url, isCurrent: current === 'details' },
        { name: 'API keys', href: userKeysUrl(user.id), isCurrent: current === 'api-keys' },
      ],
    },
  });
}

type RoleProps = { readonly context: SignedInContext; readonly followsGroups: boolean };

const FOLLOWS_GROUPS =
  'At each single sign-on, the role follows the groups at your identity provider, except that of an administrator.';

/** The field for a role. Its options are the roles that the actor may assign. */
export const roleField = select({
  label: 'Role',
  // The hint explains the roles, because a narrow screen would cut off explanations in the options.
  hint: (props: RoleProps) => {
    const meanings = rolesFor(props).map(
      (role) => html`<strong>${ROLE_WORDS[role].name}:</strong> ${ROLE_WORDS[role].meaning}`,
    );
    const all = props.followsGroups ? [...meanings, FOLLOWS_GROUPS] : meanings;
    return html`${all.map((line, i) => [i > 0 && html`<br>`, line])}`;
  },
  options: (props: RoleProps) => rolesFor(props).map((role) => ({ value: role, words: ROLE_WORDS[role].name })),
});

function rolesFor({ context: { actor } }: RoleProps): Role[] {
  return ROLES.filter((role) => mayManage(actor.role, role));
}
