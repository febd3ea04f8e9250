import { type Request, type Response, Router } from 'express';
import { errorContent, reportError } from '../http/errors.ts';
import { type MaxSize, mediaTypeOf, readBody } from '../http/forms.ts';
import { contextOf, type Dashboard, type RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { sendView, type View } from '../http/view.ts';
import { depsOf, getConnection } from './provider.ts';

const MAX_TOKEN: MaxSize = { bytes: 20 * 1024, error: 'too-large' };

/**
 * Where a provider says that a session has ended there (OpenID Connect Back-Channel Logout 1.0). It is a program, without a
 * session: the signature of its token is the proof.
 */
export function backChannelLogout(dashboard: Dashboard): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.post('/single-sign-on/:organizationId/logout', async (req: Request, res: Response) => {
    const { context } = contextOf(req, dashboard);
    try {
      await dashboard.throttle(context.auditSource.ip);
      // The client has gone, so the rest of its request cannot be read.
      if (res.destroyed) return;
      await sendView(dashboard, res, await answer(context, req));
    } catch (error) {
      reportError(error, { context, res });
      if (res.headersSent || res.destroyed) return void res.destroy();
      const { status, message, headers } = errorContent(error, context.auditSource.requestId);
      const body = { error: 'invalid_request', error_description: message };
      await sendView(dashboard, res, { kind: 'json', status, body, headers });
    }
  });
  return router;
}

/** Section 2.8. */
async function answer(context: RequestContext, req: Request): Promise<View> {
  const connection = await getConnection(context);
  if (mediaTypeOf(req) !== 'application/x-www-form-urlencoded') throw new RequestError('not-a-form');
  const sent = new URLSearchParams((await readBody(req, MAX_TOKEN)).toString('utf8'));
  const token = sent.get('logout_token') ?? '';
  const { auditSource, now } = context;
  const { logOut } = await import('../../service/single-sign-on/logout.ts');
  const outcome = await logOut(depsOf(context), connection, { token, auditSource, now });
  if (outcome.kind === 'done') return { kind: 'json', status: 200, body: {} };
  const body = { error: 'invalid_request', error_description: outcome.words };
  return { kind: 'json', status: outcome.kind === 'unreachable' ? 503 : 400, body };
}
