import type { ApiRequest } from '../../src/api/api-request.ts';
import { SEND_A_KEY } from '../../src/api/authentication.ts';
import type { ContractRouter } from '../../src/api/contract-router.ts';
import { isObject, type Operation } from '../../src/api/document.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import { encodeJson } from '../../src/api/json-text.ts';
import { rawResponse, type Send } from '../../src/api/response.ts';
import { DomainError, ForbiddenError, UnauthenticatedError } from '../../src/domain/errors.ts';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { examplesOf, successOf } from './declared-responses.ts';
import { addLimits } from './mock-api.ts';
import { type Preference, preferenceOf } from './prefer.ts';
import type { ResponseSource } from './response-source.ts';

export type ForcedResponseDeps = {
  readonly router: ContractRouter;
  readonly operations: readonly Operation[];
  readonly source: ResponseSource;
  readonly isDynamic: boolean;
  readonly send: Send;
};

/**
 * Sends the response that the `Prefer` header names, whatever else is wrong with the request. Resolves to false where the
 * header names none, or names a success: that is left to the operation's handler, after the server's own checks. Rejects
 * with a 422 for a response that the operation does not have.
 */
export function createForcedResponses(deps: ForcedResponseDeps): (request: ApiRequest) => Promise<boolean> {
  const { router, source, isDynamic, send } = deps;
  const operations = new Map(deps.operations.map((operation) => [operation.operationId, operation]));
  return async (request) => {
    const { prefer } = request.headers;
    if (prefer === undefined || !router.matches(request)) return false;
    const operation = operations.get(request.operation.operationId);
    if (operation === undefined) return false;
    const preference = preferenceIn(request, operation);
    if (preference === undefined || preference.status === successOf(operation)) return false;

    const { status } = preference;
    const example = preference.example ?? (isDynamic ? undefined : fittingExample(request, operation, status));
    const { headers, body } = await source({ operation, status, example, seedText: request.url });
    const { 'Content-type': _type, 'X-Request-Id': _requestId, ...ownHeaders } = headers;
    const known = Object.entries(serverHeaders(request, status, body)).filter(([name]) => name in ownHeaders);
    const bytes = body === undefined ? undefined : encodeJson(body);
    send(request, rawResponse(status, { ...ownHeaders, ...Object.fromEntries(known) }, bytes));
    return true;
  };
}

/** Throws a 422, with the limits of a key, for a response that the operation does not have. */
function preferenceIn({ req, headers }: ApiRequest, operation: Operation): Preference | undefined {
  try {
    return preferenceOf(headers['prefer'], operation);
  } catch (error) {
    addLimits(req);
    throw error;
  }
}

/** The example that names this operation's permission or this path's methods; else the first. */
function fittingExample(request: ApiRequest, operation: Operation, status: number): string | undefined {
  const text = { 403: `${request.operation.permission}.`, 405: `${request.allow}.` }[status] ?? '';
  return examplesOf(operation, status).find(([, { value }]) => JSON.stringify(value).includes(text))?.[0];
}

const WITHOUT_LIMITS = { 'RateLimit-Policy': undefined, RateLimit: undefined };

/** The contract has several examples of these headers; the server's own code knows which one belongs to the body. */
function serverHeaders(
  { allow }: ApiRequest,
  status: number,
  body: unknown,
): Readonly<Record<string, string | undefined>> {
  const message = isObject(body) ? String(body['message']) : '';
  switch (status) {
    case 401:
      return exceptionOf(new UnauthenticatedError(message, { presented: message !== SEND_A_KEY })).headers;
    case 403: {
      const permission = PERMISSIONS.find((each) => message.includes(each));
      return exceptionOf(new ForbiddenError(message, permission)).headers;
    }
    case 429:
      return { ...exceptionOf(new DomainError('rate_limited', message)).headers, ...limitHeaders(message) };
    case 405:
      return { Allow: allow };
    case 500:
    case 503:
      // As when the key could not be looked up.
      return WITHOUT_LIMITS;
    default:
      return {};
  }
}

/** A 429 for requests without a valid key shows no limits of a key. */
function limitHeaders(message: string): Readonly<Record<string, string | undefined>> {
  if (message.startsWith('Too many')) return WITHOUT_LIMITS;
  return { RateLimit: `"${message.startsWith('All') ? 'organization' : 'key'}";r=0;t=1` };
}
