import type { KeyPolicy } from '../../domain/people/role.ts';
import { formatCount } from '../../domain/text.ts';
import { formatDay } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import { checkAddresses, checkLifePolicy, lifeUntil } from '../../service/keys/key-rules.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { renewalMistakesOf, rotateKey } from '../../service/keys/rotate-key.ts';
import { joinInvalid } from '../../service/outcome.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { problemOf } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { hidden } from '../markup/parts.ts';
import {
  actionForm,
  confirmationPage,
  findNameMismatch,
  KEY_NAME,
  keyOf,
  type NameTyped,
  NOTHING_TYPED,
  nameField,
  readKey,
  refusedPage,
} from './confirmation.ts';
import { type KeyContext, toList } from './context.ts';
import {
  addressesField,
  defaultLife,
  lifeField,
  lifeOptions,
  REQUIRED_ADDRESSES,
  readLifeDays,
  TAKE,
  type UsedAddresses,
  usedAddresses,
} from './fields.ts';
import { issuedPage } from './issued.ts';

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

export async function rotate(
  context: KeyContext,
  form: Form<'form_id' | 'key_name' | 'expiry' | 'addresses' | 'take'>,
): Promise<View> {
  const { dashboard, actor } = context;
  const formId = readFormId(context, form.text('form_id'));
  const [typed, expiry] = [form.text(KEY_NAME), form.text('expiry')];
  const lifeDays = expiry === '' || expiry === KEEP ? undefined : readLifeDays(expiry);
  const renewal = { lifeDays, addresses: form.has('addresses') ? form.text('addresses') : undefined };
  const sent = { typed, expiry, addresses: renewal.addresses ?? '', takesUsed: form.has(TAKE) };
  if (sent.takesUsed) return rotatePage(context, { ...sent, problem: null });
  const mismatch = await findNameMismatch(context, typed);
  if (mismatch !== null) {
    const { key, policy } = await readKey(context);
    const others = renewalMistakesOf(key, policy, { ...renewal, now: context.now });
    return rotatePage(context, { ...sent, problem: problemOf(joinInvalid([...others, mismatch])) });
  }
  const { environment, cell } = dashboard;
  const outcome = await rotateKey(dashboard.db, actor, { ...keyOf(context), environment, cell, ...renewal, formId });
  switch (outcome.kind) {
    case 'issued':
      return issuedPage(context, outcome, { replacedPrefix: outcome.replacedPrefix });
    case 'invalid':
      return rotatePage(context, { ...sent, problem: problemOf(outcome) });
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
    case 'already-sent':
      return alreadySentPage(context, 'rotation', toList(context));
  }
}

async function rotatePage(context: KeyContext, sent: Sent): Promise<View> {
  return confirmationPage(context, 'rotate', {
    problem: sent.problem,
    show: async (key, access) => {
      const lacksAddresses = checkAddresses(key, access.policy) !== null;
      const taken = { text: sent.addresses, isTaken: sent.takesUsed };
      const used = lacksAddresses ? await usedAddresses(context, key, taken) : null;
      return { content: rotateForm(context, { key, access, sent, used }), notice: used?.notice ?? false };
    },
  });
}

type FormProps = { readonly key: KeyDetails; readonly access: KeyAccess; readonly sent: Sent };

/** `used` is `null` unless the organization requires a list of addresses, and the key has none. */
function rotateForm(
  context: KeyContext,
  { key, access, sent, used }: FormProps & { readonly used: UsedAddresses | null },
): Html {
  const errors = sent.problem?.fields;
  const fields = html`${hidden('form_id', newFormId(context))}${expiryField(context, { key, access, sent })}${used !== null && addressesField({ hint: REQUIRED_ADDRESSES, value: used.addresses, errors })}${nameField(context, key, sent)}`;
  return html`<p>A new key replaces <strong>${key.name}</strong>, with the same permissions${used === null && ', allowed addresses'} and rate limit. You see it once, on the next page.</p>
<div class="notice warn"><p><strong>As soon as you press Rotate, <code>${key.prefix}…</code> stops working.</strong> Requests that still use it are refused with 401, so put the new key in place at once. This cannot be undone.</p></div>
${actionForm(context, key, { action: 'rotate', fields, rest: used?.section })}`;
}

const KEEP = 'keep';

/** The old expiry comes first, if the organization still allows it. It is not the default of a key that expires soon. */
function expiryField(
  { now }: KeyContext,
  { key: { expiresAt, isExpiringSoon }, access: { policy }, sent }: FormProps,
): Html {
  const mayKeep = checkLifePolicy({ field: 'expiry', lifeDays: lifeUntil(expiresAt, now) }, policy) === null;
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
