import { html } from '../../html/html.ts';
import { renameKey } from '../../service/keys/rename-key.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { field } from '../markup/parts.ts';
import { actionForm, confirmationPage, keyOf, refusedPage } from './confirmation.ts';
import type { KeyContext } from './context.ts';
import { listUrlAfter } from './list.ts';

export async function showRename(context: KeyContext): Promise<View> {
  return renamePage(context, null);
}

export async function rename(context: KeyContext, form: Form<'name'>): Promise<View> {
  const name = form.text('name');
  const outcome = await renameKey(context.dashboard.db, context.actor, { ...keyOf(context), name });
  switch (outcome.kind) {
    case 'done':
      return redirect(listUrlAfter('renamed', context));
    case 'invalid':
    case 'name-taken':
      return renamePage(context, { problem: problemOf(outcome), name });
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
  }
}

/** `retry`: the form was refused, and is shown again with the name that was sent. */
async function renamePage(context: KeyContext, retry: { problem: Problem; name: string } | null): Promise<View> {
  const problem = retry?.problem ?? null;
  return confirmationPage(context, 'rename', {
    problem,
    show: async (key) => {
      const hint = html`The name of <code>${key.prefix}…</code>. The key itself stays the same.`;
      const fields = field(
        { name: 'name', label: 'Name', hint, errors: problem?.fields },
        (attributes) =>
          html`<input ${attributes} type="text" value="${retry?.name ?? key.name}" maxlength="100" required autocomplete="off">`,
      );
      return { content: actionForm(context, key, { action: 'rename', fields }) };
    },
  });
}
