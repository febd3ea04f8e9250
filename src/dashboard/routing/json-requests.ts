import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { contextOf, type Dashboard, type RequestContext } from '../http/request-context.ts';
import { sendView, type View } from '../http/view.ts';
import { errorContent, reportError } from './errors.ts';

type Answers = {
  readonly answer: (context: RequestContext, req: IncomingMessage) => Promise<View>;
  /** Returns the response body for an error. */
  readonly bodyOfError: (message: string) => object;
};

/**
 * Returns a handler that answers programs with JSON. It accepts requests from any site, because programs send no session cookie
 * that another site could misuse.
 */
export function answerPrograms(dashboard: Dashboard, { answer, bodyOfError }: Answers): RequestHandler {
  return async (req, res) => {
    const { context } = contextOf(req, dashboard);
    try {
      await dashboard.throttle(context.auditSource.ip);
      // The client has disconnected, so the rest of the body cannot be read.
      if (res.destroyed) return;
      await sendView(dashboard, res, await answer(context, req));
    } catch (error) {
      reportError(error, { context, res });
      if (res.headersSent || res.destroyed) return void res.destroy();
      const { status, message, headers } = errorContent(error, context.auditSource.requestId);
      await sendView(dashboard, res, { kind: 'json', status, body: bodyOfError(message), headers });
    }
  };
}
