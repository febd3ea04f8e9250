import { findWaysToProve } from '../../service/accounts/prove.ts';
import type { AfterProof } from '../../service/single-sign-on/completion.ts';
import { contextAt, findSignedIn, type RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { backToProof, goOnPage } from '../proof/page.ts';
import { findForm } from '../proof/sealed-form.ts';
import { failurePage, lostPage, notProvenPage } from './refusal-pages.ts';

/** Goes on with what was sent if the provider sent the browser back with a proof. */
export async function showAfterProof(
  context: RequestContext,
  { outcome, next, sealedForm }: AfterProof,
): Promise<View> {
  const sealed = sealedForm.toString('base64url');
  const waiting = await findWaiting(context, { next, sealed });
  const back = waiting === null ? undefined : backToProof(waiting.asking, sealed);
  const current = waiting?.asking ?? context;
  switch (outcome.kind) {
    case 'proven':
      if (waiting === null) throw new RequestError('forged');
      return goOnPage(waiting.asking, { purpose: waiting.purpose, sealed });
    case 'not-proven': {
      const ways = waiting === null ? null : await findWaysToProve(context.dashboard.db, waiting.asking.actor);
      return notProvenPage(current, outcome, { ways, back });
    }
    case 'lost':
      return lostPage(current, back);
    default:
      return failurePage(current, outcome, back);
  }
}

/** `null` if the session in which the form was sent has ended. */
async function findWaiting(context: RequestContext, { next, sealed }: { next: string; sealed: string }) {
  const signedIn = await findSignedIn(context);
  if (signedIn === null) return null;
  const asking = contextAt(signedIn, next);
  const form = findForm(asking, sealed);
  return form === null ? null : { asking, purpose: form.purpose };
}
