import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import { type KeyAction, refuseKey } from '../../service/keys/key-refusal.ts';
import type { KeyRefusal, KeyRefused } from '../../service/outcome.ts';
import { listAdministrators } from '../../store/people/user-lists.ts';
import type { View } from '../http/view.ts';
import { contactList } from '../markup/contacts.ts';
import { errorPage } from '../markup/error.ts';
import { type KeyContext, toList } from './context.ts';

/** Returns `null` if the actor may do this with the user's keys. */
export function refusalOf({ isOwn }: KeyContext, access: KeyAccess, action: KeyAction): KeyRefused | null {
  return access.refusal === null ? null : refuseKey(access.refusal, { holder: access.holder, isOwn, action });
}

/** Says why, and who can help. */
export async function refusalNotice(context: KeyContext, { reason, message }: KeyRefused): Promise<Html> {
  const administrators = reason === 'role' ? await listAdministrators(context.dashboard.db, context.actor.scope) : [];
  return html`<div class="notice"><p><strong>${message}</strong></p>
${contactList(administrators)}</div>`;
}

const HEADS: Record<KeyRefusal, { status: number; title: string }> = {
  deactivated: { status: 409, title: 'Nothing can be changed now' },
  suspended: { status: 403, title: 'The organization is suspended' },
  role: { status: 403, title: 'You may not do this' },
};

/** The page in place of the form. */
export async function refusedPage(context: KeyContext, refused: KeyRefused): Promise<View> {
  const message = await refusalNotice(context, refused);
  const { status, title } = HEADS[refused.reason];
  return errorPage(context, { status, title, message, link: toList(context) });
}
