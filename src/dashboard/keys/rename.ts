import { html } from '../../html/html.ts';
import { renameKey } from '../../service/keys/rename-key.ts';
import { text } from '../forms/fields.ts';
import { type Filled, type Form, fieldsOf } from '../forms/form.ts';
import { problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { confirmationPage, keyOf, refusedPage } from './confirmation.ts';
import type { KeyContext } from './context.ts';
import { listUrlAfter } from './list.ts';

export const RENAME_FORM = {
  name: text({
    label: 'Name',
    hint: ({ prefix }: { readonly prefix: string }) =>
      html`The name of <code>${prefix}…</code>. The key itself stays the same.`,
    attributes: html`maxlength="100" required autocomplete="off"`,
  }),
};

export async function showRename(context: KeyContext): Promise<View> {
  return renamePage(context, null);
}

export async function rename(context: KeyContext, { values, typed }: Form<typeof RENAME_FORM>): Promise<View> {
  const outcome = await renameKey(context.dashboard.db, context.actor, { ...keyOf(context), ...values });
  switch (outcome.kind) {
    case 'done':
      return redirect(listUrlAfter('renamed', context));
    case 'invalid':
    case 'name-taken':
      return renamePage(context, { problem: problemOf(outcome), typed });
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
  }
}

/** Returns the page with the form. `refused` is the refused form; `null` if the form is shown for the first time. */
async function renamePage(context: KeyContext, refused: Filled<typeof RENAME_FORM> | null): Promise<View> {
  return confirmationPage(context, 'rename', {
    fields: RENAME_FORM,
    problem: refused?.problem ?? null,
    show: async (key) => ({
      form: { fields: fieldsOf(RENAME_FORM, refused ?? { typed: key, problem: null }, key).name },
    }),
  });
}
