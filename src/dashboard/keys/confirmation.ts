import { requestsOf } from '../../domain/keys/key-usage.ts';
import { nameKeyOf } from '../../domain/name.ts';
import { formatNumber } from '../../domain/text.ts';
import { DAY_MS } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { type KeyAccess, type KeyAction, keyRefusalOf } from '../../service/authority/keys.ts';
import { getKey, getKeyWithRotations, type KeyDetails } from '../../service/keys/list-keys.ts';
import { type Conflict, type Invalid, invalid, type KeyRefusal, type KeyRefused } from '../../service/outcome.ts';
import { listAdministrators } from '../../store/people/user-lists.ts';
import { text } from '../forms/fields.ts';
import { type Fields, problemSummary } from '../forms/form.ts';
import { type KeyPage, keyUrl, requestsUrl, urlOf } from '../http/addresses.ts';
import type { Problem } from '../http/problem.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { contactList, errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { type ActionForm, actionForm, beside, facts, head } from '../markup/parts.ts';
import { conflictPage } from '../routing/errors.ts';
import { ACTION_NAMES, isPossible } from './actions.ts';
import { endWords, expiryFact, holderFact, lastClientWords, lastUse } from './cells.ts';
import { type KeyContext, keyIdOf, requireHolderKind, toList, upToList } from './context.ts';

// Each action on a key (rotate, rename, restrict, move, revoke) has its own page, because the dashboard must work without
// scripts. The page shows the form, or says that the actor may not carry out the action or that the key has ended. When the form
// is sent, the service checks all of this again. If a field is wrong, the page shows the form again.

/** Returns the key in the path, and what the actor may do with it. */
export async function readKey(context: KeyContext) {
  const { dashboard, actor, holderId, now } = context;
  const found = await getKey(dashboard.db, actor, { keyId: keyIdOf(context), userId: holderId, now });
  requireHolderKind(context, found.holder);
  return found;
}

/** Returns the ids of the key and its holder, as the services expect them. */
export function keyOf(context: KeyContext): { readonly keyId: string; readonly userId: string } {
  return { keyId: keyIdOf(context), userId: context.holderId };
}

type Confirmation = {
  readonly fields: Fields;
  readonly problem: Problem | null;
  /** Returns the content of the page for a key that has not ended. */
  readonly show: (key: KeyDetails, access: KeyAccess) => Promise<Content>;
};

type Content = {
  readonly words?: Html;
  /** The form; omitted if there is nothing to submit. By default, the text of the button is the name of the action. */
  readonly form?: Pick<ActionForm, 'fields' | 'kind' | 'rest'> & { readonly button?: string };
  /** A notice about values that the last submission added to the form. The values are not saved yet. */
  readonly notice?: Html | false;
};

/** Returns the page for an action. The page is also the response to a form that did not carry out the action. */
export async function confirmationPage(
  context: KeyContext,
  action: KeyPage,
  { fields, problem, show }: Confirmation,
): Promise<View> {
  const { key, ...access } = await readKey(context);
  if (action === 'revoke') {
    if (!access.mayRevoke) throw new RequestError('not-allowed');
  } else {
    const refused = refusalOf(context, access, action);
    if (refused !== null) return refusedPage(context, refused);
  }
  const isEnded = !isPossible(action, key);
  const { words, form, notice = false }: Content = isEnded ? alreadyEnded(key, context) : await show(key, access);
  const [url, button, cancel] = [keyUrl(key, context, action), ACTION_NAMES[action], context.backUrl];
  const content = html`${words}
${form !== undefined && actionForm(context, { action: url, button, cancel, ...form })}`;
  const title = `${ACTION_NAMES[action]} ${key.name}`;
  const main = html`${head({ title, up: upToList(context) })}
${problemSummary(problem, fields)}${notice}
${beside({ title: 'The key', about: keyFacts(context, key, access.holder), content })}`;
  return page(context, { title, main, problem, isForm: true });
}

function alreadyEnded(key: KeyDetails, { backUrl }: KeyContext): Content {
  return {
    words: html`<p>There is nothing left to do: this key ${endWords(key)}.</p>
<p class="actions"><a class="button" href="${backUrl}">See the list</a></p>`,
  };
}

function keyFacts(context: KeyContext, key: KeyDetails, holder: KeyAccess['holder']): Html {
  return facts([
    holderFact(context, holder),
    { name: 'Key', value: html`<code>${key.prefix}…</code>` },
    { name: 'Last used', value: lastUse(key, context.now) },
    expiryFact(key),
  ]);
}

/** Returns whether the key is active and was used in the last 24 hours. */
export function isInUse({ now }: KeyContext, { state, lastUsedAt }: KeyDetails): boolean {
  return state === 'active' && lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < DAY_MS;
}

/** Returns a section about the recent requests with a key that an action would end; `false` if the key is not in use. */
export async function recentTraffic(context: KeyContext, key: KeyDetails): Promise<Html | false> {
  const { dashboard, actor, holderId: userId, listUrl, back, now } = context;
  if (!isInUse(context, key)) return false;
  const found = await getKeyWithRotations(dashboard.db, actor, { userId, keyId: key.id, now });
  const hours = found.kind === 'found' ? found.usage.hour.slice(-DAY_HOURS) : [];
  const count = hours.reduce((sum, use) => sum + requestsOf(use), 0);
  const client = lastClientWords(key);
  return html`<p>The key is in use: <strong>${formatNumber(count)} ${count === 1 ? 'request' : 'requests'} in the last ${DAY_HOURS} hours</strong>, the last one ${lastUse(key, now)}${client !== false && html` ${client}`}. <a href="${urlOf(requestsUrl(listUrl, key.id), { back })}">See the requests</a></p>`;
}

const DAY_HOURS = 24;

/**
 * Returns whether the actor must type the key's name to rotate or revoke the key. This is required for a key of another holder
 * that is in use.
 */
export function mustTypeName(context: KeyContext, key: KeyDetails): boolean {
  return !context.isOwn && isInUse(context, key);
}

export const keyNameField = text({
  label: 'Name of the key',
  hint: ({ key }: { readonly key: KeyDetails }) =>
    html`The key is in use. To confirm, type its name: <strong>${key.name}</strong>`,
  attributes: html`maxlength="100" required autocomplete="off" spellcheck="false"`,
});

/** Returns a refusal if the name must be typed and the typed name is wrong, otherwise `null`. */
export async function checkTypedName(context: KeyContext, typed: string): Promise<Invalid | null> {
  if (context.isOwn) return null;
  const { key } = await readKey(context);
  if (!mustTypeName(context, key) || nameKeyOf(typed).equals(nameKeyOf(key.name))) return null;
  return invalid('key_name', `must be “${key.name}”.`);
}

/** Returns why the actor may not carry out the action on the holder's keys; `null` if the action is allowed. */
export function refusalOf({ isOwn }: KeyContext, access: KeyAccess, action: KeyAction): KeyRefused | null {
  return access.refusal === null ? null : keyRefusalOf(access.refusal, { holder: access.holder, isOwn, action });
}

/** Returns a notice that says why the action is refused, and who can help. */
export async function refusalNotice(context: KeyContext, { reason, message }: KeyRefused): Promise<Html> {
  const administrators = reason === 'role' ? await listAdministrators(context.dashboard.db, context.actor.scope) : [];
  return html`<div class="notice"><p><strong>${message}</strong></p>
${contactList(administrators)}</div>`;
}

const HEADS: Record<KeyRefusal, { status: number; title: string }> = {
  deactivated: { status: 409, title: 'Nothing can be changed now' },
  suspended: { status: 403, title: 'The organization is suspended' },
  role: { status: 403, title: 'You may not do this' },
};

/** Returns the page that is shown in place of the form if the action cannot be carried out. */
export async function refusedPage(context: KeyContext, refused: KeyRefused | Conflict): Promise<View> {
  if (refused.kind === 'conflict') return conflictPage(context, refused, toList(context));
  const message = await refusalNotice(context, refused);
  const { status, title } = HEADS[refused.reason];
  return errorPage(context, { status, title, message, link: toList(context) });
}
