import type { KeyDetails } from '../../service/list-keys.ts';
import { revokeKey } from '../../service/revoke-key.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { type Html, html } from '../markup/html.ts';
import { postForm } from '../markup/parts.ts';
import { alreadyEnded, buttons, confirmationPage, conflictPage, keyIdOf, readKey, usage } from './confirmation.ts';
import type { KeyContext } from './context.ts';

export async function showRevoke(context: KeyContext): Promise<View> {
  const { key, mayRevoke } = await readKey(context);
  if (!mayRevoke) throw new RequestError('not-allowed');
  const canEnd = key.state === 'active' || key.state === 'expired';
  const content = canEnd ? revokeForm(context, key) : alreadyEnded(key, context.listUrl);
  return confirmationPage(context, { verb: 'Revoke', key, content });
}

export async function revoke(context: KeyContext): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const outcome = await revokeKey(dashboard.db, actor, { keyId: keyIdOf(context), userId: holderId });
  switch (outcome.kind) {
    case 'done':
      return redirect(`${context.listUrl}?done=revoked`);
    case 'conflict':
      return conflictPage(context, outcome.message);
  }
}

function revokeForm({ listUrl, formToken, now }: KeyContext, key: KeyDetails): Html {
  const effect =
    key.state === 'expired'
      ? html`<p>The key <code>${key.prefix}…</code> has expired and is refused already. Once it is revoked, its name is free for another key.</p>`
      : html`<div class="notice danger"><p><strong>As soon as you press Revoke, <code>${key.prefix}…</code> stops working, and no key replaces it.</strong> Requests that use it are refused with 401. This cannot be undone.</p></div>`;
  return html`${effect}
${usage(key, now)}
${postForm({ action: `${listUrl}/${key.id}/revoke`, formToken }, buttons('Revoke', 'danger', listUrl))}`;
}
