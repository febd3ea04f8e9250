import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { ApiRequest } from '../../src/api/api-request.ts';
import { errorHandler } from '../../src/api/error-handler.ts';
import { originFormOf } from '../../src/api/request-target.ts';
import { send } from '../../src/api/response.ts';
import { allowAnyOrigin, answerPreflight, isPreflight } from './cors.ts';
import { answerForced } from './forced-response.ts';
import type { MockService } from './service.ts';

export type ListenerDeps = {
  /** Called for every request: an edit of the contract replaces the service. */
  readonly service: () => MockService;
  readonly isDynamic: boolean;
  readonly onFault: (error: unknown) => void;
};

/** Express with the same middleware as the server, behind CORS and the responses that `Prefer` forces. */
export function createListener({ service, isDynamic, onFault }: ListenerDeps): RequestListener {
  const app = express.Router({ caseSensitive: true, strict: true });
  app.use((req, res, next) => {
    res.locals = { requestId: randomUUID(), serving: service() };
    allowAnyOrigin(res, service().exposed);
    if (isPreflight(req)) answerPreflight(req, res);
    else next();
  });
  app.use(async (req, res, next) => {
    const { requestId, serving } = res.locals;
    const isForced =
      req.headers['prefer'] !== undefined && (await force(new ApiRequest(req, res, requestId), { serving, isDynamic }));
    if (!isForced) next();
  });
  app.use((req, res, next) => res.locals['serving'].api.middleware(req, res, next));
  app.use(errorHandler({ send, onFault }));
  return (req, res) => {
    const giveUp = (error: unknown) => {
      // One connection ends; the mock goes on.
      onFault(error);
      res.destroy();
    };
    req.url = originFormOf(req.url ?? '/');
    // Express adds its own members to both, in the application that the routers belong to.
    app(req as express.Request, res as express.Response, giveUp);
  };
}

async function force(
  request: ApiRequest,
  { serving, isDynamic }: { serving: MockService; isDynamic: boolean },
): Promise<boolean> {
  const { api, operations, source } = serving;
  if (!api.router.matches(request)) return false;
  const operation = operations.find(({ operationId }) => operationId === request.operation.operationId);
  return operation !== undefined && answerForced(request, { operation, source, isDynamic });
}
