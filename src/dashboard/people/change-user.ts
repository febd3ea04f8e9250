import { shownEmail } from '../../domain/people/email.ts';
import { PASSWORD_CHARACTERS } from '../../domain/people/password.ts';
import { isRole } from '../../domain/people/role.ts';
import { formatCount } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { NEW_OWNER } from '../../service/integrations/hand-over.ts';
import { listIntegrationsOwnedBy } from '../../service/integrations/integrations.ts';
import { type KeyDetails, listActiveKeys } from '../../service/keys/list-keys.ts';
import type { Conflict, Done } from '../../service/outcome.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../service/people/change-user.ts';
import { resetSecondFactor } from '../../service/sign-in-settings/second-factor.ts';
import type { NamedIntegration } from '../../store/integrations/integrations.ts';
import type { UserDetails } from '../../store/people/user-lists.ts';
import { hiddenField, optional, text } from '../forms/fields.ts';
import { type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { integrationUrl, SECOND_FACTOR_URL, urlOf, userKeysUrl, userUrl } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { keyLine } from '../keys/cells.ts';
import { page } from '../markup/layout.ts';
import { actionForm, beside, emailText, head } from '../markup/parts.ts';
import { ROLE_WORDS, since } from '../markup/words.ts';
import { movingViewOf } from '../routing/errors.ts';
import { userPage } from './user.ts';
import { getManagedUser, userIdOf } from './user-parts.ts';

// Actions that change another user's account.

/**
 * Returns the response to an action: a redirect to the user's page, which confirms the action, or the user's page with the reason
 * for the refusal.
 */
export async function userView(context: SignedInContext, outcome: Done | Conflict, done: string): Promise<View> {
  return outcome.kind === 'done'
    ? redirect(`${userUrl(userIdOf(context))}?done=${done}`)
    : userPage(context, problemOf(outcome));
}

const newOwnerField = optional(
  text({
    label: 'New owner of the integrations',
    hint: ({ ownerHint }: { readonly ownerHint: string }) => ownerHint,
    type: 'email',
    attributes: html`maxlength="254" autocomplete="off" required`,
  }),
);

/** On the user's page, the form contains only the role. The page that confirms a demotion also asks for the new owner. */
export const SET_ROLE_FORM = { role: hiddenField(), newOwner: newOwnerField };

export async function setRole(context: SignedInContext, { values, typed }: Form<typeof SET_ROLE_FORM>): Promise<View> {
  const userId = userIdOf(context);
  const { role, newOwner } = values;
  const outcome = await changeRole(context.dashboard.db, context.actor, { userId, role, newOwner });
  if (outcome.kind === 'done') return redirect(`${userUrl(userId)}?done=role`);
  const problem = problemOf(outcome);
  if (problem.fields[NEW_OWNER] === undefined) return userPage(context, problem);
  // The form on the user's page does not contain a new owner.
  if (newOwner === undefined) return redirect(urlOf(userUrl(userId, 'role'), { role }));
  return demotionPage(context, { typed, problem });
}

/** Shows the page that asks the actor to confirm a demotion and to choose a new owner of the user's integrations. */
export async function showDemotion(context: SignedInContext): Promise<View> {
  const { query, actor } = context;
  return demotionPage(context, { typed: { role: query.get('role') ?? '', newOwner: actor.email }, problem: null });
}

async function demotionPage(context: SignedInContext, filled: Filled<typeof SET_ROLE_FORM>): Promise<View> {
  const { typed, problem } = filled;
  const { role } = typed;
  const { actor, dashboard } = context;
  const user = await getManagedUser(context);
  const url = userUrl(user.id);
  if (!isRole(role)) return redirect(url);
  const owned = await listIntegrationsOwnedBy(dashboard.db, actor, user.id);
  const ownerHint = `The e-mail of an active user. ${user.name} stays the owner with ${shownEmail(user.email)}.`;
  const fields = fieldsOf(SET_ROLE_FORM, filled, { ownerHint });
  const title = `Change the role of ${user.name}`;
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: emailText(user.email) })}
${problemSummary(problem, SET_ROLE_FORM)}
<div class="card narrow"><p>From <strong>${ROLE_WORDS[user.role].name}</strong> to <strong>${ROLE_WORDS[role].name}</strong>. It applies at once, to all keys of ${user.name} too.</p>
${actionForm(context, { action: userUrl(user.id, 'role'), fields: html`${fields.role}${integrationsSection(user, owned)}${owned.length > 0 && fields.newOwner}`, button: 'Change role', cancel: url })}</div>`;
  return page(context, { title, main, problem });
}

export const DEACTIVATE_FORM = { newOwner: newOwnerField };

export async function showDeactivation(context: SignedInContext): Promise<View> {
  return deactivationPage(context, null);
}

/** Returns the page with the form. `refused` is the refused form; `null` if the form is shown for the first time. */
async function deactivationPage(
  context: SignedInContext,
  refused: Filled<typeof DEACTIVATE_FORM> | null,
): Promise<View> {
  const { actor, dashboard, now } = context;
  const user = await getManagedUser(context);
  const owned = await listIntegrationsOwnedBy(dashboard.db, actor, user.id);
  const keys = await listActiveKeys(dashboard.db, actor, { userId: user.id, now });
  const isSelf = user.id === actor.userId;
  const filled = refused ?? { typed: { newOwner: isSelf ? '' : actor.email }, problem: null };
  const { problem } = filled;
  const ownerHint = 'The e-mail of an active user of your organization.';
  const { newOwner } = fieldsOf(DEACTIVATE_FORM, filled, { ownerHint });
  const title = `Deactivate ${user.name}`;
  const url = userUrl(user.id);
  const content = html`<div class="notice danger"><p><strong>As soon as you press Deactivate${isSelf && ', you are signed out yourself'}:</strong></p>
<ul><li>${endingKeys(user, keys, now)}</li>
<li>Every session and every open link of ${user.name} ends.</li></ul></div>
<p>The user can be reactivated later; the keys cannot. Keys that ${user.name} made for others stay active, and are listed for review.</p>
${actionForm(context, { action: userUrl(user.id, 'deactivate'), fields: html`${integrationsSection(user, owned)}${owned.length > 0 && newOwner}`, button: 'Deactivate', kind: 'danger', cancel: url })}`;
  const main = html`${head({ title, up: { name: user.name, href: url }, lead: emailText(user.email) })}
${problemSummary(problem, DEACTIVATE_FORM)}
${keys.length > 0 ? beside({ title: 'API keys that end', about: html`<ul class="lines">${keys.map((key) => keyLine(key, userKeysUrl(user.id), now))}</ul>`, content }) : html`<div class="card narrow">${content}</div>`}`;
  return page(context, { title, main, problem });
}

/** Returns a sentence with the number of keys that will end, and when one of them was last used. */
function endingKeys({ name }: UserDetails, keys: readonly KeyDetails[], now: Date): Html {
  if (keys.length === 0) return html`${name} has no active API key.`;
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []).toSorted((a, b) => b.getTime() - a.getTime());
  const [latest] = uses;
  const lastUsed = latest === undefined ? 'No use is recorded yet.' : html`The last use was ${since(latest, now)}.`;
  return html`${formatCount(keys.length, 'active API key')} of ${name} ${keys.length === 1 ? 'is' : 'are'} revoked for good. ${lastUsed} Requests that use ${keys.length === 1 ? 'it' : 'one'} are refused with 401.`;
}

export async function deactivate(
  context: SignedInContext,
  { values, typed }: Form<typeof DEACTIVATE_FORM>,
): Promise<View> {
  const { actor, dashboard, now } = context;
  const outcome = await deactivateUser(dashboard.db, actor, { userId: userIdOf(context), ...values, now });
  if (outcome.kind === 'invalid') return deactivationPage(context, { problem: problemOf(outcome), typed });
  if (outcome.kind === 'done' && context.isMoving) return movingViewOf(context, 'The user is deactivated.');
  return userView(context, outcome, 'deactivated');
}

export async function reactivate(context: SignedInContext): Promise<View> {
  const outcome = await reactivateUser(context.dashboard.db, context.actor, { userId: userIdOf(context) });
  return userView(context, outcome, 'reactivated');
}

/** Returns a list of the integrations of a user who is about to be deactivated or demoted. */
function integrationsSection({ name }: { readonly name: string }, owned: readonly NamedIntegration[]): Html | false {
  if (owned.length === 0) return false;
  const [what, their] = [formatCount(owned.length, 'integration'), owned.length === 1 ? 'its' : 'their'];
  return html`<h2>Integrations</h2>
<p>${name} owns ${what}. ${owned.length === 1 ? 'It keeps' : 'They keep'} working with ${their} API keys, and need${owned.length === 1 && 's'} somebody who answers for ${owned.length === 1 ? 'it' : 'them'}.</p>
<ul class="lines">${owned.map((each) => html`<li><a href="${integrationUrl(each.id)}">${each.name}</a></li>`)}</ul>`;
}

/**
 * Shows the page that asks the actor to confirm the removal of another user's second factor and passkeys. People who ask for
 * their own account are redirected to their own page.
 */
export async function showSecondFactorRemoval(context: SignedInContext): Promise<View> {
  if (userIdOf(context) === context.actor.userId) return redirect(SECOND_FACTOR_URL);
  const user = await getManagedUser(context);
  const title = `Remove the second factor and the passkeys of ${user.name}`;
  const main = html`${head({ title, up: { name: user.name, href: userUrl(user.id) }, lead: emailText(user.email) })}
<div class="card narrow">${user.hasSecondFactor || user.passkeys > 0 ? removalForm(context, user) : nothingToRemove(user)}</div>`;
  return page(context, { title, main });
}

export async function removeSecondFactor(context: SignedInContext): Promise<View> {
  const outcome = await resetSecondFactor(context.dashboard.db, context.actor, { userId: userIdOf(context) });
  return userView(context, outcome, 'factor-removed');
}

/** Returns what will stop working, as the subject of a sentence. */
function stoppingWords({ hasSecondFactor, passkeys }: UserDetails): string {
  const factor = 'Their authenticator and their recovery codes';
  if (!hasSecondFactor) return 'Their passkeys';
  return passkeys > 0 ? `${factor}, and their passkeys,` : factor;
}

function removalForm(context: SignedInContext, user: UserDetails): Html {
  const { id, name } = user;
  const url = userUrl(id);
  return html`<div class="notice danger"><p><strong>As soon as you press Remove:</strong></p>
<ul><li>The password alone opens the account of ${name}, until they set up a second factor or a passkey again.</li>
<li>${stoppingWords(user)} stop working.</li>
<li>Every session of ${name} ends.</li></ul></div>
<p>First make sure that the request comes from ${name}: somebody who has stolen the password would ask for the same. The password stays; one shorter than ${PASSWORD_CHARACTERS} characters must be replaced at the next sign-in.</p>
${actionForm(context, { action: userUrl(id, 'second-factor'), button: 'Remove', kind: 'danger', cancel: url })}`;
}

function nothingToRemove({ id, name }: UserDetails): Html {
  return html`<p>${name} has neither a second factor nor a passkey, so there is nothing to remove.</p>
<p class="actions"><a class="button" href="${userUrl(id)}">See the user</a></p>`;
}
