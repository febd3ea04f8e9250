import { html } from '../../html/html.ts';
import { findConnectionById } from '../../service/sign-in/single-sign-on/scope.ts';
import type { Form } from '../http/forms.ts';
import { contextAt, type SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { backToProof, parentOf, SEALED } from '../proof/page.ts';
import { openForm } from '../proof/sealed-form.ts';
import { safeNext } from './next.ts';
import { goToProvider } from './provider.ts';

export const PROVIDER_PROOF_FIELDS = [SEALED, 'next'] as const;

/** Lets the signed-in person sign in at the provider anew, which proves who they are. What they sent waits meanwhile. */
export async function proveAtProvider(
  context: SignedInContext,
  form: Form<(typeof PROVIDER_PROOF_FIELDS)[number]>,
): Promise<View> {
  const { actor, dashboard, inTurn } = context;
  const [next, sealed] = [safeNext(form.text('next')), form.text(SEALED)];
  const asking = contextAt(context, next);
  openForm(asking, sealed);
  const connection = await inTurn(() => findConnectionById(dashboard.db, actor.scope.organizationId));
  if (connection === null) throw new RequestError('not-found');
  return goToProvider(context, connection, {
    email: actor.email,
    next,
    sealedForm: Buffer.from(sealed, 'base64url'),
    aside: html`<a href="${parentOf(asking.path)}">Cancel</a>`,
    back: backToProof(asking, sealed),
  });
}
