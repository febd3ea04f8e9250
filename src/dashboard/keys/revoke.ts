import { html } from '../../html/html.ts';
import { revokeKey } from '../../service/keys/revoke-key.ts';
import { emptyOf, type Filled, type Form, fieldsOf } from '../forms/form.ts';
import { problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { movingViewOf } from '../routing/errors.ts';
import { checkTypedName, confirmationPage, keyNameField, keyOf, mustTypeName, refusedPage } from './confirmation.ts';
import type { KeyContext } from './context.ts';
import { listUrlAfter } from './list.ts';

export const REVOKE_FORM = { keyName: keyNameField };

export async function showRevoke(context: KeyContext): Promise<View> {
  return revokePage(context, { typed: emptyOf(REVOKE_FORM), problem: null });
}

export async function revoke(context: KeyContext, { values, typed }: Form<typeof REVOKE_FORM>): Promise<View> {
  const mismatch = await checkTypedName(context, values.keyName);
  if (mismatch !== null) return revokePage(context, { problem: problemOf(mismatch), typed });
  const outcome = await revokeKey(context.dashboard.db, context.actor, keyOf(context));
  switch (outcome.kind) {
    case 'done':
      if (context.isMoving) return movingViewOf(context, 'The API key is revoked.');
      return redirect(listUrlAfter('revoked', context));
    case 'conflict':
      return refusedPage(context, outcome);
  }
}

async function revokePage(context: KeyContext, filled: Filled<typeof REVOKE_FORM>): Promise<View> {
  return confirmationPage(context, 'revoke', {
    fields: REVOKE_FORM,
    problem: filled.problem,
    show: async (key) => {
      const words =
        key.state === 'expired'
          ? html`<p>The key <code>${key.prefix}…</code> has expired and is refused already. Once it is revoked, its name is free for another key.</p>`
          : html`<div class="notice danger"><p><strong>As soon as you press Revoke, <code>${key.prefix}…</code> stops working, and no key replaces it.</strong> Requests that use it are refused with 401. This cannot be undone.</p></div>`;
      const { keyName } = fieldsOf(REVOKE_FORM, filled, { key });
      const fields = mustTypeName(context, key) && keyName;
      return { words, form: { fields, kind: 'danger' } };
    },
  });
}
