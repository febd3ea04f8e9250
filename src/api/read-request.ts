import type { IncomingMessage } from 'node:http';
import accepts from 'accepts';
import { parse as parseContentType } from 'content-type';
import getRawBody from 'raw-body';
import { invalidField } from '../domain/errors.ts';
import { maskKeys } from '../domain/keys/api-key.ts';
import { bodyProblemOf } from '../domain/resources/body-problem.ts';
import { findRepeatedNames, parseJson } from '../domain/resources/json.ts';
import type { ApiRequest } from './api-request.ts';
import { HttpError } from './exceptions.ts';
import { MAX_FIELDS } from './violations.ts';

/**
 * Decodes the URL, unless a cached response makes validation needless, and reads the body. Throws for faults that validation
 * cannot see.
 */
export function readRequest(request: ApiRequest): Promise<void> | undefined {
  const { req, operation } = request;
  // Both getters decode the URL, and throw if its percent-encoding is malformed.
  if (!request.isKnownValid) void [request.params, request.query];
  refuseUnacceptable(req);
  refuseMisplacedKey(request);
  return operation.hasBody ? readRequestBody(request) : undefined;
}

/** Throws for an idempotency key that contains an API key: idempotency keys are stored as they are. */
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

export function refuseUnacceptable(req: IncomingMessage): void {
  const { accept } = req.headers;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return;
  if (accepts(req).type(['application/json', 'application/json; charset=utf-8']) !== false) return;
  throw new HttpError(
    'not_acceptable',
    'The response is application/json, which the Accept header excludes. Send Accept: application/json, or no Accept header.',
  );
}

export type JsonBody = {
  /** The parsed JSON; `undefined` if there is no body. */
  readonly value: unknown;
  /** The paths of fields that are given more than once, as far as a 422 lists them. */
  readonly repeated: readonly string[];
};

const NO_BODY: JsonBody = { value: undefined, repeated: [] };

/** `mediaTypes` are those that the operation accepts, all of them JSON. */
export type AcceptedBody = { readonly mediaTypes: readonly string[]; readonly maxBodyBytes: number };

export async function readBody(req: IncomingMessage, { mediaTypes, maxBodyBytes }: AcceptedBody): Promise<JsonBody> {
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  refuseUnsupported(req, isEmpty, mediaTypes);
  if (isEmpty) return NO_BODY;
  try {
    const bytes = await getRawBody(req, {
      limit: maxBodyBytes,
      length: req.headers['content-length'] ?? null,
    });
    return bytes.length === 0 ? NO_BODY : readJson(bytes);
  } catch (error) {
    // raw-body pauses a body that it refuses, and the connection's next request comes after it.
    req.resume();
    return refuseUnreadable(error, maxBodyBytes);
  }
}

function refuseUnsupported(
  { method, headers }: IncomingMessage,
  isEmpty: boolean,
  mediaTypes: readonly string[],
): void {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported('The body must not be compressed. Send it without Content-Encoding.', { method, mediaTypes });
  }
  if (type === undefined ? isEmpty : isAccepted(type, mediaTypes)) return;
  const message = `The body must be JSON in UTF-8. Send Content-Type: ${mediaTypes.join(' or ')}.`;
  throw unsupported(message, { method, mediaTypes });
}

type Refused = { readonly method: string | undefined; readonly mediaTypes: readonly string[] };

/** A 415 for a PATCH names the accepted media types (RFC 5789 section 2.2). */
function unsupported(message: string, { method, mediaTypes }: Refused): HttpError {
  const headers = method === 'PATCH' ? { 'Accept-Patch': mediaTypes.join(', ') } : {};
  return new HttpError('unsupported_media_type', message, headers);
}

/** JSON is UTF-8 (RFC 8259 section 8.1), so no other charset is accepted. */
function isAccepted(header: string, mediaTypes: readonly string[]): boolean {
  const { type, parameters } = parseContentType(header);
  // The parser keeps the first of several charsets; a proxy may have kept another one.
  const isOneCharset = header.split(/;\s*charset\s*=/i).length <= 2;
  return mediaTypes.includes(type) && (parameters['charset'] ?? 'utf-8').toLowerCase() === 'utf-8' && isOneCharset;
}

function refuseUnreadable(error: unknown, maxBodyBytes: number): never {
  const problem = bodyProblemOf(error);
  if (problem === 'too large') {
    throw new HttpError(
      'payload_too_large',
      `The body is larger than ${maxBodyBytes} bytes (${formatBytes(maxBodyBytes)}). Send a smaller body.`,
    );
  }
  if (problem === 'incomplete') throw new HttpError('bad_request', 'The body ended before its Content-Length.');
  throw error;
}

/** "100 KiB" or "1 MiB", for a multiple of these. */
function formatBytes(bytes: number): string {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
}

function readJson(bytes: Buffer): JsonBody {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { value: parseJson(text), repeated: findRepeatedNames(text, MAX_FIELDS) };
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message.slice(0, 200) : 'it is not UTF-8';
    throw new HttpError('bad_request', `The body is not readable JSON: ${reason}`);
  }
}
