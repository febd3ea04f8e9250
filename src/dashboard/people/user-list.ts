import { withoutKey } from '../../domain/keys/api-key.ts';
import { isRemovedEmail } from '../../domain/people/email.ts';
import { mayManage, ROLES } from '../../domain/people/role.ts';
import { canSignIn } from '../../domain/people/ways-in.ts';
import { formatNumber } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { listUsers } from '../../service/people/people.ts';
import { MAX_COUNTED_USERS, USER_STATES, type UserDetails, type UserState } from '../../store/people/user-lists.ts';
import { hiddenField, text } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { INVITE_URL, USERS_URL, urlOf, userUrl } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { findKeyUrl } from '../keys/search.ts';
import { page } from '../markup/layout.ts';
import { badge, doneNotice, emailText, head, hiddenInput, pager } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day, ROLE_WORDS } from '../markup/words.ts';

export const SEARCH_FORM = { state: hiddenField(), search: text({ label: 'Name or e-mail' }) };

export async function showUsers(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken, query } = context;
  const search = withoutKey(query.get('search') ?? '');
  const state = stateOf(query.get('state'));
  const [after, before] = [query.get('after'), query.get('before')];
  const { users, range, previous, next } = await listUsers(dashboard.db, actor, { search, state, after, before });
  const isFirst = after === null && before === null;
  const mayInvite = ROLES.some((role) => mayManage(actor.role, role));
  const done = query.get('done') === 'withdrawn' ? 'The invitation is withdrawn.' : undefined;
  const main = html`${head({ title: 'People', tabs: { label: 'People pages', tabs: tabs(state, search) } })}${doneNotice(done)}
<div class="toolbar"><form role="search" method="post" action="${USERS_URL}" class="search">${hiddenInput('form_token', formToken)}${hiddenInput('state', state)}<label class="unseen" for="search">Name or e-mail</label>
<input id="search" name="search" type="search" value="${search}" maxlength="300" placeholder="Name or e-mail"><button class="button">${icon('search')}Search</button></form>
${mayInvite && html`<a class="button primary" href="${INVITE_URL}">${icon('invite')}Invite a user</a>`}</div>
${users.length === 0 ? nobodyFound(search, state, isFirst) : userTable(users, actor.userId)}
${pager({
  isFirst,
  previous,
  next,
  urlAt: (position) => listUrl(state, { search, ...position }),
  part: users.length === 0 ? null : partOf(range, users.length),
})}`;
  return page(context, { title: 'People', main });
}

/**
 * Handles the search. It is sent by POST, because people also paste API keys, which must not get into a URL. A search for an API
 * key leads to the page of that key.
 */
export async function searchUsers(context: SignedInContext, { values }: Form<typeof SEARCH_FORM>): Promise<View> {
  const { search } = values;
  const state = stateOf(values.state);
  return redirect((await findKeyUrl(context, search)) ?? listUrl(state, { search }));
}

function stateOf(text: string | null): UserState {
  return USER_STATES.find((each) => each === text) ?? 'all';
}

const TABS: Record<UserState, string> = { all: 'Users', invited: 'Invited', deactivated: 'Deactivated' };

function tabs(current: UserState, search: string) {
  return USER_STATES.map((state) => ({
    name: TABS[state],
    href: listUrl(state, { search }),
    isCurrent: state === current,
  }));
}

function listUrl(state: UserState, query: Readonly<Record<string, string>> = {}): string {
  return urlOf(USERS_URL, { state: state === 'all' ? null : state, ...query });
}

/** Returns which part of the list the page shows, such as "26–50 of 5,000". */
function partOf(range: { readonly first: number; readonly total: number } | null, count: number): string {
  if (range === null) return `${formatNumber(count)} of more than ${formatNumber(MAX_COUNTED_USERS)}`;
  const { first, total } = range;
  return `${formatNumber(first)}–${formatNumber(first + count - 1)} of ${formatNumber(total)}`;
}

const NOBODY: Record<UserState, string> = {
  all: 'There are no users.',
  invited: 'Nobody has an invitation that is not used yet.',
  deactivated: 'Nobody is deactivated.',
};

function nobodyFound(search: string, state: UserState, isFirst: boolean): Html {
  if (!isFirst) return html`<section class="card empty"><p>There are no more users.</p></section>`;
  return html`<section class="card empty"><h2>Nobody found</h2><p>${search === '' ? NOBODY[state] : `No name or e-mail contains “${search}”.`}</p><p><a class="button" href="${USERS_URL}">Show everybody</a></p></section>`;
}

function userTable(users: readonly UserDetails[], actorId: string): Html {
  return html`<div class="card flush">${table({
    name: 'users',
    label: 'Users',
    columns: ['Name', 'Role', 'Second factor', 'Added', 'Status'],
    rows: users.map((user) => ({ cells: cells(user, actorId), isEnded: user.deactivatedAt !== null })),
  })}</div>`;
}

function cells(user: UserDetails, actorId: string) {
  return [
    html`<a class="strong" href="${userUrl(user.id)}">${user.name}</a>${user.id === actorId && html` <span class="quiet">(you)</span>`}<span class="under">${emailText(user.email)}</span>`,
    ROLE_WORDS[user.role].name,
    secondFactor(user),
    day(user.createdAt),
    userState(user),
  ];
}

/**
 * Returns the state of the second factor. A passkey or single sign-on counts as a second factor only if the user has no password:
 * somebody who knows the password could sign in with the password alone.
 */
function secondFactor({ hasPassword, hasSecondFactor, passkeys, isLinked }: UserDetails): Html | string {
  if (hasSecondFactor) return 'On';
  if (!hasPassword && isLinked) return 'Single sign-on';
  return !hasPassword && passkeys > 0 ? 'Passkey' : html`<span class="quiet">Off</span>`;
}

export function userState(user: UserDetails): Html {
  if (user.deactivatedAt !== null) return badge('neutral', isRemovedEmail(user.email) ? 'Removed' : 'Deactivated');
  return canSignIn(user) ? badge('good', 'Active') : badge('warn', 'Invited');
}
