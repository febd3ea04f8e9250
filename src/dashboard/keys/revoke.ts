import { type Html, html } from '../../html/html.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { revokeKey } from '../../service/keys/revoke-key.ts';
import { keyUrl } from '../addresses.ts';
import { conflictPage, doneDuringMove } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { problemOf } from '../http/problem.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { postForm } from '../markup/parts.ts';
import {
  alreadyEnded,
  buttons,
  confirmationPage,
  findNameMismatch,
  KEY_NAME,
  keyIdOf,
  type NameTyped,
  NOTHING_TYPED,
  nameField,
  readKey,
} from './confirmation.ts';
import { type KeyContext, toList } from './context.ts';
import { listUrlAfter } from './list.ts';

export async function showRevoke(context: KeyContext): Promise<View> {
  return revokePage(context, NOTHING_TYPED);
}

async function revokePage(context: KeyContext, typed: NameTyped): Promise<View> {
  const { key, holder, mayRevoke } = await readKey(context);
  if (!mayRevoke) throw new RequestError('not-allowed');
  const canEnd = key.state === 'active' || key.state === 'expired';
  const content = canEnd ? revokeForm(context, { key, typed }) : alreadyEnded(key, context.backUrl);
  return confirmationPage(context, { verb: 'Revoke', key, holder, content, problem: typed.problem });
}

export async function revoke(context: KeyContext, form: Form<'key_name'>): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const typed = form.text(KEY_NAME);
  const mismatch = await findNameMismatch(context, typed);
  if (mismatch !== null) return revokePage(context, { problem: problemOf(mismatch), typed });
  const keyId = keyIdOf(context);
  const outcome = await revokeKey(dashboard.db, actor, { keyId, userId: holderId });
  switch (outcome.kind) {
    case 'done':
      if (context.isMoving) return doneDuringMove(context, 'The API key is revoked.');
      return redirect(listUrlAfter('revoked', context, keyId));
    case 'conflict':
      return conflictPage(context, outcome, toList(context));
  }
}

type FormProps = { readonly key: KeyDetails; readonly typed: NameTyped };

function revokeForm(context: KeyContext, { key, typed }: FormProps): Html {
  const { backUrl, formToken } = context;
  const effect =
    key.state === 'expired'
      ? html`<p>The key <code>${key.prefix}…</code> has expired and is refused already. Once it is revoked, its name is free for another key.</p>`
      : html`<div class="notice danger"><p><strong>As soon as you press Revoke, <code>${key.prefix}…</code> stops working, and no key replaces it.</strong> Requests that use it are refused with 401. This cannot be undone.</p></div>`;
  return html`${effect}
${postForm({ action: keyUrl(key, context, 'revoke'), formToken }, html`${nameField(context, key, typed)}${buttons('Revoke', 'danger', backUrl)}`)}`;
}
