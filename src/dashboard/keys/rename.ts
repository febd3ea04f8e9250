import { type Html, html } from '../../html/html.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { renameKey } from '../../service/keys/rename-key.ts';
import { keyUrl } from '../addresses.ts';
import { conflictPage } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { field, postForm } from '../markup/parts.ts';
import { alreadyEnded, buttons, confirmationPage, keyIdOf, readKey } from './confirmation.ts';
import { type KeyContext, toList } from './context.ts';
import { listUrlAfter } from './list.ts';
import { refusalOf, refusedPage } from './refused.ts';

export async function showRename(context: KeyContext): Promise<View> {
  return renamePage(context, null);
}

export async function rename(context: KeyContext, form: Form<'name'>): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const [keyId, name] = [keyIdOf(context), form.text('name')];
  const outcome = await renameKey(dashboard.db, actor, { keyId, userId: holderId, name });
  switch (outcome.kind) {
    case 'done':
      return redirect(listUrlAfter('renamed', context, keyId));
    case 'invalid':
    case 'name-taken':
      return renamePage(context, { problem: problemOf(outcome), name });
    case 'conflict':
      return conflictPage(context, outcome, toList(context));
    case 'refused':
      return refusedPage(context, outcome);
  }
}

/** `retry`: the form was refused, and is shown again with the name that was sent. */
async function renamePage(context: KeyContext, retry: { problem: Problem; name: string } | null): Promise<View> {
  const { key, ...access } = await readKey(context);
  const refused = refusalOf(context, access, 'rename');
  if (refused !== null) return refusedPage(context, refused);
  const problem = retry?.problem ?? null;
  const content =
    key.state === 'active'
      ? renameForm(context, key, { problem, name: retry?.name ?? key.name })
      : alreadyEnded(key, context.backUrl);
  return confirmationPage(context, { verb: 'Rename', key, holder: access.holder, content, problem });
}

function renameForm(
  context: KeyContext,
  key: KeyDetails,
  { problem, name }: { problem: Problem | null; name: string },
): Html {
  const { backUrl, formToken } = context;
  const hint = html`The name of <code>${key.prefix}…</code>. The key itself stays the same.`;
  return postForm(
    { action: keyUrl(key, context, 'rename'), formToken },
    html`${field(
      { name: 'name', label: 'Name', hint, errors: problem?.fields },
      (attributes) =>
        html`<input ${attributes} type="text" value="${name}" maxlength="100" required autocomplete="off">`,
    )}${buttons('Rename', 'primary', backUrl)}`,
  );
}
