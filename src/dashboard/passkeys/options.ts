import type { RelyingParty } from '../../domain/relying-party.ts';
import type { Conflict, RateLimited } from '../../service/outcome.ts';
import type { AskingBrowser } from '../../service/passkeys/challenges.ts';
import type { PasskeyOptions } from '../../service/passkeys/use-passkey.ts';
import { problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { askedBy, relyingPartyOf } from './relying-party.ts';

type Asking = { readonly relyingParty: RelyingParty; readonly browser: AskingBrowser; readonly now: Date };

/** The response to the script of a page: what the browser needs for a passkey, or a message for the person. */
export async function sendOptions(
  context: RequestContext,
  make: (asking: Asking) => Promise<PasskeyOptions | Conflict | RateLimited>,
): Promise<View> {
  const site = relyingPartyOf(context);
  if (site.kind === 'none') throw new RequestError('not-found');
  const outcome = await make({ relyingParty: site.relyingParty, browser: askedBy(context), now: context.now });
  if (outcome.kind === 'options') return { kind: 'json', status: 200, body: outcome.options };
  const { status, message } = problemOf(outcome);
  const headers = outcome.kind === 'rate-limited' ? { 'Retry-After': String(outcome.retryAfterSeconds) } : {};
  return { kind: 'json', status, body: { message }, headers };
}
