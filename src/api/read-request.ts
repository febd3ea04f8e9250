import type { IncomingMessage } from 'node:http';
import { maskKeys } from '../domain/api-key.ts';
import { invalidField } from '../domain/errors.ts';
import type { ApiRequest } from './api-request.ts';
import { readBody, refuseUnacceptable } from './request-body.ts';
import type { RenderedResponse } from './response.ts';
import type { ResponseCache } from './response-cache.ts';

/** Looks for a response that is still valid for the organization's version. */
export function findCached(request: ApiRequest, cache: ResponseCache): void {
  if (!request.operation.isCacheable) return;
  request.cached = cache.find(request.caller, request.url);
  request.isKnownValid = request.cached !== undefined && hasKnownHeaders(request.req, request.cached);
}

/** The URL was validated when the response was rendered, so only If-None-Match is left to judge. */
function hasKnownHeaders(req: IncomingMessage, { entityTag }: RenderedResponse): boolean {
  const { 'if-none-match': ifNoneMatch } = req.headers;
  return ifNoneMatch === undefined || ifNoneMatch === entityTag;
}

/**
 * Decodes the URL, unless a cached response makes validation needless, and reads the body. Throws for faults that validation
 * cannot see.
 */
export function readRequest(request: ApiRequest): Promise<void> | undefined {
  const { req, operation } = request;
  // Both throw for a malformed percent-encoding.
  if (!request.isKnownValid) void [request.params, request.query];
  refuseUnacceptable(req);
  refuseMisplacedKey(request);
  return operation.hasBody ? readRequestBody(request) : undefined;
}

/** Idempotency keys are stored as they are. */
function refuseMisplacedKey({ req: { headers }, operation }: ApiRequest): void {
  const sent = headers['idempotency-key'];
  if (typeof sent === 'string' && operation.headerNames.has('idempotency-key') && maskKeys(sent) !== sent)
    throw invalidField(
      'Idempotency-Key',
      'contains an API key. Send a value that you generate for this creation, such as a random UUID.',
    );
}

async function readRequestBody(request: ApiRequest): Promise<void> {
  const { value, repeated } = await readBody(request.req, request.operation);
  request.requestBody = value;
  request.repeatedFields = repeated;
  // openapi-backend validates a body that is no object only if its type is this one.
  if (value !== undefined && typeof value !== 'object')
    request.headers = { ...request.headers, 'content-type': 'application/json' };
}
