import { formatCount, formatDay } from '../../domain/format.ts';
import type { KeyPolicy } from '../../domain/role.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import { findBeyondPolicy, findInvalidLife, type Life, lifeUntil } from '../../service/keys/key-life.ts';
import { findLackingAddresses, readAddresses } from '../../service/keys/key-restrictions.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { type Rotation, rotateKey } from '../../service/keys/rotate-key.ts';
import { joinInvalid } from '../../service/outcome.ts';
import { keyUrl } from '../addresses.ts';
import { conflictPage } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { problemOf } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { hidden, postForm } from '../markup/parts.ts';
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
import { addressesField, REQUIRED_ADDRESSES } from './restriction-fields.ts';
import { TAKE, type UsedAddresses, usedAddresses } from './used-addresses.ts';

/** What the form was filled in with. */
type Sent = NameTyped & {
  /** `null` if it is shown for the first time. */
  readonly expiry: string | null;
  readonly addresses: string;
  /** Whether to add the addresses from which the key was used. */
  readonly takesUsed: boolean;
};

export async function showRotate(context: KeyContext): Promise<View> {
  return rotatePage(context, { ...NOTHING_TYPED, expiry: null, addresses: '', takesUsed: false });
}

async function rotatePage(context: KeyContext, sent: Sent): Promise<View> {
  const { key, ...access } = await readKey(context);
  const refused = refusalOf(context, access, 'rotate');
  if (refused !== null) return refusedPage(context, refused);
  const { problem, takesUsed } = sent;
  const about = { verb: 'Rotate', key, holder: access.holder, problem, isForm: problem !== null || takesUsed };
  if (key.state !== 'active')
    return confirmationPage(context, { ...about, content: alreadyEnded(key, context.backUrl) });
  const lacksAddresses = findLackingAddresses(key, access.policy) !== null;
  const used = lacksAddresses ? await usedAddresses(context, key, { text: sent.addresses, isTaken: takesUsed }) : null;
  const content = rotateForm(context, { key, access, sent, used });
  return confirmationPage(context, { ...about, content, notice: used?.notice ?? false });
}

export async function rotate(
  context: KeyContext,
  form: Form<'form_id' | 'key_name' | 'expiry' | 'addresses' | 'take'>,
): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const formId = readFormId(context, form.text('form_id'));
  const [typed, expiry] = [form.text(KEY_NAME), form.text('expiry')];
  const lifeDays = expiry === '' || expiry === KEEP ? undefined : readLifeDays(expiry);
  const addresses = form.has('addresses') ? form.text('addresses') : undefined;
  const sent = { typed, expiry, addresses: addresses ?? '', takesUsed: form.has(TAKE) };
  if (sent.takesUsed) return rotatePage(context, { ...sent, problem: null });
  const mismatch = await findNameMismatch(context, typed);
  if (mismatch !== null) {
    const others = await findOtherMistakes(context, { lifeDays, addresses });
    return rotatePage(context, { ...sent, problem: problemOf(joinInvalid([...others, mismatch])) });
  }
  const outcome = await rotateKey(dashboard.db, actor, {
    keyId: keyIdOf(context),
    userId: holderId,
    environment: dashboard.environment,
    cell: dashboard.cell,
    lifeDays,
    addresses,
    formId,
  });
  switch (outcome.kind) {
    case 'issued':
      return issuedPage(context, outcome, { replacedPrefix: outcome.replacedPrefix });
    case 'invalid':
      return rotatePage(context, { ...sent, problem: problemOf(outcome) });
    case 'conflict':
      return conflictPage(context, outcome, toList(context));
    case 'refused':
      return refusedPage(context, outcome);
    case 'already-sent':
      return alreadySentPage(context, 'rotation', toList(context));
  }
}

type Renewal = Pick<Rotation, 'lifeDays' | 'addresses'>;

/** The same as those that the rotation would find. */
async function findOtherMistakes(context: KeyContext, { lifeDays, addresses: text }: Renewal) {
  const { key, policy } = await readKey(context);
  const life: Life = {
    field: 'expiry',
    lifeDays: lifeDays === undefined ? lifeUntil(key.expiresAt, context.now) : lifeDays,
  };
  const list = text === undefined ? null : readAddresses(text);
  const addresses = list?.kind === 'valid' ? list.value : key.addresses;
  const wrongList = list?.kind === 'invalid' ? list : findLackingAddresses({ ...key, addresses }, policy);
  return [findInvalidLife(life) ?? findBeyondPolicy(life, policy), wrongList];
}

type FormProps = { readonly key: KeyDetails; readonly access: KeyAccess; readonly sent: Sent };

/** `used`: of a key for which the organization requires a list since it was created; `null` for any other key. */
function rotateForm(
  context: KeyContext,
  { key, access, sent, used }: FormProps & { readonly used: UsedAddresses | null },
): Html {
  const { backUrl, formToken } = context;
  const errors = sent.problem?.fields;
  return html`<p>A new key replaces <strong>${key.name}</strong>, with the same permissions${used === null && ', allowed addresses'} and rate limit. You see it once, on the next page.</p>
<div class="notice warn"><p><strong>As soon as you press Rotate, <code>${key.prefix}…</code> stops working.</strong> Requests that still use it are refused with 401, so put the new key in place at once. This cannot be undone.</p></div>
${postForm(
  { action: keyUrl(key, context, 'rotate'), formToken },
  html`${hidden('form_id', newFormId(context))}${expiryField(context, { key, access, sent })}${used !== null && addressesField({ hint: REQUIRED_ADDRESSES, value: used.addresses, errors })}${nameField(context, key, sent)}${buttons('Rotate', 'primary', backUrl)}${used?.section}`,
)}`;
}

const KEEP = 'keep';

/** The old expiry comes first, if the organization still allows it. It is not the default of a key that expires soon. */
function expiryField(
  { now }: KeyContext,
  { key: { expiresAt, isExpiringSoon }, access: { policy }, sent }: FormProps,
): Html {
  const mayKeep = findBeyondPolicy({ field: 'expiry', lifeDays: lifeUntil(expiresAt, now) }, policy) === null;
  const keepsByDefault = mayKeep && !isExpiringSoon;
  const kept = expiresAt === null ? 'Keep it: never expires' : `Keep it, until ${formatDay(expiresAt)}`;
  const lives = lifeOptions(policy, now).filter(({ value }) => expiresAt !== null || value !== 'never');
  const options = mayKeep ? [{ value: KEEP, words: kept }, ...lives] : lives;
  return lifeField({
    hint: mayKeep ? 'When the new key expires.' : `When the new key expires. ${whyNotKept(expiresAt, policy)}`,
    errors: sent.problem?.fields,
    options,
    chosen: options.find(({ value }) => value === sent.expiry)?.value ?? (keepsByDefault ? KEEP : defaultLife(policy)),
  });
}

function whyNotKept(expiresAt: Date | null, { maxKeyLifeDays }: KeyPolicy): string {
  return expiresAt === null
    ? 'Your organization no longer allows keys that never expire.'
    : `The old key would expire on ${formatDay(expiresAt)}: your organization now allows at most ${formatCount(maxKeyLifeDays, 'day')}.`;
}
