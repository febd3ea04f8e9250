import { html } from '../../html/html.ts';
import { restrictKey } from '../../service/keys/restrict-key.ts';
import { hiddenField, withParser } from '../forms/fields.ts';
import { type Filled, type Form, fieldsOf } from '../forms/form.ts';
import { formProblem, problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { confirmationPage, keyOf, refusedPage } from './confirmation.ts';
import type { KeyContext } from './context.ts';
import { addressesField, addUsedButton, limitField, usedAddresses } from './fields.ts';
import { listUrlAfter } from './list.ts';

export const RESTRICT_FORM = {
  /**
   * The networks in use that the new list excludes, as the warning showed them. The person has agreed to exclude them. Empty if
   * the page showed no warning.
   */
  lockedOut: withParser(hiddenField(), (text) => text.split(' ').filter((network) => network !== '')),
  addresses: addressesField,
  requestsPerSecond: limitField,
  take: addUsedButton,
};

type Filling = Filled<typeof RESTRICT_FORM>;

export async function showRestrict(context: KeyContext): Promise<View> {
  return restrictPage(context, null);
}

export async function restrict(
  context: KeyContext,
  { values, typed: sent }: Form<typeof RESTRICT_FORM>,
): Promise<View> {
  const { dashboard, actor } = context;
  const typed = { ...sent, lockedOut: '' };
  if (values.take !== undefined) return restrictPage(context, { typed, problem: null }, { addsUsed: true });
  const { requestLimits } = dashboard;
  const outcome = await restrictKey(dashboard.db, actor, { ...keyOf(context), ...values, requestLimits });
  switch (outcome.kind) {
    case 'done':
      return redirect(listUrlAfter('restricted', context));
    case 'invalid':
      return restrictPage(context, { typed, problem: problemOf(outcome) });
    case 'locks-out': {
      const problem = formProblem(
        `This list would lock out addresses from which the key was used within the last day: ${outcome.networks.join(', ')}. Nothing is saved yet. Add the addresses, or confirm below.`,
      );
      const lockedOut = [...values.lockedOut, ...outcome.networks].join(' ');
      return restrictPage(context, { typed: { ...typed, lockedOut }, problem });
    }
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
  }
}

/**
 * Returns the page with the form. `sent` is the submitted form; `null` if the form is shown for the first time. If `addsUsed` is
 * true, the addresses from which the key was used are added to the field.
 */
async function restrictPage(context: KeyContext, sent: Filling | null, { addsUsed = false } = {}): Promise<View> {
  return confirmationPage(context, 'restrict', {
    fields: RESTRICT_FORM,
    problem: sent?.problem ?? null,
    show: async (key, access) => {
      const { typed, problem }: Filling = sent ?? {
        typed: {
          lockedOut: '',
          addresses: key.addresses.join('\n'),
          requestsPerSecond: String(key.requestsPerSecond ?? ''),
        },
        problem: null,
      };
      const used = await usedAddresses(context, key, { text: typed.addresses, addsUsed });
      const filled = { typed: { ...typed, addresses: used.addresses }, problem };
      const fields = Object.values(fieldsOf(RESTRICT_FORM, filled, { access, context }));
      const button = typed.lockedOut === '' ? 'Save' : 'Lock out and save';
      const kind = typed.lockedOut === '' ? 'primary' : 'danger';
      return {
        words: html`<p>From where the key may be used, and how much. A change applies at once.</p>`,
        form: { fields, button, kind, rest: used.section },
        notice: used.notice,
      };
    },
  });
}
