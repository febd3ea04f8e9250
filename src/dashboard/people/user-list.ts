import type { UserView } from '../../service/people.ts';
import { type Html, html } from '../markup/html.ts';
import { addressOf, badge, emailText, head, pager } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day, ROLE_WORDS } from '../markup/words.ts';

type UserListProps = {
  readonly users: readonly UserView[];
  readonly next: string | null;
  readonly search: string;
  readonly isFirst: boolean;
  readonly mayInvite: boolean;
  readonly actorId: string;
};

export function userList({ users, next, search, isFirst, mayInvite, actorId }: UserListProps): Html {
  return html`${head({
    title: 'People',
    tabs: { label: 'People pages', tabs: [{ name: 'Users', href: '/people/users', isCurrent: true }] },
  })}
<div class="toolbar"><form role="search" action="/people/users" class="search"><label class="unseen" for="search">Name or e-mail</label>
<input id="search" name="search" type="search" value="${search}" maxlength="100" placeholder="Name or e-mail"><button class="button">Search</button></form>
${mayInvite && html`<a class="button primary" href="/people/users/invite">Invite a user</a>`}</div>
${
  users.length === 0
    ? html`<section class="card empty"><h2>Nobody found</h2><p>${search === '' ? 'There is nobody on this page.' : `No name or e-mail holds “${search}”.`}</p><p><a class="button" href="/people/users">Show everybody</a></p></section>`
    : html`<div class="card flush">${table({
        name: 'users',
        label: 'Users',
        columns: ['Name', 'Role', 'Second factor', 'Since', 'State'],
        rows: users.map((user) => ({ cells: cells(user, actorId), isQuiet: user.deactivatedAt !== null })),
      })}</div>`
}
${pager({
  first: isFirst ? null : addressOf('/people/users', { search }),
  next: next === null ? null : addressOf('/people/users', { search, after: next }),
})}`;
}

function cells(user: UserView, actorId: string) {
  return [
    html`<a class="strong" href="/people/users/${user.id}">${user.name}</a>${user.id === actorId && html` <span class="quiet">(you)</span>`}<span class="under">${emailText(user.email)}</span>`,
    ROLE_WORDS[user.role].name,
    user.hasSecondFactor ? 'On' : html`<span class="quiet">Off</span>`,
    day(user.createdAt),
    userState(user),
  ];
}

export function userState({ deactivatedAt, hasPassword }: Pick<UserView, 'deactivatedAt' | 'hasPassword'>): Html {
  if (deactivatedAt !== null) return badge('neutral', 'Deactivated');
  return hasPassword ? badge('good', 'Active') : badge('warn', 'Invited');
}

type Headed = { readonly id: string; readonly name: string; readonly email: string; readonly role: UserView['role'] };

export function userHead({
  user,
  current,
  isSelf,
}: {
  user: Headed;
  current: 'details' | 'api-keys';
  isSelf: boolean;
}): Html {
  const base = `/people/users/${user.id}`;
  return head({
    title: user.name,
    up: { name: 'Users', href: '/people/users' },
    lead: html`${emailText(user.email)} · ${ROLE_WORDS[user.role].name}${isSelf && ' · This is you'}`,
    tabs: {
      label: `Pages of ${user.name}`,
      tabs: [
        { name: 'Details', href: base, isCurrent: current === 'details' },
        { name: 'API keys', href: `${base}/api-keys`, isCurrent: current === 'api-keys' },
      ],
    },
  });
}
