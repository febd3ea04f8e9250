import { mayManage, ROLES } from '../../domain/role.ts';
import { listUsers, type UserDetails } from '../../service/people.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { findKeyUrl, withoutKey } from '../keys/find.ts';
import { type Html, html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { badge, emailText, head, hidden, pager, urlOf } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day, ROLE_WORDS } from '../markup/words.ts';
import { userUrl } from './user-head.ts';

export async function showUsers(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken, query } = context;
  const search = withoutKey(query.get('search') ?? '');
  const after = query.get('after');
  const { users, next } = await listUsers(dashboard.db, actor, { search, after });
  const mayInvite = ROLES.some((role) => mayManage(actor.role, role));
  const main = html`${head({
    title: 'People',
    tabs: { label: 'People pages', tabs: [{ name: 'Users', href: '/people/users', isCurrent: true }] },
  })}
<div class="toolbar"><form role="search" method="post" action="/people/users" class="search">${hidden('form_token', formToken)}<label class="unseen" for="search">Name or e-mail</label>
<input id="search" name="search" type="search" value="${search}" maxlength="300" placeholder="Name or e-mail"><button class="button">Search</button></form>
${mayInvite && html`<a class="button primary" href="/people/users/invite">Invite a user</a>`}</div>
${users.length === 0 ? nobodyFound(search) : userTable(users, actor.userId)}
${pager({
  first: after === null ? null : urlOf('/people/users', { search }),
  next: next === null ? null : urlOf('/people/users', { search, after: next }),
})}`;
  return page(context, { title: 'People', main });
}

/** Posted, because people also paste an API key here, which must not get into a URL. Such a search leads to the key. */
export async function searchUsers(context: SignedInContext, form: Form<'search'>): Promise<View> {
  const search = form.text('search');
  return redirect((await findKeyUrl(context, search)) ?? urlOf('/people/users', { search }));
}

function nobodyFound(search: string): Html {
  return html`<section class="card empty"><h2>Nobody found</h2><p>${search === '' ? 'There is nobody on this page.' : `No name or e-mail contains “${search}”.`}</p><p><a class="button" href="/people/users">Show everybody</a></p></section>`;
}

function userTable(users: readonly UserDetails[], actorId: string): Html {
  return html`<div class="card flush">${table({
    name: 'users',
    label: 'Users',
    columns: ['Name', 'Role', 'Second factor', 'Since', 'State'],
    rows: users.map((user) => ({ cells: cells(user, actorId), isEnded: user.deactivatedAt !== null })),
  })}</div>`;
}

function cells(user: UserDetails, actorId: string) {
  return [
    html`<a class="strong" href="${userUrl(user.id)}">${user.name}</a>${user.id === actorId && html` <span class="quiet">(you)</span>`}<span class="under">${emailText(user.email)}</span>`,
    ROLE_WORDS[user.role].name,
    user.hasSecondFactor ? 'On' : html`<span class="quiet">Off</span>`,
    day(user.createdAt),
    userState(user),
  ];
}

export function userState({ deactivatedAt, hasPassword }: Pick<UserDetails, 'deactivatedAt' | 'hasPassword'>): Html {
  if (deactivatedAt !== null) return badge('neutral', 'Deactivated');
  return hasPassword ? badge('good', 'Active') : badge('warn', 'Invited');
}
