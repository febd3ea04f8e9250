import type { KeyAccess } from '../../service/key-access.ts';
import type { KeyDetails } from '../../service/list-keys.ts';
import { rotateKey } from '../../service/rotate-key.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import type { View } from '../http/view.ts';
import { type Html, html } from '../markup/html.ts';
import { hidden, postForm } from '../markup/parts.ts';
import {
  alreadyEnded,
  buttons,
  confirmationPage,
  conflictPage,
  findNameNotTyped,
  KEY_NAME,
  keyFacts,
  keyIdOf,
  type NameTyped,
  NOTHING_TYPED,
  nameField,
  readKey,
} from './confirmation.ts';
import { type KeyContext, toList } from './context.ts';
import { issuedPage } from './issued.ts';
import { refusalOf, refusedPage } from './refused.ts';

export async function showRotate(context: KeyContext): Promise<View> {
  return rotatePage(context, NOTHING_TYPED);
}

async function rotatePage(context: KeyContext, typed: NameTyped): Promise<View> {
  const { key, ...access } = await readKey(context);
  const refused = refusalOf(context, access, 'rotate');
  if (refused !== null) return refusedPage(context, refused);
  const content =
    key.state === 'active'
      ? rotateForm(context, { key, holder: access.holder, typed })
      : alreadyEnded(key, context.listUrl);
  return confirmationPage(context, { verb: 'Rotate', key, content, problem: typed.problem });
}

export async function rotate(context: KeyContext, form: Form<'form_id' | 'key_name'>): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const formId = readFormId(context, form.text('form_id'));
  const untyped = await findNameNotTyped(context, form.text(KEY_NAME));
  if (untyped !== null) return rotatePage(context, untyped);
  const outcome = await rotateKey(dashboard.db, actor, {
    keyId: keyIdOf(context),
    userId: holderId,
    environment: dashboard.environment,
    formId,
  });
  switch (outcome.kind) {
    case 'issued':
      return issuedPage(context, outcome, { replacedPrefix: outcome.replacedPrefix });
    case 'conflict':
      return conflictPage(context, outcome.message);
    case 'refused':
      return refusedPage(context, outcome);
    case 'already-sent':
      return alreadySentPage(context, 'rotation', toList(context));
  }
}

type FormProps = { readonly key: KeyDetails; readonly holder: KeyAccess['holder']; readonly typed: NameTyped };

function rotateForm(context: KeyContext, { key, holder, typed }: FormProps): Html {
  const { listUrl, formToken } = context;
  return html`<p>A new key replaces <strong>${key.name}</strong>, with the same permissions and the same expiry. You see it once, on the next page.</p>
<div class="notice warn"><p><strong>As soon as you press Rotate, <code>${key.prefix}…</code> stops working.</strong> Requests that still use it are refused with 401, so put the new key in place at once. This cannot be undone.</p></div>
${keyFacts(context, key, holder)}
${postForm({ action: `${listUrl}/${key.id}/rotate`, formToken }, html`${hidden('form_id', newFormId(context))}${nameField(context, key, typed)}${buttons('Rotate', 'primary', listUrl)}`)}`;
}
