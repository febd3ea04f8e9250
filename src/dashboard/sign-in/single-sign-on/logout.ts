import type { IncomingMessage } from 'node:http';
import { Router } from 'express';
import { singleSignOnUrl } from '../../http/addresses.ts';
import { type MaxSize, mediaTypeOf, readBody } from '../../http/body.ts';
import type { Dashboard, RequestContext } from '../../http/request-context.ts';
import { RequestError } from '../../http/request-error.ts';
import type { View } from '../../http/view.ts';
import { answerPrograms } from '../../routing/json-requests.ts';
import { depsOf, getConnection } from './provider.ts';

const MAX_TOKEN: MaxSize = { bytes: 20 * 1024, error: 'too-large' };

/**
 * Routes the requests with which an identity provider reports that a session has ended (OpenID Connect Back-Channel Logout 1.0).
 * The provider has no session with Charter, so the signature of its logout token is the proof.
 */
export function backChannelLogout(dashboard: Dashboard): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.post(singleSignOnUrl(':organizationId', 'logout'), answerPrograms(dashboard, { answer, bodyOfError }));
  return router;
}

/** Returns the body of an error (OpenID Connect Back-Channel Logout 1.0, section 2.8). */
const bodyOfError = (error_description: string) => ({ error: 'invalid_request', error_description });

async function answer(context: RequestContext, req: IncomingMessage): Promise<View> {
  const connection = await getConnection(context);
  if (mediaTypeOf(req) !== 'application/x-www-form-urlencoded') throw new RequestError('not-a-form');
  const sent = new URLSearchParams((await readBody(req, MAX_TOKEN)).toString('utf8'));
  const token = sent.get('logout_token') ?? '';
  const { auditSource, now } = context;
  const { logOut } = await import('../../../service/sign-in/single-sign-on/logout.ts');
  const outcome = await logOut(depsOf(context), connection, { token, auditSource, now });
  if (outcome.kind === 'done') return { kind: 'json', status: 200, body: {} };
  const status = outcome.kind === 'unreachable' ? 503 : 400;
  return { kind: 'json', status, body: bodyOfError(outcome.words) };
}
