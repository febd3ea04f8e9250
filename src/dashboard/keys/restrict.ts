import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { restrictKey } from '../../service/keys/restrict-key.ts';
import type { Form } from '../http/forms.ts';
import { formProblem, type Problem, problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { hidden } from '../markup/parts.ts';
import { actionForm, confirmationPage, keyOf, refusedPage } from './confirmation.ts';
import type { KeyContext } from './context.ts';
import {
  addressesField,
  addressesHint,
  limitField,
  type RestrictionValues,
  readLimit,
  TAKE,
  type UsedAddresses,
  usedAddresses,
} from './fields.ts';
import { listUrlAfter } from './list.ts';

type Sent = {
  readonly problem: Problem | null;
  readonly values: RestrictionValues;
  /** The networks that the next submission agrees to lock out. Empty without a warning. */
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
  const { dashboard, actor } = context;
  const values = { addresses: form.text('addresses'), requestsPerSecond: form.text('requests_per_second') };
  const lockedOut = form.text('locked_out').split(' ');
  const sent = { problem: null, values, lockedOut: [], takesUsed: form.has(TAKE) };
  if (sent.takesUsed) return restrictPage(context, sent);
  const outcome = await restrictKey(dashboard.db, actor, {
    ...keyOf(context),
    addresses: values.addresses,
    requestsPerSecond: readLimit(values.requestsPerSecond),
    requestLimits: dashboard.requestLimits,
    lockedOut,
  });
  switch (outcome.kind) {
    case 'done':
      return redirect(listUrlAfter('restricted', context));
    case 'invalid':
      return restrictPage(context, { ...sent, problem: problemOf(outcome) });
    case 'locks-out': {
      const problem = formProblem(
        `This list would lock out addresses from which the key was used within the last day: ${outcome.networks.join(', ')}. Nothing is saved yet. Add the addresses, or confirm below.`,
      );
      return restrictPage(context, { ...sent, problem, lockedOut: [...lockedOut, ...outcome.networks] });
    }
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
  }
}

async function restrictPage(context: KeyContext, sent: Sent | null): Promise<View> {
  return confirmationPage(context, 'restrict', {
    problem: sent?.problem ?? null,
    show: async (key, access) => {
      const used = await usedAddresses(context, key, {
        text: sent?.values.addresses ?? key.addresses.join('\n'),
        isTaken: sent?.takesUsed === true,
      });
      return { content: restrictForm(context, { key, access, sent, used }), notice: used.notice };
    },
  });
}

type FormProps = {
  readonly key: KeyDetails;
  readonly access: KeyAccess;
  readonly sent: Sent | null;
  readonly used: UsedAddresses;
};

function restrictForm(context: KeyContext, { key, access, sent, used }: FormProps): Html {
  const requestsPerSecond = sent?.values.requestsPerSecond ?? String(key.requestsPerSecond ?? '');
  const errors = sent?.problem?.fields;
  const isConfirmed = sent?.lockedOut.some((network) => network !== '') === true;
  const fields = html`${hidden('locked_out', sent?.lockedOut.join(' ').trim() ?? '')}
${addressesField({ hint: addressesHint(access.policy), value: used.addresses, errors })}
${limitField(context, { limits: access.limits, value: requestsPerSecond, errors })}`;
  const label = isConfirmed ? 'Lock out and save' : 'Save';
  const kind = isConfirmed ? 'danger' : 'primary';
  return html`<p>From where the key may be used, and how much. A change applies at once.</p>
${actionForm(context, key, { action: 'restrict', fields, label, kind, rest: used.section })}`;
}
