import { LINK_HOURS } from '../../domain/people/access-link.ts';
import { isRemovedEmail } from '../../domain/people/email.ts';
import { mayManage } from '../../domain/people/role.ts';
import { canSignIn } from '../../domain/people/ways-in.ts';
import { formatCount } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { type KeysMadeForOthers, listKeysMadeForOthers } from '../../service/keys/list-keys.ts';
import { getUser } from '../../service/people/people.ts';
import { doRolesFollowGroups } from '../../service/sign-in/ways.ts';
import type { FoundUser, UserDetails } from '../../store/people/user-lists.ts';
import { formId, hiddenField } from '../forms/fields.ts';
import { fieldsOf, problemSummary } from '../forms/form.ts';
import { keysUrlOf, urlOf, userUrl } from '../http/addresses.ts';
import type { Problem } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { keyCell, lastUse } from '../keys/cells.ts';
import { page } from '../markup/layout.ts';
import { doneNotice, facts, pager, postForm } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day, instant, ROLE_WORDS } from '../markup/words.ts';
import { userState } from './user-list.ts';
import { roleField, userHead, userIdOf } from './user-parts.ts';

const ROLE_FORM = { role: roleField };
export const LINK_FORM = { formId: formId(), kind: hiddenField() };

/**
 * The confirmations by the value of the query parameter "done". Anybody can make a link with that parameter, so a function
 * returns `undefined` if the state of the user contradicts the confirmation.
 */
const DONE = new Map<string, (user: UserDetails) => string | undefined>([
  [
    'role',
    ({ name, role }) => `The role of ${name} is now ${ROLE_WORDS[role].name}. It applies at once, to all keys too.`,
  ],
  [
    'deactivated',
    ({ name, deactivatedAt }) =>
      deactivatedAt === null ? undefined : `${name} is deactivated: signed out everywhere, and every API key revoked.`,
  ],
  [
    'factor-removed',
    ({ name, hasSecondFactor, passkeys }) =>
      hasSecondFactor || passkeys > 0
        ? undefined
        : `The second factor and the passkeys of ${name} are removed, and ${name} is signed out everywhere.`,
  ],
  ['unlinked', ({ name, isLinked }) => (isLinked ? undefined : `${name} is no longer linked for single sign-on.`)],
  [
    'reactivated',
    ({ name, deactivatedAt }) =>
      deactivatedAt === null
        ? `${name} is active again and may sign in. Keys that were revoked stay revoked.`
        : undefined,
  ],
]);

export async function showUser(context: SignedInContext): Promise<View> {
  return userPage(context, null);
}

/** Returns a user's page. `problem` is why the last action was refused. */
export async function userPage(context: SignedInContext, problem: Problem | null): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const user = await getUser(dashboard.db, actor, userIdOf(context));
  const [after, before] = [query.get('after'), query.get('before')];
  const keysForOthers = await listKeysMadeForOthers(dashboard.db, actor, user.id, { after, before, now });
  const followsGroups = user.isLinked && (await doRolesFollowGroups(dashboard.db, actor));
  const head = userHead({ user, current: 'details', isSelf: user.id === actor.userId });
  const main = html`${head}${doneNotice(DONE.get(query.get('done') ?? '')?.(user))}${problemSummary(problem, ROLE_FORM)}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>
${facts([
  {
    name: 'Status',
    value: html`${userState(user)}${user.deactivatedAt !== null && html` ${instant(user.deactivatedAt)}`}`,
  },
  {
    name: 'Role',
    value: html`${ROLE_WORDS[user.role].name}<span class="under">${ROLE_WORDS[user.role].meaning}</span>`,
  },
  { name: 'Second factor', value: user.hasSecondFactor ? 'On' : 'Off' },
  { name: 'Passkeys', value: user.passkeys === 0 ? 'None' : user.passkeys },
  ...(user.isLinked ? [{ name: 'Single sign-on', value: 'Linked' }] : []),
  { name: 'Added', value: day(user.createdAt) },
])}</section>
${mayManage(actor.role, user.role) && accountSection(context, user, { problem, followsGroups })}
${keysForOthersSection(user, keysForOthers, { isFirst: after === null && before === null, now })}`;
  return page(context, { title: user.name, main, problem, formUrl: userUrl(user.id) });
}

function accountSection(
  context: SignedInContext,
  user: FoundUser,
  { problem, followsGroups }: { readonly problem: Problem | null; readonly followsGroups: boolean },
): Html {
  const { actor, formToken } = context;
  if (isRemovedEmail(user.email)) {
    return html`<section class="card" aria-labelledby="account"><h2 id="account">Account</h2>
<p class="quiet">An operator has removed the account for good, and its history stays. Invite the person to give them a new one.</p></section>`;
  }
  if (user.deactivatedAt !== null) {
    return html`<section class="card" aria-labelledby="account"><h2 id="account">Account</h2>
<div class="setting"><div><h3>Reactivate</h3><p class="quiet">The user may sign in again, with the same password and role.</p></div>
${postForm({ action: userUrl(user.id, 'reactivate'), formToken }, html`<button class="button">${icon('rotate')}Reactivate</button>`)}</div></section>`;
  }
  const isSelf = user.id === actor.userId;
  return html`<section class="card" aria-labelledby="account"><h2 id="account">Account</h2>
<div class="setting">${postForm(
    { action: userUrl(user.id, 'role'), formToken },
    html`${fieldsOf(ROLE_FORM, { typed: user, problem }, { context, followsGroups }).role}<button class="button">Change role</button>`,
  )}</div>
${!isSelf && linkSetting(context, user)}
${
  (user.hasSecondFactor || user.passkeys > 0) &&
  !isSelf &&
  html`<div class="setting"><div><h3>Second factor and passkeys</h3><p class="quiet">For a user who lost the authenticator and has no recovery codes, or whose passkey somebody else may have.</p></div>
<a class="button danger-plain" href="${userUrl(user.id, 'second-factor')}">${icon('second-factor')}Remove<span class="unseen"> the second factor and the passkeys</span></a></div>`
}
${
  user.isLinked &&
  html`<div class="setting"><div><h3>Single sign-on</h3><p class="quiet">Unlink a user who has a new account at the identity provider. Their next sign-in there must be confirmed again.</p></div>
${postForm({ action: userUrl(user.id, 'unlink'), formToken }, html`<button class="button danger-plain">${icon('revoke')}Unlink</button>`)}</div>`
}
${user.hasAccepted ? deactivateSetting(user.id) : invitedSettings(user.id)}</section>`;
}

function deactivateSetting(id: string): Html {
  return html`<div class="setting"><div><h3>Deactivate</h3><p class="quiet">Signs the user out everywhere and revokes the user’s API keys, at once.</p></div>
<a class="button danger-plain" href="${userUrl(id, 'deactivate')}">${icon('revoke')}Deactivate</a></div>`;
}

/** Returns the settings of a user who has not accepted the invitation. */
function invitedSettings(id: string): Html {
  return html`<div class="setting"><div><h3>E-mail</h3><p class="quiet">For an invitation to the wrong e-mail. The right one gets a new link.</p></div>
<a class="button" href="${userUrl(id, 'email')}">${icon('rename')}Correct<span class="unseen"> the e-mail</span></a></div>
<div class="setting"><div><h3>Withdraw the invitation</h3><p class="quiet">Removes the user, who has not accepted it. The links stop working.</p></div>
<a class="button danger-plain" href="${userUrl(id, 'withdraw')}">${icon('revoke')}Withdraw<span class="unseen"> the invitation</span></a></div>`;
}

function linkSetting(context: SignedInContext, user: FoundUser): Html {
  const link = user.hasPassword
    ? {
        kind: 'password_reset',
        title: user.isSingleSignOnRequired ? 'Sign-in link' : 'Password reset',
        hint: `Makes a link with which the user ${user.isSingleSignOnRequired ? 'confirms the account and continues at your identity provider' : 'chooses a new password'}. It works for an hour.`,
        button: user.isSingleSignOnRequired ? 'Make a link' : 'Make a reset link',
      }
    : {
        kind: 'invitation',
        title: canSignIn(user) ? 'Sign-in link' : 'Invitation',
        hint: `Makes a new link and voids the earlier one. It works for ${formatCount(LINK_HOURS.invitation, 'hour')}.`,
        button: 'Make a new link',
      };
  return html`<div class="setting"><div><h3>${link.title}</h3><p class="quiet">${link.hint}</p></div>
${postForm(
  { action: userUrl(user.id, 'link'), formToken: context.formToken },
  html`${Object.values(fieldsOf(LINK_FORM, { typed: link, problem: null }, { context }))}<button class="button">${icon('link')}${link.button}</button>`,
)}</div>`;
}

/**
 * Returns a section about the keys that the user created for others. The user has seen these keys, so they must be rotated when
 * the user leaves.
 */
function keysForOthersSection(
  { id, name }: UserDetails,
  { keys, previous, next }: KeysMadeForOthers,
  { isFirst, now }: { isFirst: boolean; now: Date },
): Html | false {
  if (keys.length === 0 && isFirst) return false;
  return html`<section aria-labelledby="made"><h2 id="made">Keys made for others</h2>
<p class="quiet">${name} made these keys and saw them. When ${name} leaves, rotate them.</p>
${
  keys.length === 0
    ? html`<p class="quiet">There are no more keys.</p>`
    : html`<div class="card flush">${table({
        name: 'keys-for-others',
        label: `Keys that ${name} made for others`,
        columns: ['Key', 'Acts for', 'Created', 'Last used'],
        rows: keys.map((key) => ({
          cells: [
            keyCell(key, { listUrl: keysUrlOf(key.holder), back: null }),
            html`<a href="${keysUrlOf(key.holder)}">${key.holder.name}</a>`,
            day(key.createdAt),
            lastUse(key, now),
          ],
        })),
      })}</div>`
}
${pager({ isFirst, previous, next, urlAt: (position) => `${urlOf(userUrl(id), position)}#made` })}</section>`;
}
