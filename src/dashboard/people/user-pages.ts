import { PASSWORD_CHARACTERS } from '../../domain/password.ts';
import type { Role } from '../../domain/role.ts';
import type { KeysMadeForOthers } from '../../service/list-keys.ts';
import type { UserView } from '../../service/people.ts';
import type { Problem } from '../http/errors.ts';
import { type Html, html } from '../markup/html.ts';
import {
  addressOf,
  done as doneNotice,
  facts,
  head,
  hidden,
  pager,
  postForm,
  problemSummary,
} from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day, instant, ROLE_WORDS, since } from '../markup/words.ts';
import { roleField } from './link-pages.ts';
import { userHead, userState } from './user-list.ts';

export const DONE = new Map([
  ['role', 'The role is changed. It counts from now on, for the keys as well.'],
  ['deactivated', 'The user is deactivated: signed out everywhere, and every API key revoked.'],
  ['factor-removed', 'The second factor is removed, and the user is signed out everywhere.'],
  ['reactivated', 'The user is active again and may sign in. Keys that were revoked stay revoked.'],
]);

type UserPageProps = {
  readonly user: UserView;
  readonly keysForOthers: KeysMadeForOthers;
  /** Whether these are the first of them. */
  readonly isFirst: boolean;
  readonly problem: Problem | null;
  readonly formToken: string;
  readonly onceId: string;
  readonly now: Date;
  readonly isSelf: boolean;
  /** Whether the visitor's role may change this user. */
  readonly mayManage: boolean;
  readonly roles: readonly Role[];
  readonly done: string | undefined;
};

export function userPage(view: UserPageProps): Html {
  const { user, isSelf, problem, done } = view;
  return html`${userHead({ user, current: 'details', isSelf })}${doneNotice(done)}${problemSummary(problem, { role: 'Role' })}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>
${facts([
  {
    name: 'State',
    value: html`${userState(user)}${user.deactivatedAt !== null && html` ${instant(user.deactivatedAt)}`}`,
  },
  {
    name: 'Role',
    value: html`${ROLE_WORDS[user.role].name}<span class="under">${ROLE_WORDS[user.role].meaning}</span>`,
  },
  { name: 'Second factor', value: user.hasSecondFactor ? 'On' : 'Off' },
  { name: 'Since', value: day(user.createdAt) },
])}</section>
${view.mayManage && account(view)}
${review(view)}`;
}

function account({ user, formToken, onceId, roles, problem, isSelf }: UserPageProps): Html {
  const path = `/people/users/${user.id}`;
  if (user.deactivatedAt !== null) {
    return html`<section class="card" aria-labelledby="account"><h2 id="account">Account</h2>
<div class="setting"><div><h3>Reactivate</h3><p class="quiet">The user may sign in again, with the same password and role.</p></div>
${postForm({ action: `${path}/reactivate`, formToken }, html`<button class="button">Reactivate</button>`)}</div></section>`;
  }
  const link = user.hasPassword
    ? {
        kind: 'password_reset',
        title: 'Password reset',
        hint: 'Makes a link with which they choose a new password. It works for an hour.',
        word: 'Make a reset link',
      }
    : {
        kind: 'invitation',
        title: 'Invitation',
        hint: 'Makes a new link and voids the earlier one. It works for 72 hours.',
        word: 'Make a new link',
      };
  return html`<section class="card" aria-labelledby="account"><h2 id="account">Account</h2>
<div class="setting">${postForm(
    { action: `${path}/role`, formToken },
    html`${roleField({ roles, chosen: user.role, errors: problem?.fields })}<button class="button">Change role</button>`,
  )}</div>
<div class="setting"><div><h3>${link.title}</h3><p class="quiet">${link.hint}</p></div>
${postForm({ action: `${path}/link`, formToken }, html`${hidden('kind', link.kind)}${hidden('once', onceId)}<button class="button">${link.word}</button>`)}</div>
${
  user.hasSecondFactor &&
  !isSelf &&
  html`<div class="setting"><div><h3>Second factor</h3><p class="quiet">For somebody who lost the authenticator and has no recovery codes.</p></div>
<a class="button danger-plain" href="${path}/second-factor">Remove<span class="unseen"> the second factor</span></a></div>`
}
<div class="setting"><div><h3>Deactivate</h3><p class="quiet">Signs them out everywhere and revokes their API keys, at once.</p></div>
<a class="button danger-plain" href="${path}/deactivate">Deactivate</a></div></section>`;
}

/** Whoever makes a key is shown it: when that person leaves, these want a look. */
function review({ keysForOthers: { keys, next }, user, isFirst, now }: UserPageProps): Html | false {
  if (keys.length === 0 && isFirst) return false;
  const path = `/people/users/${user.id}`;
  return html`<section aria-labelledby="made"><h2 id="made">Keys made for others</h2>
<p class="quiet">${user.name} made these and was shown them. When ${user.name} leaves, rotate them.</p>
<div class="card flush">${table({
    name: 'keys-for-others',
    label: `Keys that ${user.name} made for others`,
    columns: ['Key', 'Acts for', 'Created', 'Last used'],
    rows: keys.map((key) => ({
      cells: [
        html`<span class="key-name">${key.name}</span><code class="prefix">${key.prefix}…</code>`,
        html`<a href="/people/users/${key.holder.id}/api-keys">${key.holder.name}</a>`,
        day(key.createdAt),
        key.lastUsedAt === null ? 'Never' : since(key.lastUsedAt, now),
      ],
    })),
  })}</div>
${pager({ first: isFirst ? null : `${path}#made`, next: next === null ? null : `${addressOf(path, { after: next })}#made` })}</section>`;
}

export function confirmDeactivation({
  user,
  formToken,
  isSelf,
}: {
  user: UserView;
  formToken: string;
  isSelf: boolean;
}): Html {
  const path = `/people/users/${user.id}`;
  return html`${head({ title: `Deactivate ${user.name}`, up: { name: user.name, href: path }, lead: user.email })}
<div class="card narrow">
<div class="notice danger"><p><strong>The moment you press Deactivate${isSelf && ', you are signed out yourself'}:</strong></p>
<ul><li>Every API key of ${user.name} is revoked for good; what uses one is refused with 401.</li>
<li>Every session and every open link of ${user.name} ends.</li></ul></div>
<p>The user can be reactivated later; the keys cannot. Keys that ${user.name} made for others stay, and are listed for review.</p>
${postForm(
  { action: `${path}/deactivate`, formToken },
  html`<div class="actions"><button class="button danger">Deactivate</button><a class="button plain" href="${path}">Cancel</a></div>`,
)}</div>`;
}

export function confirmFactorRemoval({
  user,
  formToken,
  title,
}: {
  user: UserView;
  formToken: string;
  title: string;
}): Html {
  const path = `/people/users/${user.id}`;
  const { name } = user;
  return html`${head({ title, up: { name, href: path }, lead: user.email })}
<div class="card narrow">${
    user.hasSecondFactor
      ? html`<div class="notice danger"><p><strong>The moment you press Remove:</strong></p>
<ul><li>The password alone opens the account of ${name}, until they set up a second factor again.</li>
<li>Their authenticator and their recovery codes stop working.</li>
<li>Every session of ${name} ends.</li></ul></div>
<p>Make sure first that it is ${name} who asks: whoever has stolen the password would ask for the same. The password stays; one shorter than ${PASSWORD_CHARACTERS} characters must be replaced at the next sign-in.</p>
${postForm(
  { action: `${path}/second-factor`, formToken },
  html`<div class="actions"><button class="button danger">Remove</button><a class="button plain" href="${path}">Cancel</a></div>`,
)}`
      : html`<p>${name} has no second factor, so there is nothing to remove.</p>
<p class="actions"><a class="button" href="${path}">See the user</a></p>`
  }</div>`;
}
