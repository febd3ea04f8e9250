import { html } from '../../../html/html.ts';
import { connectionUrls } from '../../../service/sign-in/single-sign-on/scope.ts';
import { addDomain, checkDomain, removeDomain } from '../../../service/sign-in-settings/domains.ts';
import { requireSingleSignOn, stopRequiringSingleSignOn } from '../../../service/sign-in-settings/enforcement.ts';
import { saveRules } from '../../../service/sign-in-settings/rules.ts';
import {
  getSignInSettings,
  removeConnection,
  saveConnection,
  tryConnection,
} from '../../../service/sign-in-settings/single-sign-on.ts';
import { REMOVE_CONNECTION_URL, SIGN_IN_SETTINGS_URL, SIGN_IN_URL } from '../../addresses.ts';
import type { Form } from '../../http/forms.ts';
import { formProblem, problemOf } from '../../http/problem.ts';
import { findSignedIn, type SignedInContext } from '../../http/request-context.ts';
import { RequestError } from '../../http/request-error.ts';
import { redirect, type View } from '../../http/view.ts';
import { page } from '../../markup/layout.ts';
import { head, postForm } from '../../markup/parts.ts';
import { depsOf } from '../provider.ts';
import { settingsPage } from './page.ts';

function done(what: string): View {
  return redirect(`${SIGN_IN_SETTINGS_URL}?done=${what}`);
}

/** A change of the connection ends the sessions by it, which can include the administrator's own. */
async function connectionDone(context: SignedInContext, what: 'connection' | 'removed'): Promise<View> {
  if ((await findSignedIn(context)) !== null) return done(what);
  return redirect(`${SIGN_IN_URL}?done=${what === 'connection' ? 'connection-saved' : 'connection-removed'}`);
}

/** Saves nothing that does not work. */
export async function changeConnection(
  context: SignedInContext,
  form: Form<'issuer' | 'client_id' | 'client_secret' | 'act'>,
): Promise<View> {
  const { dashboard, actor, inTurn } = context;
  const { db, webhooks: targets, providers: access, publicUrl } = dashboard;
  if (publicUrl === undefined) throw new RequestError('not-found');
  const content = {
    issuer: form.text('issuer'),
    clientId: form.text('client_id'),
    clientSecret: form.text('client_secret'),
  };
  const { redirectUri } = connectionUrls(publicUrl, actor.scope.organizationId);
  const tried = await tryConnection(db, actor, { ...content, access, targets, redirectUri, inTurn });
  if (tried.kind === 'invalid') return settingsPage(context, { problem: problemOf(tried), connection: content });
  if (tried.kind !== 'tried') return settingsPage(context, { problem: formProblem(tried.words), connection: content });
  if (form.text('act') === 'try') {
    const again = content.clientSecret.trim() === '' ? '' : ' Type the secret again to save it.';
    const notice = tried.isSecretProven
      ? `The connection works: the provider accepts the client ID and the client secret.${again}`
      : 'The provider answers, but does not say whether it accepts the client secret.';
    return settingsPage(context, { notice, connection: content });
  }
  const outcome = await inTurn(() => saveConnection(db, actor, { ...content, issuer: tried.issuer, targets }));
  if (outcome.kind !== 'done') return settingsPage(context, { problem: problemOf(outcome), connection: content });
  return connectionDone(context, 'connection');
}

export async function showRemoval(context: SignedInContext): Promise<View> {
  const { dashboard, actor, formToken } = context;
  const { connection } = await getSignInSettings(dashboard.db, actor);
  if (connection === null) return redirect(SIGN_IN_SETTINGS_URL);
  const title = 'Remove the connection';
  const main = html`${head({ title, up: { name: 'Sign-in', href: SIGN_IN_SETTINGS_URL }, lead: connection.issuer })}
<div class="card narrow"><div class="notice danger"><p><strong>As soon as you press Remove:</strong></p>
<ul><li>Nobody can sign in by single sign-on, and the sessions by it end.</li>
<li>If you signed in by single sign-on yourself, your session ends, too. Make sure before that you can sign in with a password or a passkey.</li>
<li>People who have no password need a link to set one.</li>
<li>People are no longer linked to their accounts at the provider. After a new connection, each of them confirms their account again.</li>
<li>The settings under New people and groups are deleted: the role of new people, the claim with groups and the roles by group.</li></ul></div>
<p>API keys and verified domains stay.</p>
${postForm({ action: REMOVE_CONNECTION_URL, formToken }, html`<div class="actions"><button class="button danger">Remove</button><a class="button plain" href="${SIGN_IN_SETTINGS_URL}">Cancel</a></div>`)}</div>`;
  return page(context, { title, main });
}

export async function remove(context: SignedInContext): Promise<View> {
  const outcome = await removeConnection(context.dashboard.db, context.actor);
  return outcome.kind === 'done'
    ? connectionDone(context, 'removed')
    : settingsPage(context, { problem: problemOf(outcome) });
}

export async function add(context: SignedInContext, form: Form<'domain'>): Promise<View> {
  const domain = form.text('domain');
  const outcome = await addDomain(context.dashboard.db, context.actor, { domain });
  return outcome.kind === 'done' ? done('domain') : settingsPage(context, { problem: problemOf(outcome), domain });
}

export async function check(context: SignedInContext, form: Form<'domain'>): Promise<View> {
  const { actor, now } = context;
  const outcome = await checkDomain(depsOf(context), actor, { domain: form.text('domain'), now });
  return outcome.kind === 'done' ? done('verified') : settingsPage(context, { problem: problemOf(outcome) });
}

export async function removeOne(context: SignedInContext, form: Form<'domain'>): Promise<View> {
  const outcome = await removeDomain(context.dashboard.db, context.actor, { domain: form.text('domain') });
  return outcome.kind === 'done' ? done('domain-removed') : settingsPage(context, { problem: problemOf(outcome) });
}

export async function changeRoles(
  context: SignedInContext,
  form: Form<'new_people' | 'groups_claim' | 'group_roles'>,
): Promise<View> {
  const roles = {
    newPeople: form.text('new_people'),
    groupsClaim: form.text('groups_claim'),
    groupRoles: form.text('group_roles'),
  };
  const outcome = await saveRules(context.dashboard.db, context.actor, roles);
  return outcome.kind === 'done' ? done('roles') : settingsPage(context, { problem: problemOf(outcome), roles });
}

export async function requireIt(context: SignedInContext, form: Form<'break_glass'>): Promise<View> {
  const { dashboard, actor, token, now } = context;
  const breakGlass = form.text('break_glass');
  const outcome = await requireSingleSignOn(dashboard.db, actor, { token, breakGlass, now });
  return outcome.kind === 'done'
    ? done('required')
    : settingsPage(context, { problem: problemOf(outcome), breakGlass });
}

export async function allowPasswords(context: SignedInContext): Promise<View> {
  const outcome = await stopRequiringSingleSignOn(context.dashboard.db, context.actor);
  return outcome.kind === 'done' ? done('passwords') : settingsPage(context, { problem: problemOf(outcome) });
}
