import { setTimeout as delay } from 'node:timers/promises';
import type { ApiRequest } from '../../src/api/api-request.ts';
import type { ContractRouter } from '../../src/api/contract-router.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import { SEND_A_KEY } from '../../src/api/key-steps.ts';
import { encodeJson, rawResponseOf, type Send, type SendException } from '../../src/api/response.ts';
import { isObject, type Operation } from '../../src/contract/document.ts';
import { DomainError, ForbiddenError, UnauthenticatedError } from '../../src/domain/errors.ts';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import type { DataSet } from './data-set.ts';
import { examplesOf, successOf } from './declared-responses.ts';
import { ALL_OPERATIONS, type Override, type Overrides, type OwnBodies, preferHeaderOf } from './overrides.ts';
import {
  NO_RESPONSE,
  type Preference,
  type PreferenceNotes,
  preferenceOf,
  readPreferences,
  responseOf,
} from './prefer.ts';
import type { MockRateLimits } from './rate-limits.ts';
import { type ReadRequest, readAhead } from './request-check.ts';
import { contentOf } from './request-log.ts';

type ForcedResponseDeps = {
  readonly router: ContractRouter;
  readonly operations: readonly Operation[];
  readonly overrides: Overrides;
  readonly ownBodies: OwnBodies;
  readonly notes: PreferenceNotes;
  /** Called before a forced response is sent, with the request and its body. */
  readonly onForced: (request: ApiRequest, read: ReadRequest) => Promise<void>;
  /**
   * Returns generated data for `true`, the contract's examples for `false`, and the kind with which the mock was started for
   * `undefined`.
   */
  readonly dataOf: (isDynamic: boolean | undefined) => DataSet;
  readonly rateLimits: MockRateLimits;
  readonly send: Send;
  readonly refuse: SendException;
};

/**
 * Returns a function that sends the response which an override or the `Prefer` header names, even if the request is wrong, after
 * the delay in the override or the header. Resolves to `null` if a response was sent: the named response, or a 422 if the
 * operation does not have that response. Resolves to the request if no response is named or the named response is a success; the
 * server's own checks and the operation's handler then follow.
 */
export function createForcedResponses(deps: ForcedResponseDeps): (request: ApiRequest) => Promise<ApiRequest | null> {
  const { router, overrides, rateLimits, refuse } = deps;
  const operations = new Map(deps.operations.map((operation) => [operation.operationId, operation]));
  return async (sent) => {
    const operation = router.matches(sent) ? operations.get(sent.operation.operationId) : undefined;
    const dependsOnBody = operation !== undefined && overrides.dependOnBody((each) => isFor(operation, each));
    const read = dependsOnBody ? await readAhead(sent) : undefined;
    const request = read?.again() ?? sent;
    if (read !== undefined) router.matches(request);
    try {
      return (await force(request, { operation, read }, deps)) ? null : request;
    } catch (error) {
      // The refused request counts against the rate limits, and the refusal shows the limits. Above a limit, the response is a
      // 429 instead.
      refuse(request, rateLimits.check(request) ?? error);
      return null;
    }
  };
}

type Found = {
  /** The operation; `undefined` if the contract does not have the path or the method. */
  readonly operation: Operation | undefined;
  /** The request with its body; `undefined` if the body has not been read yet. */
  readonly read: ReadRequest | undefined;
};

/** Resolves to whether a response was sent. Rejects with a 422 if the operation does not have the response. */
async function force(request: ApiRequest, { operation, read }: Found, deps: ForcedResponseDeps): Promise<boolean> {
  const { overrides, ownBodies, notes } = deps;
  const override = operation && applyOverride(request, operation, { overrides, body: read?.body });
  const { prefer } = request.headers;
  if (prefer === undefined) return false;
  const preferences = readPreferences(prefer);
  notes.add(request.res, { preferences, response: undefined });
  // Without `ref`, the timer does not keep the process alive.
  if (preferences.delayMs > 0) await delay(preferences.delayMs, undefined, { ref: false });
  if (operation === undefined) return false;
  if (override?.disconnect !== undefined) {
    notes.add(request.res, { preferences, response: undefined, isDisconnected: true });
    if (override.disconnect === 'after') return false;
    await checkForced(request, read, deps);
    deps.send(request, NO_RESPONSE);
    return true;
  }
  const isInvalid = override?.allowInvalid === true;
  const response = isInvalid ? invalidResponse(override) : preferenceOf(request.headers['prefer'], operation);
  notes.add(request.res, { preferences, response, headers: override?.headers });
  if (response === undefined) return false;
  const own = override && (await ownBodyOf(override, { ...request, requestBody: read?.body }));
  if (own !== undefined) ownBodies.set(request.headers, own.body);
  if (response.status === successOf(operation) && !isInvalid) return false;
  await sendForced(request, { operation, read, response, own, isDynamic: preferences.dynamic }, deps);
  return true;
}

type Chosen = Found & {
  readonly operation: Operation;
  readonly response: Preference;
  /** The body that replaces the contract's example; `undefined` if there is no such body. */
  readonly own: { readonly body: unknown } | undefined;
  readonly isDynamic: boolean | undefined;
};

/** Reads the body of the request, and passes the request to `onForced`. */
async function checkForced(
  request: ApiRequest,
  read: ReadRequest | undefined,
  { onForced }: ForcedResponseDeps,
): Promise<void> {
  const ahead = read ?? (await readAhead(request));
  request.requestBody = ahead.body;
  await onForced(request, ahead);
}

async function sendForced(
  request: ApiRequest,
  { operation, read, response, own, isDynamic }: Chosen,
  deps: ForcedResponseDeps,
): Promise<void> {
  const { dataOf, rateLimits, send } = deps;
  await checkForced(request, read, deps);
  const { status } = response;
  const data = dataOf(isDynamic);
  const example = response.example ?? (data.isDynamic ? undefined : fittingExample(request, operation, status));
  const found = data.source({ operation, status, example, seedText: request.url });
  const { headers, body } = { ...found, ...own };
  const { 'X-Request-Id': _requestId, ...ownHeaders } = headers;
  const limits = 'RateLimit' in ownHeaders ? rateLimits.headersOf(request) : {};
  const server = { ...limits, ...serverHeaders(request, status, body) };
  const known = Object.entries(server).filter(([name]) => name in ownHeaders);
  const bytes = body === undefined ? undefined : bytesOf(body);
  send(request, rawResponseOf(status, { ...ownHeaders, ...Object.fromEntries(known) }, bytes));
}

/**
 * Applies the first override that fits the request, unless the Prefer header names a response. The override is added to the start
 * of the Prefer header, because if a preference (such as "delay") occurs twice, the first one counts.
 */
function applyOverride(
  { url, headers }: ApiRequest,
  operation: Operation,
  { overrides, body }: { overrides: Overrides; body: unknown },
): Override | undefined {
  const { code, example } = readPreferences(headers['prefer']);
  if (code !== undefined || example !== undefined) return undefined;
  const override = overrides.take({ url, headers, body }, (each) => isFor(operation, each));
  if (override === undefined) return undefined;
  // The override may have a body or headers, but no status.
  const isOwn =
    'body' in override || 'createBody' in override || (override.headers !== undefined && override.example === null);
  const status = override.status ?? (isOwn ? successOf(operation) : null);
  headers['prefer'] = [preferHeaderOf({ ...override, status }), headers['prefer'] ?? []].flat().join(', ');
  return { ...override, status };
}

/** Resolves to the body that the mock was given, or `undefined` if it was given none. */
async function ownBodyOf(
  override: Override,
  request: Parameters<typeof contentOf>[0],
): Promise<{ readonly body: unknown } | undefined> {
  if (override.createBody !== undefined) return { body: await override.createBody(contentOf(request)) };
  return 'body' in override ? { body: override.body } : undefined;
}

function invalidResponse({ status }: Override): Preference | undefined {
  return status === null ? undefined : { status, example: undefined };
}

/** Returns the bytes of the body. A string is sent unchanged, so that clients can be tested with a body that is not JSON. */
function bytesOf(body: unknown): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : encodeJson(body);
}

/**
 * Returns whether the override applies to the operation. An override for all operations does not apply to operations that lack
 * its response.
 */
function isFor(operation: Operation, override: Override): boolean {
  if (override.operation !== ALL_OPERATIONS) return override.operation === operation.operationId;
  if (override.allowInvalid === true) return true;
  try {
    responseOf({ code: override.status?.toString(), example: override.example ?? undefined }, operation);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the name of the example that mentions this operation's permission or this path's methods; otherwise the name of the
 * first example.
 */
function fittingExample(request: ApiRequest, operation: Operation, status: number): string | undefined {
  const text = { 403: `${request.operation.permissions[0]}.`, 405: `${request.allow}.` }[status] ?? '';
  return examplesOf(operation, status).find(([, { value }]) => JSON.stringify(value).includes(text))?.[0];
}

const WITHOUT_LIMITS = { 'RateLimit-Policy': undefined, RateLimit: undefined };

/**
 * Returns the headers that depend on the body. They come from the server's own code, because the contract has several examples of
 * these headers.
 */
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
      // A server sends no rate limit headers if it could not look up the key.
      return WITHOUT_LIMITS;
    default:
      return {};
  }
}

/**
 * Returns the rate limit headers of a 429. A 429 to requests without a valid key has no such headers, because there is no key
 * with limits.
 */
function limitHeaders(message: string): Readonly<Record<string, string | undefined>> {
  if (message.startsWith('Too many')) return WITHOUT_LIMITS;
  return { RateLimit: `"${message.startsWith('All') ? 'organization' : 'key'}";r=0;t=1` };
}
