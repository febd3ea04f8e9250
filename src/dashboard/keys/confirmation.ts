import { DAY_MS } from '../../domain/duration.ts';
import { nameKeyOf } from '../../domain/name.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import { getKey, type KeyDetails } from '../../service/keys/list-keys.ts';
import { type Invalid, invalid } from '../../service/outcome.ts';
import type { Problem } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { beside, facts, field, head, problemSummary } from '../markup/parts.ts';
import { endWords, expiryFact, holderFact, lastUse } from './cells.ts';
import { type KeyContext, refuseElsewhere, upToList } from './context.ts';
import { LIFE_LABEL } from './life-field.ts';
import { RESTRICTION_LABELS } from './restriction-fields.ts';

// Rotating, renaming and revoking a key are confirmed on a page of their own, so that they work without a script.

export function keyIdOf({ params }: KeyContext): string {
  return params['keyId'] ?? '';
}

/** The key that the path names, and what the actor may do with it. */
export async function readKey(context: KeyContext) {
  const { dashboard, actor, holderId, now } = context;
  const found = await getKey(dashboard.db, actor, { keyId: keyIdOf(context), userId: holderId, now });
  refuseElsewhere(context, found.holder);
  return found;
}

type Confirmation = {
  /** "Rotate": the start of the title. */
  readonly verb: string;
  readonly key: KeyDetails;
  readonly holder: KeyAccess['holder'];
  readonly content: Html;
  readonly problem?: Problem | null;
  /** What the last submission did without saving. */
  readonly notice?: Html | false;
  /** Whether the response to the form is the form again, even if it was not refused. */
  readonly isForm?: boolean;
};

const LABELS = {
  name: 'Name',
  integration: 'Integration',
  key_name: 'Name of the key',
  expiry: LIFE_LABEL,
  ...RESTRICTION_LABELS,
};

export function confirmationPage(
  context: KeyContext,
  { verb, key, holder, content, problem = null, notice = false, isForm = problem !== null }: Confirmation,
): View {
  const title = `${verb} ${key.name}`;
  const main = html`${head({ title, up: upToList(context) })}
${problemSummary(problem, LABELS)}${notice}
${beside({ title: 'The key', about: keyFacts(context, key, holder), content })}`;
  return page(context, { title, main, problem, isForm });
}

export function buttons(label: string, kind: 'primary' | 'danger', backUrl: string): Html {
  return html`<div class="actions"><button class="button ${kind}">${label}</button><a class="button plain" href="${backUrl}">Cancel</a></div>`;
}

/** In place of the form, for a key that has ended. */
export function alreadyEnded(key: KeyDetails, backUrl: string): Html {
  return html`<p>There is nothing left to do: this key ${endWords(key)}.</p>
<p class="actions"><a class="button" href="${backUrl}">See the list</a></p>`;
}

/** Whose key it is, which one, and whether it is in use. */
function keyFacts(context: KeyContext, key: KeyDetails, holder: KeyAccess['holder']): Html {
  return facts([
    holderFact(context, holder),
    { name: 'Key', value: html`<code>${key.prefix}…</code>` },
    { name: 'Last used', value: lastUse(key, context.now) },
    expiryFact(key),
  ]);
}

/** To rotate or revoke another user's key that was used within the last 24 hours, the actor must type its name. */
function mustTypeName({ isOwn, now }: KeyContext, { state, lastUsedAt }: KeyDetails): boolean {
  return !isOwn && state === 'active' && lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < DAY_MS;
}

/** The field for the name of the key; `false` if it need not be typed. */
export function nameField(context: KeyContext, key: KeyDetails, { problem, typed }: NameTyped): Html | false {
  if (!mustTypeName(context, key)) return false;
  const hint = html`The key is in use. To confirm, type its name: <strong>${key.name}</strong>`;
  return field(
    { name: KEY_NAME, label: LABELS[KEY_NAME], hint, errors: problem?.fields },
    (attributes) =>
      html`<input ${attributes} type="text" value="${typed}" maxlength="100" required autocomplete="off" spellcheck="false">`,
  );
}

export const KEY_NAME = 'key_name';

export type NameTyped = { readonly problem: Problem | null; readonly typed: string };
/** The form as it is first shown. */
export const NOTHING_TYPED: NameTyped = { problem: null, typed: '' };

/** Returns `null` if the typed name is right, or none is needed. */
export async function findNameMismatch(context: KeyContext, typed: string): Promise<Invalid | null> {
  if (context.isOwn) return null;
  const { key } = await readKey(context);
  if (!mustTypeName(context, key) || nameKeyOf(typed).equals(nameKeyOf(key.name))) return null;
  return invalid(KEY_NAME, `must be “${key.name}”.`);
}
