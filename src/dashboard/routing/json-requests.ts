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

/** Returns a handler that responds to programs with JSON. Programs have no session, so a request from any site is accepted. */
export function answerPrograms(dashboard: Dashboard, { answer, bodyOfError }: Answers): RequestHandler {
  return async (req, res) => {
    const { context } = contextOf(req, dashboard);
    try {
      await dashboard.throttle(context.auditSource.ip);
      // The client has disconnected, so the rest of its request cannot be read.
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
