import { formatCount, formatDay } from '../../domain/format.ts';
import type { KeyPolicy } from '../../domain/role.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import { findBeyondPolicy, findInvalidLife, type Life, lifeUntil } from '../../service/keys/key-life.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { rotateKey } from '../../service/keys/rotate-key.ts';
import { type Invalid, joinInvalid } from '../../service/outcome.ts';
import { conflictPage } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { problemOf } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { hidden, postForm } from '../markup/parts.ts';
import { actionUrl } from './actions.ts';
import {
  alreadyEnded,
  buttons,
  confirmationPage,
  findNameMismatch,
  KEY_NAME,
  keyIdOf,
  type NameTyped,
  NOTHING_TYPED,
  nameField,
  readKey,
} from './confirmation.ts';
import { type KeyContext, toList } from './context.ts';
import { issuedPage } from './issued.ts';
import { defaultLife, lifeField, lifeOptions, readLifeDays } from './life-field.ts';
import { refusalOf, refusedPage } from './refused.ts';

/** What the form was filled in with. */
type Sent = NameTyped & {
  /** `null` if it is shown for the first time. */
  readonly expiry: string | null;
};

export async function showRotate(context: KeyContext): Promise<View> {
  return rotatePage(context, { ...NOTHING_TYPED, expiry: null });
}

async function rotatePage(context: KeyContext, sent: Sent): Promise<View> {
  const { key, ...access } = await readKey(context);
  const refused = refusalOf(context, access, 'rotate');
  if (refused !== null) return refusedPage(context, refused);
  const content =
    key.state === 'active' ? rotateForm(context, { key, access, sent }) : alreadyEnded(key, context.backUrl);
  return confirmationPage(context, { verb: 'Rotate', key, holder: access.holder, content, problem: sent.problem });
}

export async function rotate(context: KeyContext, form: Form<'form_id' | 'key_name' | 'expiry'>): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const formId = readFormId(context, form.text('form_id'));
  const [typed, expiry] = [form.text(KEY_NAME), form.text('expiry')];
  const lifeDays = expiry === '' || expiry === KEEP ? undefined : readLifeDays(expiry);
  const mismatch = await findNameMismatch(context, typed);
  if (mismatch !== null) {
    const wrongLife = await findWrongLife(context, lifeDays);
    return rotatePage(context, { problem: problemOf(joinInvalid([wrongLife, mismatch])), typed, expiry });
  }
  const outcome = await rotateKey(dashboard.db, actor, {
    keyId: keyIdOf(context),
    userId: holderId,
    environment: dashboard.environment,
    lifeDays,
    formId,
  });
  switch (outcome.kind) {
    case 'issued':
      return issuedPage(context, outcome, { replacedPrefix: outcome.replacedPrefix });
    case 'invalid':
      return rotatePage(context, { problem: problemOf(outcome), typed, expiry });
    case 'conflict':
      return conflictPage(context, outcome, toList(context));
    case 'refused':
      return refusedPage(context, outcome);
    case 'already-sent':
      return alreadySentPage(context, 'rotation', toList(context));
  }
}

/** With an undefined `lifeDays`, the successor keeps the expiry. Returns `null` if the organization allows this life. */
async function findWrongLife(context: KeyContext, lifeDays: number | null | undefined): Promise<Invalid | null> {
  const { key, policy } = await readKey(context);
  const life: Life = {
    field: 'expiry',
    lifeDays: lifeDays === undefined ? lifeUntil(key.expiresAt, context.now) : lifeDays,
  };
  return findInvalidLife(life) ?? findBeyondPolicy(life, policy);
}

type FormProps = { readonly key: KeyDetails; readonly access: KeyAccess; readonly sent: Sent };

function rotateForm(context: KeyContext, { key, access, sent }: FormProps): Html {
  const { backUrl, formToken } = context;
  return html`<p>A new key replaces <strong>${key.name}</strong>, with the same permissions. You see it once, on the next page.</p>
<div class="notice warn"><p><strong>As soon as you press Rotate, <code>${key.prefix}…</code> stops working.</strong> Requests that still use it are refused with 401, so put the new key in place at once. This cannot be undone.</p></div>
${postForm(
  { action: actionUrl(key, 'Rotate', context), formToken },
  html`${hidden('form_id', newFormId(context))}${expiryField(context, { key, access, sent })}${nameField(context, key, sent)}${buttons('Rotate', 'primary', backUrl)}`,
)}`;
}

const KEEP = 'keep';

/** The old expiry comes first, if the organization still allows it. */
function expiryField({ now }: KeyContext, { key: { expiresAt }, access: { policy }, sent }: FormProps): Html {
  const mayKeep = findBeyondPolicy({ field: 'expiry', lifeDays: lifeUntil(expiresAt, now) }, policy) === null;
  const kept = expiresAt === null ? 'Keep it: never expires' : `Keep it, until ${formatDay(expiresAt)}`;
  const lives = lifeOptions(policy, now).filter(({ value }) => expiresAt !== null || value !== 'never');
  const options = mayKeep ? [{ value: KEEP, words: kept }, ...lives] : lives;
  return lifeField({
    hint: mayKeep ? 'When the new key expires.' : `When the new key expires. ${whyNotKept(expiresAt, policy)}`,
    errors: sent.problem?.fields,
    options,
    chosen: options.find(({ value }) => value === sent.expiry)?.value ?? (mayKeep ? KEEP : defaultLife(policy)),
  });
}

function whyNotKept(expiresAt: Date | null, { maxKeyLifeDays }: KeyPolicy): string {
  return expiresAt === null
    ? 'Your organization no longer allows keys that never expire.'
    : `The old key would expire on ${formatDay(expiresAt)}: your organization now allows at most ${formatCount(maxKeyLifeDays, 'day')}.`;
}
