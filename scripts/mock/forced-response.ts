import { setTimeout as delay } from 'node:timers/promises';
import type { ApiRequest } from '../../src/api/api-request.ts';
import { SEND_A_KEY } from '../../src/api/authentication.ts';
import type { ContractRouter } from '../../src/api/contract-router.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import { encodeJson } from '../../src/api/json-text.ts';
import { rawResponse } from '../../src/api/response.ts';
import type { Send } from '../../src/api/send.ts';
import { isObject, type Operation } from '../../src/contract/document.ts';
import { DomainError, ForbiddenError, UnauthenticatedError } from '../../src/domain/errors.ts';
import { PERMISSIONS } from '../../src/domain/role.ts';
import type { DataSet } from './data-set.ts';
import { examplesOf, successOf } from './declared-responses.ts';
import { addLimits } from './mock-api.ts';
import { ALL_OPERATIONS, type Override, type Overrides, preferHeaderOf } from './overrides.ts';
import { type Preference, responseOf } from './prefer.ts';
import type { PreferenceNotes } from './preference-notes.ts';
import { readPreferences } from './preferences.ts';

export type ForcedResponseDeps = {
  readonly router: ContractRouter;
  readonly operations: readonly Operation[];
  readonly overrides: Overrides;
  readonly notes: PreferenceNotes;
  /** Generated data or the contract's examples; `undefined` for what the mock was started with. */
  readonly dataOf: (isDynamic: boolean | undefined) => Promise<DataSet>;
  readonly send: Send;
};

/**
 * Sends the response that an override or the `Prefer` header names, whatever else is wrong with the request, and waits
 * before it if they say so. Resolves to false where they name none, or a success: that is left to the operation's handler,
 * after the server's own checks. Rejects with a 422 for a response that the operation does not have.
 */
export function createForcedResponses(deps: ForcedResponseDeps): (request: ApiRequest) => Promise<boolean> {
  const { router, overrides, notes, dataOf, send } = deps;
  const operations = new Map(deps.operations.map((operation) => [operation.operationId, operation]));
  return async (request) => {
    const operation = router.matches(request) ? operations.get(request.operation.operationId) : undefined;
    if (operation !== undefined) applyOverride(request, operation, overrides);
    const { prefer } = request.headers;
    if (prefer === undefined) return false;
    const preferences = readPreferences(prefer);
    notes.add(request.res, { preferences, response: undefined });
    if (preferences.delayMs > 0) await delay(preferences.delayMs);
    if (operation === undefined) return false;
    const response = chosenResponse(request, operation);
    notes.add(request.res, { preferences, response });
    if (response === undefined || response.status === successOf(operation)) return false;

    const { status } = response;
    const { source, isDynamic } = await dataOf(preferences.dynamic);
    const example = response.example ?? (isDynamic ? undefined : fittingExample(request, operation, status));
    const { headers, body } = await source({ operation, status, example, seedText: request.url });
    const { 'Content-type': _type, 'X-Request-Id': _requestId, ...ownHeaders } = headers;
    const known = Object.entries(serverHeaders(request, status, body)).filter(([name]) => name in ownHeaders);
    const bytes = body === undefined ? undefined : encodeJson(body);
    send(request, rawResponse(status, { ...ownHeaders, ...Object.fromEntries(known) }, bytes));
    return true;
  };
}

/** An override precedes the client's preferences, and so overrides them, unless those name a response. */
function applyOverride({ headers }: ApiRequest, operation: Operation, overrides: Overrides): void {
  const { code, example } = readPreferences(headers['prefer']);
  if (code !== undefined || example !== undefined) return;
  const override = overrides.take((each) => isFor(operation, each));
  if (override === undefined) return;
  headers['prefer'] = [preferHeaderOf(override), headers['prefer'] ?? []].flat().join(', ');
}

/** An override of all operations passes by those that do not have its response. */
function isFor(operation: Operation, override: Override): boolean {
  if (override.operation !== ALL_OPERATIONS) return override.operation === operation.operationId;
  try {
    responseOf({ code: override.status?.toString(), example: override.example ?? undefined }, operation);
    return true;
  } catch {
    return false;
  }
}

/** Throws a 422, with the limits of a key, for a response that the operation does not have. */
function chosenResponse(request: ApiRequest, operation: Operation): Preference | undefined {
  try {
    return responseOf(readPreferences(request.headers['prefer']), operation);
  } catch (error) {
    addLimits(request);
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
      return exceptionOf(new UnauthenticatedError(message, message === SEND_A_KEY ? 'missing' : 'unknown')).headers;
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
