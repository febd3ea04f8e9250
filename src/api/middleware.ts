import type { ErrorRequestHandler, RequestHandler } from 'express';
import { Exchange } from '../domain/exchange.ts';
import { ApiRequest } from './api-request.ts';
import type { ContractApi } from './contract-api.ts';
import type { Refuse } from './send.ts';

export type ApiMiddleware = {
  /** Answers every request: an unknown path gets the contract's 404. */
  readonly answer: RequestHandler;
  /** Answers what other middleware throws with the contract's exceptions. */
  readonly answerError: ErrorRequestHandler;
};

/** The API as Express middleware. Both expect an `Exchange` in `res.locals`. */
export function apiMiddleware(api: ContractApi, refuse: Refuse): ApiMiddleware {
  return {
    // Express passes the rejection of a promise on to the error handler.
    answer(req, res) {
      const request = new ApiRequest(req, res, Exchange.of(res));
      return api.handle(request).catch((error: unknown) => refuse(request, error));
    },
    // Express recognizes an error handler by its four parameters.
    answerError: (error: unknown, req, res, _next) => refuse(new ApiRequest(req, res, Exchange.of(res)), error),
  };
}
