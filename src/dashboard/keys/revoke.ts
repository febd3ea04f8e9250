import { html } from '../../html/html.ts';
import { revokeKey } from '../../service/keys/revoke-key.ts';
import { extraValue } from '../forms/fields.ts';
import { emptyOf, type Filled, type Form, fieldsOf } from '../forms/form.ts';
import { problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { hiddenInput } from '../markup/parts.ts';
import { movingViewOf } from '../routing/errors.ts';
import {
  checkTypedName,
  confirmationPage,
  isInUse,
  keyNameField,
  keyOf,
  mustTypeName,
  readKey,
  recentTraffic,
  refusedPage,
} from './confirmation.ts';
import type { KeyContext } from './context.ts';
import { listUrlAfter } from './list.ts';

export const REVOKE_FORM = {
  keyName: keyNameField,
  /** Sent by the page that asks for a second confirmation. */
  confirmed: extraValue(),
};

export async function showRevoke(context: KeyContext): Promise<View> {
  return revokePage(context, { typed: emptyOf(REVOKE_FORM), problem: null });
}

export async function revoke(context: KeyContext, { values, typed }: Form<typeof REVOKE_FORM>): Promise<View> {
  const mismatch = await checkTypedName(context, values.keyName);
  if (mismatch !== null) return revokePage(context, { problem: problemOf(mismatch), typed });
  // For a key of another holder, the typed name is the second confirmation.
  if (context.isOwn && values.confirmed === undefined && isInUse(context, (await readKey(context)).key))
    return revokePage(context, { problem: null, typed }, { isSecond: true });
  const outcome = await revokeKey(context.dashboard.db, context.actor, keyOf(context));
  switch (outcome.kind) {
    case 'done':
      if (context.isMoving) return movingViewOf(context, 'The API key is revoked.');
      return redirect(listUrlAfter('revoked', context));
    case 'conflict':
      return refusedPage(context, outcome);
  }
}

/** Returns the page with the form. `isSecond` means that the key is in use, so the actor must confirm a second time. */
async function revokePage(
  context: KeyContext,
  filled: Filled<typeof REVOKE_FORM>,
  { isSecond = false } = {},
): Promise<View> {
  return confirmationPage(context, 'revoke', {
    fields: REVOKE_FORM,
    problem: filled.problem,
    show: async (key) => {
      const button = isSecond ? 'Revoke the key in use' : 'Revoke';
      const words =
        key.state === 'expired'
          ? html`<p>The key <code>${key.prefix}…</code> has expired and is refused already. Once it is revoked, its name is free for another key.</p>`
          : html`<div class="notice danger"${isSecond && html` role="alert"`}>${isSecond && html`<p><strong>Not revoked yet: the key is in use.</strong></p>`}<p><strong>As soon as you press ${button}, <code>${key.prefix}…</code> stops working, and no key replaces it.</strong> Requests that use it are refused with 401. This cannot be undone.</p>${await recentTraffic(context, key)}</div>`;
      const { keyName } = fieldsOf(REVOKE_FORM, filled, { key });
      const fields = [mustTypeName(context, key) && keyName, isSecond && hiddenInput('confirmed', 'yes')];
      return { words, form: { fields, kind: 'danger', button } };
    },
  });
}
