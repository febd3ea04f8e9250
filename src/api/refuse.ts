import {
  AbandonedError,
  ForbiddenAddressError,
  ForbiddenError,
  type KeyRefusalReason,
  OverloadError,
  type Overloaded,
  UnauthenticatedError,
} from '../domain/errors.ts';
import type { Exchange } from '../domain/exchange.ts';
import type { ApiRequest } from './api-request.ts';
import { exceptionOf } from './exceptions.ts';
import { renderException } from './response.ts';
import type { Send } from './send.ts';

export type RefuseDeps = {
  readonly send: Send;
  /** Called for every bug and outage, with the request's id. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Called for every refusal under load. */
  readonly onOverload?: (overloaded: Overloaded, exchange: Exchange) => void;
  /**
   * Called for every refusal of a key. "address": it may not be used from the client's. "permission": it lacks one.
   * "suspended": its organization is suspended.
   */
  readonly onRefusedKey?: (reason: KeyRefusalReason | 'address' | 'permission' | 'suspended') => void;
};

/** Answers a request with the contract's exception for an error. */
export type Refuse = (request: ApiRequest, error: unknown) => void;

export function createRefuse({ send, onFault, onOverload, onRefusedKey }: RefuseDeps): Refuse {
  return (request, error) => {
    const { res, exchange } = request;
    const exception = exceptionOf(error);
    if (exception.isFault) onFault(error, exchange.requestId);
    if (error instanceof OverloadError) onOverload?.(error.overloaded, exchange);
    // The client gave up, which is no failure of the server.
    if (error instanceof AbandonedError) request.use = undefined;
    // A key that ended after it was accepted gets the response of a key that is not accepted.
    if (error instanceof UnauthenticatedError || error instanceof ForbiddenAddressError) request.rateLimitFields = [];
    if (error instanceof UnauthenticatedError) onRefusedKey?.(error.reason);
    if (error instanceof ForbiddenError) onRefusedKey?.(reasonOf(error));
    if (res.headersSent) res.destroy();
    else if (!res.destroyed) send(request, renderException(exception));
  };
}

function reasonOf(error: ForbiddenError): 'address' | 'permission' | 'suspended' {
  if (error instanceof ForbiddenAddressError) return 'address';
  return error.permission === undefined ? 'suspended' : 'permission';
}
