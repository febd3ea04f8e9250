import { findConnectionById } from '../../service/single-sign-on/scope.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { safeNext } from './next.ts';
import { goToProvider } from './provider.ts';

/** Lets the signed-in person sign in at the provider anew, which proves who they are. */
export async function proveAtProvider(context: SignedInContext, form: Form<'next'>): Promise<View> {
  const { actor, dashboard, inTurn } = context;
  const connection = await inTurn(() => findConnectionById(dashboard.db, actor.scope.organizationId));
  if (connection === null) throw new RequestError('not-found');
  return goToProvider(context, connection, { email: actor.email, next: safeNext(form.text('next')), isProof: true });
}
