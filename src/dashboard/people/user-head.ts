import type { Role } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import { getUser } from '../../service/people/people.ts';
import { USERS_URL, userKeysUrl, userUrl } from '../addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { emailText, head } from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';

/** The id in the path. */
export function userIdOf({ params }: SignedInContext): string {
  return params['userId'] ?? '';
}

/** The name of the user whom the path names. */
export async function userNameOf(context: SignedInContext): Promise<string> {
  return (await getUser(context.dashboard.db, context.actor, userIdOf(context))).name;
}

type HeadProps = {
  readonly user: { readonly id: string; readonly name: string; readonly email: string | null; readonly role: Role };
  readonly current: 'details' | 'api-keys';
  readonly isSelf: boolean;
};

/** The heading and the tabs of a user's pages. */
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
