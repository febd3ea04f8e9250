import type { ErrorRequestHandler, Response } from 'express';
import {
  AbandonedError,
  ForbiddenError,
  type KeyRefusalReason,
  OverloadError,
  type Overloaded,
  UnauthenticatedError,
} from '../domain/errors.ts';
import { leaveUncounted } from './counted-responses.ts';
import { exceptionOf } from './exceptions.ts';
import { removeRateLimitFields } from './rate-limit-fields.ts';
import { renderException, type Send } from './response.ts';

export type ErrorHandlerDeps = {
  readonly send: Send;
  /** Called for every bug and outage, with the request's id. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Called for every refusal under load. */
  readonly onOverload?: (overloaded: Overloaded, res: Response) => void;
  /** Called for every refusal of a key. "permission": it lacks one. "suspended": its organization is suspended. */
  readonly onRefusedKey?: (reason: KeyRefusalReason | 'permission' | 'suspended') => void;
};

/** Express's error handler: answers every error with the contract's exception for it. */
export function errorHandler({ send, onFault, onOverload, onRefusedKey }: ErrorHandlerDeps): ErrorRequestHandler {
  // Express recognizes an error handler by its four parameters.
  return (error: unknown, req, res, _next) => {
    const { requestId } = res.locals;
    const exception = exceptionOf(error);
    if (exception.isFault) onFault(error, requestId);
    if (error instanceof OverloadError) onOverload?.(error.overloaded, res);
    if (error instanceof AbandonedError) leaveUncounted(req);
    if (error instanceof UnauthenticatedError) {
      removeRateLimitFields(req);
      onRefusedKey?.(error.reason);
    }
    if (error instanceof ForbiddenError) onRefusedKey?.(error.permission === undefined ? 'suspended' : 'permission');
    if (res.headersSent) res.destroy();
    else if (!res.destroyed) send({ req, res, requestId }, renderException(exception));
  };
}
