import type { Actor } from '../../domain/audit/actor.ts';
import { passwordCharacters } from '../../domain/people/password.ts';
import { formatCount } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { getOwnWaysIn, NO_PASSWORD, type OwnWaysIn } from '../../service/authority/sign-in-ways.ts';
import { listActiveKeys } from '../../service/keys/list-keys.ts';
import { dismissNotice } from '../../service/keys/notices.ts';
import { changePassword } from '../../service/sign-in-settings/change-password.ts';
import { listPasskeys } from '../../service/sign-in-settings/passkeys.ts';
import { countRecoveryCodesLeft } from '../../service/sign-in-settings/second-factor.ts';
import { hiddenField, nextField, password } from '../forms/fields.ts';
import { type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import {
  guideUrl,
  OWN_KEYS_URL,
  PASSWORD_URL,
  PROFILE_URL,
  RECOVERY_CODES_URL,
  SECOND_FACTOR_URL,
  SESSIONS_URL,
} from '../http/addresses.ts';
import { sessionCookie } from '../http/cookies.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { actionForm, badge, doneNotice, emailText, facts, head } from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';
import { passkeySection } from './passkeys.ts';

/**
 * The confirmations by the value of the query parameter "done". Anybody can make a link with that parameter, so a function
 * returns `undefined` if the state of the user contradicts the confirmation.
 */
const DONE = new Map<string, (actor: Actor) => string | undefined>([
  ['passkey-added', () => 'Your passkey is added.'],
  ['passkey-renamed', () => 'Your passkey is renamed.'],
  ['passkey-removed', () => 'Your passkey is removed.'],
  ['password', () => 'Your password is changed. Your other sessions have ended.'],
  ['factor-off', ({ hasSecondFactor }) => (hasSecondFactor ? undefined : 'Your second factor is off.')],
]);

export function profileHead(current: 'details' | 'api-keys' | 'sessions'): Html {
  return head({
    title: 'My profile',
    tabs: {
      label: 'Profile pages',
      tabs: [
        { name: 'Details', href: PROFILE_URL, isCurrent: current === 'details' },
        { name: 'API keys', href: OWN_KEYS_URL, isCurrent: current === 'api-keys' },
        { name: 'Sessions', href: SESSIONS_URL, isCurrent: current === 'sessions' },
      ],
    },
  });
}

function passwordSetting({ hasPassword, mayUsePassword }: OwnWaysIn): Html {
  if (!mayUsePassword)
    return html`<div class="setting"><div><h3>Password</h3><p class="quiet">${NO_PASSWORD}</p></div></div>`;
  return html`<div class="setting"><div><h3>Password</h3><p class="quiet">${hasPassword ? 'Changing it' : 'You have none. Setting one'} ends your <a href="${SESSIONS_URL}">other sessions</a>.</p></div><a class="button" href="${PASSWORD_URL}">${icon('password')}${hasPassword ? 'Change' : 'Set'} password</a></div>`;
}

export async function showProfile(context: SignedInContext): Promise<View> {
  const { actor, dashboard, query, now } = context;
  const { hasSecondFactor } = actor;
  const keys = await listActiveKeys(dashboard.db, actor, { userId: actor.userId, now });
  const codesLeft = hasSecondFactor ? await countRecoveryCodesLeft(dashboard.db, actor) : 0;
  const ways = await getOwnWaysIn(dashboard.db, actor);
  const passkeys = await listPasskeys(dashboard.db, actor);
  const { name: role, meaning } = ROLE_WORDS[actor.role];
  const main = html`${profileHead('details')}${doneNotice(DONE.get(query.get('done') ?? '')?.(actor))}
<section class="card" aria-labelledby="you"><h2 id="you">You</h2>
${facts([
  { name: 'Name', value: actor.name },
  { name: 'E-mail', value: emailText(actor.email) },
  { name: 'Organization', value: actor.organizationName },
  { name: 'Role', value: html`${role}<span class="under">${meaning}</span>` },
])}</section>
${keys.length === 0 && actor.role !== 'viewer' && FIRST_CALL}
<section class="card" aria-labelledby="signing-in"><h2 id="signing-in">Signing in</h2>
${passwordSetting(ways)}
${
  ways.mayUsePassword &&
  (hasSecondFactor || ways.hasPassword) &&
  html`<div class="setting"><div><h3>Second factor ${hasSecondFactor ? badge('good', 'On') : badge('neutral', 'Off')}</h3>
<p class="quiet">${hasSecondFactor ? 'Sign-in asks for a code from your authenticator.' : 'A code from your phone, in addition to the password, keeps others out even if they learn the password.'}</p></div>
<a class="button" href="${SECOND_FACTOR_URL}">${icon('second-factor')}${hasSecondFactor ? 'Turn off' : 'Set up'}<span class="unseen"> the second factor</span></a></div>`
}
${
  ways.mayUsePassword &&
  hasSecondFactor &&
  html`<div class="setting"><div><h3>Recovery codes</h3><p class="quiet">${formatCount(codesLeft, 'recovery code')} left, each for one sign-in without your authenticator.</p></div>
<a class="button" href="${RECOVERY_CODES_URL}">${icon('rotate')}Regenerate<span class="unseen"> recovery codes</span></a></div>`
}</section>
${passkeySection(context, { passkeys, isSignIn: ways.mayUsePassword })}`;
  return page(context, { title: 'My profile', main });
}

/** The next steps for a person who has no active key and may create one. */
const FIRST_CALL: Html = html`<section class="card" aria-labelledby="first-call"><h2 id="first-call">Your first call</h2>
<p>You have no active API key. <a href="${OWN_KEYS_URL}">Create one</a>: the page that shows it has a command with which you can try the API at once. <a href="${guideUrl('getting-started')}">Getting started</a> explains the next steps.</p></section>`;

export const DISMISS_FORM = { notice: hiddenField(), next: nextField };

export async function dismiss(
  { dashboard, actor }: SignedInContext,
  { values }: Form<typeof DISMISS_FORM>,
): Promise<View> {
  await dismissNotice(dashboard.db, actor, values.notice);
  return redirect(values.next);
}

export const PASSWORD_FORM = {
  password: password({
    label: 'New password',
    autocomplete: 'new-password',
    hint: ({ actor }: Pick<SignedInContext, 'actor'>) =>
      `At least ${passwordCharacters(actor.hasSecondFactor)} characters. A few unrelated words are strong and easy to remember.`,
  }),
};

export async function showPassword(context: SignedInContext, { hasPassword }: OwnWaysIn): Promise<View> {
  return passwordPage(context, { hasPassword, problem: null });
}

export async function changeOwnPassword(
  context: SignedInContext,
  { values }: Form<typeof PASSWORD_FORM>,
): Promise<View> {
  const { dashboard, actor, token } = context;
  const outcome = await changePassword(dashboard.db, actor, { ...values, token });
  if (outcome.kind !== 'session-renewed') {
    const { hasPassword } = await getOwnWaysIn(dashboard.db, actor);
    return passwordPage(context, { hasPassword, problem: problemOf(outcome) });
  }
  return redirect(`${PROFILE_URL}?done=password`, { cookies: [sessionCookie(outcome.token, dashboard.isHttps)] });
}

function passwordPage(
  context: SignedInContext,
  { hasPassword, problem }: { readonly hasPassword: boolean; readonly problem: Problem | null },
): View {
  const { actor } = context;
  const title = hasPassword ? 'Change password' : 'Set password';
  const main = html`${head({ title, up: { name: 'My profile', href: PROFILE_URL } })}
${problemSummary(problem, PASSWORD_FORM)}
<div class="card narrow">${actionForm(context, {
    action: PASSWORD_URL,
    fields: html`<input type="hidden" autocomplete="username" value="${actor.email}">
${fieldsOf(PASSWORD_FORM, { typed: {}, problem }, context).password}`,
    button: title,
    cancel: PROFILE_URL,
  })}</div>`;
  return page(context, { title, main, problem });
}

/**
 * Wraps the function of a page, so that only people whose organization accepts passwords can open the page. For pages about the
 * password and the second factor.
 */
export function needsPassword(get: (context: SignedInContext, ways: OwnWaysIn) => Promise<View>) {
  return async (context: SignedInContext): Promise<View> => {
    const ways = await getOwnWaysIn(context.dashboard.db, context.actor);
    if (ways.mayUsePassword) return get(context, ways);
    const link = { name: 'Go to My profile', href: PROFILE_URL };
    return errorPage(context, { status: 409, title: 'Single sign-on is required', message: NO_PASSWORD, link });
  };
}
