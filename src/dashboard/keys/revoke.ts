import { html } from '../../html/html.ts';
import { revokeKey } from '../../service/keys/revoke-key.ts';
import { doneDuringMove } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import {
  actionForm,
  confirmationPage,
  findNameMismatch,
  KEY_NAME,
  keyOf,
  type NameTyped,
  NOTHING_TYPED,
  nameField,
  refusedPage,
} from './confirmation.ts';
import type { KeyContext } from './context.ts';
import { listUrlAfter } from './list.ts';

export async function showRevoke(context: KeyContext): Promise<View> {
  return revokePage(context, NOTHING_TYPED);
}

export async function revoke(context: KeyContext, form: Form<'key_name'>): Promise<View> {
  const typed = form.text(KEY_NAME);
  const mismatch = await findNameMismatch(context, typed);
  if (mismatch !== null) return revokePage(context, { problem: problemOf(mismatch), typed });
  const outcome = await revokeKey(context.dashboard.db, context.actor, keyOf(context));
  switch (outcome.kind) {
    case 'done':
      if (context.isMoving) return doneDuringMove(context, 'The API key is revoked.');
      return redirect(listUrlAfter('revoked', context));
    case 'conflict':
      return refusedPage(context, outcome);
  }
}

async function revokePage(context: KeyContext, sent: NameTyped): Promise<View> {
  return confirmationPage(context, 'revoke', {
    problem: sent.problem,
    show: async (key) => {
      const effect =
        key.state === 'expired'
          ? html`<p>The key <code>${key.prefix}…</code> has expired and is refused already. Once it is revoked, its name is free for another key.</p>`
          : html`<div class="notice danger"><p><strong>As soon as you press Revoke, <code>${key.prefix}…</code> stops working, and no key replaces it.</strong> Requests that use it are refused with 401. This cannot be undone.</p></div>`;
      const fields = html`${nameField(context, key, sent)}`;
      return { content: html`${effect}\n${actionForm(context, key, { action: 'revoke', fields, kind: 'danger' })}` };
    },
  });
}
