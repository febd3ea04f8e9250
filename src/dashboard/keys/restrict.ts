import { networksOutside } from '../../domain/address-list.ts';
import { formatDay } from '../../domain/format.ts';
import { isUsedLately, type UsedNetwork } from '../../domain/key-usage.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import { readAddresses } from '../../service/keys/key-restrictions.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { restrictKey } from '../../service/keys/restrict-key.ts';
import { findRestrictedKey } from '../../store/api-keys.ts';
import { conflictPage } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { formProblem, type Problem, problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { hidden, postForm } from '../markup/parts.ts';
import { actionUrl } from './actions.ts';
import { alreadyEnded, buttons, confirmationPage, keyIdOf, readKey } from './confirmation.ts';
import { type KeyContext, toList } from './context.ts';
import { listUrlAfter } from './list.ts';
import { refusalOf, refusedPage } from './refused.ts';
import { addressesField, addressesHint, limitField, type RestrictionValues, readLimit } from './restriction-fields.ts';

type Sent = {
  readonly problem: Problem | null;
  readonly values: RestrictionValues;
  /** The networks that the next submission agrees to lock out. */
  readonly lockedOut: readonly string[];
  /** Whether to add the networks from which the key was used. */
  readonly takesUsed: boolean;
};

export async function showRestrict(context: KeyContext): Promise<View> {
  return restrictPage(context, null);
}

export async function restrict(
  context: KeyContext,
  form: Form<'addresses' | 'requests_per_second' | 'locked_out' | 'take'>,
): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const keyId = keyIdOf(context);
  const values = { addresses: form.text('addresses'), requestsPerSecond: form.text('requests_per_second') };
  const lockedOut = form.text('locked_out').split(' ');
  const sent = { problem: null, values, lockedOut, takesUsed: form.has('take') };
  if (sent.takesUsed) return restrictPage(context, sent);
  const outcome = await restrictKey(dashboard.db, actor, {
    keyId,
    userId: holderId,
    addresses: values.addresses,
    requestsPerSecond: readLimit(values.requestsPerSecond),
    requestLimits: dashboard.requestLimits,
    lockedOut,
  });
  switch (outcome.kind) {
    case 'done':
      return redirect(listUrlAfter('restricted', context, keyId));
    case 'invalid':
      return restrictPage(context, { ...sent, problem: problemOf(outcome) });
    case 'locks-out': {
      const problem = formProblem(
        `The key was used within the last day from ${outcome.networks.join(' and ')}, which this list would lock out. Nothing is saved yet. Add the addresses, or confirm below.`,
      );
      return restrictPage(context, { ...sent, problem, lockedOut: [...lockedOut, ...outcome.networks] });
    }
    case 'conflict':
      return conflictPage(context, outcome, toList(context));
    case 'refused':
      return refusedPage(context, outcome);
  }
}

async function restrictPage(context: KeyContext, sent: Sent | null): Promise<View> {
  const { key, ...access } = await readKey(context);
  const refused = refusalOf(context, access, 'restrict');
  if (refused !== null) return refusedPage(context, refused);
  const problem = sent?.problem ?? null;
  const content =
    key.state === 'active' ? await restrictForm(context, { key, access, sent }) : alreadyEnded(key, context.backUrl);
  return confirmationPage(context, { verb: 'Restrict', key, holder: access.holder, content, problem, isForm: true });
}

type FormProps = { readonly key: KeyDetails; readonly access: KeyAccess; readonly sent: Sent | null };

async function restrictForm(context: KeyContext, { key, access, sent }: FormProps): Promise<Html> {
  const { dashboard, actor, holderId, backUrl, formToken } = context;
  const found = await findRestrictedKey(dashboard.db.prisma, actor.scope, { id: key.id, userId: holderId });
  const used = found?.usedNetworks ?? [];
  const saved = { addresses: key.addresses.join('\n'), requestsPerSecond: String(key.requestsPerSecond ?? '') };
  const { addresses, requestsPerSecond } = sent?.values ?? saved;
  const errors = sent?.problem?.fields;
  const isConfirmed = sent?.lockedOut.some((network) => network !== '') === true;
  const shown = sent?.takesUsed === true ? withUsed(addresses, used) : addresses;
  // The button that takes the addresses comes last, because the Enter key presses the first one.
  return html`<p>From where the key may be used, and how much. A change applies at once.</p>
${postForm(
  { action: actionUrl(key, 'Restrict', context), formToken },
  html`${hidden('locked_out', sent?.lockedOut.join(' ').trim() ?? '')}
${addressesField({ hint: addressesHint(access.policy), value: shown, errors })}
${limitField(context, { limits: access.limits, value: requestsPerSecond, errors })}
${buttons(isConfirmed ? 'Lock out and save' : 'Save', isConfirmed ? 'danger' : 'primary', backUrl)}
${usedSection(context, used)}`,
)}`;
}

/** The text, with each network on a line of its own that the text does not contain. */
function withUsed(text: string, used: readonly UsedNetwork[]): string {
  const list = readAddresses(text);
  const networks = used.map(({ network }) => network);
  const missing = list.kind === 'valid' && list.value.length > 0 ? networksOutside(list.value, networks) : networks;
  return [text.trimEnd(), ...missing].filter((line) => line !== '').join('\n');
}

function usedSection({ now }: KeyContext, used: readonly UsedNetwork[]): Html {
  if (used.length === 0)
    return html`<p class="quiet">No address is recorded from which the key was used. Uses are recorded once a minute.</p>`;
  return html`<section aria-labelledby="used"><h3 id="used">Used from</h3>
<ul class="networks">${used.map(
    (each) => html`<li><code>${each.network}</code> <span class="quiet">${dayWords(each, now)}</span></li>`,
  )}</ul>
<p class="hint">The last addresses, and of IPv6 the networks. Uses are recorded once a minute.</p>
<div class="actions"><button class="button" name="take" value="used">Add these addresses</button></div></section>`;
}

function dayWords(used: UsedNetwork, now: Date): string {
  const today = now.toISOString().slice(0, used.day.length);
  if (used.day === today) return 'today';
  if (isUsedLately(used, now)) return 'yesterday';
  return formatDay(new Date(`${used.day}T00:00:00Z`));
}
