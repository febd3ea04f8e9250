import { deviceOf } from '../../domain/people/session.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import {
  addPasskey,
  getPasskey,
  optionsForNewPasskey,
  type Passkey,
  removePasskey,
  renamePasskey,
} from '../../service/sign-in-settings/passkeys.ts';
import { text } from '../forms/fields.ts';
import { type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { NEW_PASSKEY_OPTIONS_URL, NEW_PASSKEY_URL, PROFILE_URL, passkeyUrl } from '../http/addresses.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { badge, facts, head, postForm } from '../markup/parts.ts';
import { day, since } from '../markup/words.ts';
import {
  askingBrowserOf,
  noPasskeysWords,
  passkeyField,
  passkeyForm,
  relyingPartyOf,
  sendOptions,
} from '../proof/passkeys.ts';

// The signed-in person's own passkeys: a list on the page "My profile", and a page for each passkey.

const UP = { name: 'My profile', href: PROFILE_URL };

const nameField = text({
  label: 'Name',
  hint: 'Where it is kept, such as “Laptop” or “Blue security key”.',
  attributes: html`maxlength="100" required autocomplete="off"`,
});

export const RENAME_FORM = { name: nameField };
export const ADD_FORM = { name: nameField, credential: passkeyField };

/** Returns the list of passkeys. `isSignIn` is whether the organization lets the person sign in with a passkey. */
export function passkeySection(
  context: SignedInContext,
  { passkeys, isSignIn }: { readonly passkeys: readonly Passkey[]; readonly isSignIn: boolean },
): Html {
  const site = relyingPartyOf(context);
  const add =
    site.kind === 'usable' && html`<a class="button" href="${NEW_PASSKEY_URL}">${icon('create')}Add a passkey</a>`;
  return html`<section class="card" aria-labelledby="passkeys"><div class="section-head"><h2 id="passkeys">Passkeys</h2>${add}</div>
<p class="quiet">A passkey is in your device, your password manager or a security key. You open it with your fingerprint, your face or a PIN, and it ${isSignIn ? 'replaces the password and the second factor when you sign in' : 'proves who you are before you change keys or settings. You sign in by single sign-on, which your organization requires'}.</p>
${site.kind === 'none' && html`<p>${noPasskeysWords(site)}</p>`}
${passkeys.map((passkey) => passkeyLine(passkey, context.now))}</section>`;
}

function passkeyLine({ id, name, isBackedUp, lastUsedAt, createdAt }: Passkey, now: Date): Html {
  return html`<div class="setting"><div><h3>${name}${isBackedUp && html` ${badge('neutral', 'Synced')}`}</h3>
<p class="quiet">${lastUsedAt === null ? 'Never used' : html`Last used ${since(lastUsedAt, now)}`} · Added ${day(createdAt)}</p></div>
<a class="button" href="${passkeyUrl(id)}">${icon('rename')}Manage<span class="unseen"> the passkey ${name}</span></a></div>`;
}

/** Sends the options for a new passkey to the script of the page. */
export async function sendNewOptions(context: SignedInContext): Promise<View> {
  return sendOptions(context, (asking) => optionsForNewPasskey(context.dashboard.db, context.actor, asking));
}

export async function showNewPasskey(context: SignedInContext): Promise<View> {
  return newPage(context, { typed: { name: deviceOf(context.auditSource.userAgent) }, problem: null });
}

export async function add(context: SignedInContext, { values, typed }: Form<typeof ADD_FORM>): Promise<View> {
  const { dashboard, actor, token, now } = context;
  const site = relyingPartyOf(context);
  if (site.kind === 'none') throw new RequestError('not-found');
  const { name, credential = '' } = values;
  const { relyingParty } = site;
  const browser = askingBrowserOf(context);
  const passkey = { credential, name, token, relyingParty, browser, now };
  const outcome = await addPasskey(dashboard.db, actor, passkey);
  if (outcome.kind !== 'done') return newPage(context, { typed, problem: problemOf(outcome) });
  return redirect(`${PROFILE_URL}?done=passkey-added#passkeys`);
}

function newPage(context: SignedInContext, filled: Filled<typeof ADD_FORM>): View {
  const { problem } = filled;
  const site = relyingPartyOf(context);
  const title = 'Add a passkey';
  const content =
    site.kind === 'none'
      ? html`<p>${noPasskeysWords(site)}</p>`
      : passkeyForm({
          site: site.relyingParty,
          action: NEW_PASSKEY_URL,
          formToken: context.formToken,
          use: 'create',
          optionsUrl: NEW_PASSKEY_OPTIONS_URL,
          purpose: 'to add a passkey',
          content: html`${fieldsOf(ADD_FORM, filled).name}
<div class="actions"><button class="button primary">Add a passkey</button><a class="button plain" href="${PROFILE_URL}">Cancel</a></div>`,
        });
  const main = html`${head({ title, up: UP })}
${problemSummary(problem, RENAME_FORM)}
<div class="card narrow"><p>Your browser asks where the passkey is kept, and for your fingerprint, your face or a PIN. Charter gets only a public key.</p>
${content}</div>`;
  return page(context, { title, main, problem, hasPasskeyForm: true });
}

const passkeyIdOf = ({ params }: SignedInContext) => params['passkeyId'] ?? '';

export async function passkeyNameOf(context: SignedInContext): Promise<string> {
  return (await getPasskey(context.dashboard.db, context.actor, passkeyIdOf(context))).name;
}

export async function showPasskey(context: SignedInContext): Promise<View> {
  return passkeyPage(context, { problem: null });
}

export async function rename(context: SignedInContext, { values, typed }: Form<typeof RENAME_FORM>): Promise<View> {
  const outcome = await renamePasskey(context.dashboard.db, context.actor, { id: passkeyIdOf(context), ...values });
  if (outcome.kind !== 'done') return passkeyPage(context, { typed, problem: problemOf(outcome) });
  return redirect(`${PROFILE_URL}?done=passkey-renamed#passkeys`);
}

export async function remove(context: SignedInContext): Promise<View> {
  const { dashboard, actor, token } = context;
  const outcome = await removePasskey(dashboard.db, actor, { id: passkeyIdOf(context), token });
  if (outcome.kind !== 'done') return passkeyPage(context, { problem: problemOf(outcome) });
  return redirect(`${PROFILE_URL}?done=passkey-removed#passkeys`);
}

type Refused = { readonly problem: Problem | null; readonly typed?: Filled<typeof RENAME_FORM>['typed'] };

/** Returns a passkey's page. `typed` is the values of a refused form for the name; otherwise omitted. */
async function passkeyPage(context: SignedInContext, { problem, typed }: Refused): Promise<View> {
  const { dashboard, actor, formToken, now } = context;
  const passkey = await getPasskey(dashboard.db, actor, passkeyIdOf(context));
  const url = passkeyUrl(passkey.id);
  const main = html`${head({ title: passkey.name, up: UP })}
${problemSummary(problem, RENAME_FORM)}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>${facts([
    { name: 'Kept', value: passkey.isBackedUp ? 'Synced between devices' : 'On one device' },
    { name: 'Last used', value: passkey.lastUsedAt === null ? 'Never' : since(passkey.lastUsedAt, now) },
    { name: 'Added', value: day(passkey.createdAt) },
  ])}</section>
<section class="card" aria-labelledby="manage"><h2 id="manage">Manage</h2>
<div class="setting">${postForm(
    { action: url, formToken },
    html`${fieldsOf(RENAME_FORM, { typed: typed ?? passkey, problem }).name}<button class="button">Rename</button>`,
  )}</div>
<div class="setting"><div><h3>Remove</h3><p class="quiet">It can no longer be used. Delete it on your device, too.</p></div>
${postForm({ action: passkeyUrl(passkey.id, 'remove'), formToken }, html`<button class="button danger-plain">${icon('revoke')}Remove<span class="unseen"> the passkey</span></button>`)}</div></section>`;
  return page(context, { title: passkey.name, main, problem, formUrl: url });
}
