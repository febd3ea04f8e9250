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
import type { Outcome } from '../domain/keys/key-usage.ts';
import type { ApiRequest } from './api-request.ts';
import { exceptionOf } from './exceptions.ts';
import { type RawResponse, renderException } from './response.ts';

/** Sends the response to a request. */
export type Send = (request: ApiRequest, response: RawResponse) => void;

/**
 * Returns the one function that writes responses, and counts them as uses of a known key. `securityHeaders` has the headers by
 * name that are sent with every response.
 */
export function createSend(securityHeaders: Readonly<Record<string, string>>): Send {
  const always = Object.entries(securityHeaders).flat();
  return ({ method, res, exchange, rateLimitFields, use }, { status, fields, text }) => {
    res.writeHead(status, ['X-Request-Id', exchange.requestId, ...always, ...rateLimitFields, ...fields]);
    res.end(method === 'HEAD' ? undefined : text, 'latin1');
    use?.responded(outcomeOf(status, rateLimitFields));
  };
}

/** "limited": a limit of the key or its organization refused the request, and not that of the client's address, which has no fields. */
function outcomeOf(status: number, rateLimitFields: readonly string[]): Outcome | 'limited' {
  if (status === 429 && rateLimitFields.length > 0) return 'limited';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'successful';
}

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
