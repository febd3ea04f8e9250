import { dismissNotice } from '../../service/keys/notices.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { safeNext } from '../sign-in/next.ts';

/** Closes a notice about a key, and leads back to the page that showed it. */
export async function dismiss({ dashboard, actor }: SignedInContext, form: Form<'notice' | 'next'>): Promise<View> {
  await dismissNotice(dashboard.db, actor, form.text('notice'));
  return redirect(safeNext(form.text('next')));
}
