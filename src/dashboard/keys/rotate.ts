import { formatCount } from '../../domain/text.ts';
import { formatDay } from '../../domain/time.ts';
import { html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { renewalMistakesOf, renewalsOf, rotateKey } from '../../service/keys/rotate-key.ts';
import { joinInvalid } from '../../service/outcome.ts';
import { formId, type Option, optional, select, withParser } from '../forms/fields.ts';
import { emptyOf, type Filled, type Form, fieldsOf } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import { newKeyUrl } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import {
  checkTypedName,
  confirmationPage,
  keyNameField,
  keyOf,
  mustTypeName,
  readKey,
  recentTraffic,
  refusedPage,
} from './confirmation.ts';
import { type KeyContext, toList } from './context.ts';
import {
  addressesField,
  addUsedButton,
  defaultLife,
  LIFE_LABEL,
  lifeOptions,
  parseLifeDays,
  usedAddresses,
} from './fields.ts';
import { issuedPage } from './issued.ts';

type RotateProps = { readonly context: KeyContext; readonly key: KeyDetails; readonly access: KeyAccess };

const KEEP = 'keep';

export const ROTATE_FORM = {
  formId: formId(),
  expiry: withParser(
    select({
      label: LIFE_LABEL,
      hint: (props: RotateProps) => `When the new key expires.${whyNotKept(props)}`,
      options: (props: RotateProps) => expiryOptions(props),
    }),
    (text) => (text === '' || text === KEEP ? undefined : parseLifeDays(text)),
  ),
  addresses: optional(addressesField),
  keyName: keyNameField,
  take: addUsedButton,
};

type Filling = Filled<typeof ROTATE_FORM>;

export async function showRotate(context: KeyContext): Promise<View> {
  return rotatePage(context, { typed: emptyOf(ROTATE_FORM), problem: null });
}

export async function rotate(context: KeyContext, { values, typed }: Form<typeof ROTATE_FORM>): Promise<View> {
  const { dashboard, actor } = context;
  const { formId, expiry: lifeDays, addresses, keyName, take } = values;
  if (take !== undefined) return rotatePage(context, { typed, problem: null }, { addsUsed: true });
  const mismatch = await checkTypedName(context, keyName);
  if (mismatch !== null) {
    const { key, policy } = await readKey(context);
    const others = renewalMistakesOf(key, policy, { lifeDays, addresses, now: context.now });
    return rotatePage(context, { typed, problem: problemOf(joinInvalid([...others, mismatch])) });
  }
  const { environment, cell } = dashboard;
  const rotation = { ...keyOf(context), environment, cell, lifeDays, addresses, formId };
  const outcome = await rotateKey(dashboard.db, actor, rotation);
  switch (outcome.kind) {
    case 'issued':
      return issuedPage(context, outcome, { replacedPrefix: outcome.replacedPrefix });
    case 'invalid':
      return rotatePage(context, { typed, problem: problemOf(outcome) });
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
    case 'already-sent':
      return alreadySentPage(context, 'rotation', toList(context));
  }
}

/** Returns the page with the form. If `addsUsed` is true, the addresses from which the key was used are added to the field. */
async function rotatePage(context: KeyContext, { typed, problem }: Filling, { addsUsed = false } = {}): Promise<View> {
  return confirmationPage(context, 'rotate', {
    fields: ROTATE_FORM,
    problem,
    show: async (key, access) => {
      const { now } = context;
      const used = renewalsOf(key, access.policy, now).includes('addresses')
        ? await usedAddresses(context, key, { text: typed.addresses, addsUsed })
        : null;
      const props = { context, key, access };
      const chosen = expiryOptions(props).find(({ value }) => value === typed.expiry)?.value;
      const filled = { ...typed, expiry: chosen ?? defaultExpiry(props), addresses: used?.addresses ?? '' };
      const { addresses, keyName, ...others } = fieldsOf(ROTATE_FORM, { typed: filled, problem }, props);
      const fields = [Object.values(others), used !== null && addresses, mustTypeName(context, key) && keyName];
      const words = html`<p>A new key replaces <strong>${key.name}</strong>, with the same permissions${used === null && ', allowed addresses'} and rate limit. You see it once, on the next page.</p>
<div class="notice warn"><p><strong>As soon as you press Rotate, <code>${key.prefix}…</code> stops working.</strong> Requests that still use it are refused with 401, so put the new key in place at once. This cannot be undone.</p>${await recentTraffic(context, key)}
<p>For a change without interruption, <a href="${newKeyUrl(context.listUrl, key.id)}">create a second key like this one</a>, and revoke this one once nothing uses it any more.</p></div>`;
      return { words, form: { fields, rest: used?.section }, notice: used?.notice ?? false };
    },
  });
}

function mayKeepExpiry({ context, key, access }: RotateProps): boolean {
  return !renewalsOf(key, access.policy, context.now).includes('expiry');
}

/** Returns the options for the expiry. The first is the old expiry if the organization still allows it. */
function expiryOptions(props: RotateProps): readonly Option[] {
  const { context, access, key } = props;
  const { expiresAt } = key;
  const kept = expiresAt === null ? 'Keep it: never expires' : `Keep it, until ${formatDay(expiresAt)}`;
  const lives = lifeOptions(access.policy, context.now).filter(({ value }) => expiresAt !== null || value !== 'never');
  return mayKeepExpiry(props) ? [{ value: KEEP, words: kept }, ...lives] : lives;
}

/** Returns the option that is selected by default: the old expiry, unless it is no longer allowed or the key expires soon. */
function defaultExpiry(props: RotateProps): string {
  return mayKeepExpiry(props) && !props.key.isExpiringSoon ? KEEP : defaultLife(props.access.policy);
}

function whyNotKept(props: RotateProps): string {
  if (mayKeepExpiry(props)) return '';
  const { expiresAt } = props.key;
  return expiresAt === null
    ? ' Your organization no longer allows keys that never expire.'
    : ` The old key would expire on ${formatDay(expiresAt)}: your organization now allows at most ${formatCount(props.access.policy.maxKeyLifeDays, 'day')}.`;
}
