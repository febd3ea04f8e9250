import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import accepts from 'accepts';
import { parse as parseContentType } from 'content-type';
import type { Request } from 'openapi-backend';
import getRawBody from 'raw-body';
import type { Caller } from '../domain/audit/actor.ts';
import { invalidField } from '../domain/errors.ts';
import { maskKeys } from '../domain/keys/api-key.ts';
import type { Exchange } from '../domain/request.ts';
import { bodyProblemOf } from '../domain/request.ts';
import { parseJson, repeatedNamesIn } from '../domain/resources/json.ts';
import type { AcceptedKey, KnownKey } from '../service/authenticate.ts';
import { HttpError, MAX_FIELDS } from './exceptions.ts';
import type { ContractOperation, QueryParameter } from './operation.ts';
import type { RenderedResponse } from './response.ts';

export type Match = {
  /** The operation that the request calls; `undefined` if the path does not support the method. */
  readonly operation: ContractOperation | undefined;
  /** The methods of the path, as the Allow header lists them. */
  readonly allow: string;
  /** The values of the path parameters, still percent-encoded. */
  readonly values: readonly string[];
};

const NO_MATCH: Match = { operation: undefined, allow: '', values: [] };
const NO_COOKIES = {};
const NOTHING: readonly string[] = [];

/**
 * A request that passes through the steps of the API: as it was sent, as it was parsed, and what the steps have learned about it.
 * The URL and the body are decoded only when they are needed, because a response from the cache needs neither.
 */
export class ApiRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly exchange: Exchange;
  readonly method: string;
  /** The request target in origin form, including the query string. */
  readonly url: string;
  headers: IncomingHttpHeaders;
  /** The cookies of the request; always empty, because the API accepts no cookies. */
  readonly cookies = NO_COOKIES;
  /** The parsed JSON body; `undefined` if there is no body, or it has not been read yet. */
  requestBody: unknown;
  /** The JSON body as it was sent; empty if there is no body, or it has not been read yet. */
  bodyText = '';
  /** The paths of fields that occur more than once in the body. */
  repeatedFields: readonly string[] = NOTHING;
  /** The response in the cache for this caller and URL; `undefined` if there is none. */
  cached: RenderedResponse | undefined;
  /** Whether the request needs no validation: its response is in the cache, and none of its headers could be refused. */
  isKnownValid = false;
  /**
   * The number of changes in a batch after the first change, which is counted as the request itself. 0 for a request that is not
   * a batch, and until the body has been read.
   */
  extraItems = 0;
  /**
   * The key that was sent, whether or not it was accepted. The response is counted as a use of this key. `undefined` if no known
   * key was sent, or the client has closed the connection.
   */
  known: KnownKey | undefined = undefined;
  /** The names and values of the rate limit headers, alternating. Empty if no limit applies, or the key is not accepted. */
  rateLimitFields: readonly string[] = NOTHING;
  #match = NO_MATCH;
  #key: AcceptedKey | undefined;
  #caller: Caller | undefined;
  #params: Readonly<Record<string, string>> | undefined;
  #query: Query | undefined;

  constructor(req: IncomingMessage, res: ServerResponse, exchange: Exchange) {
    this.req = req;
    this.res = res;
    this.exchange = exchange;
    this.method = req.method ?? 'GET';
    this.url = req.url ?? '/';
    this.headers = req.headers;
  }

  /**
   * Returns the request as an ApiRequest. openapi-backend passes the ApiRequest to the router, but declares the parameter as a
   * Request of its own.
   */
  static of(request: Request): ApiRequest {
    if (request instanceof ApiRequest) return request;
    throw new TypeError('The contract serves an ApiRequest only.');
  }

  get path(): string {
    return this.url;
  }

  match(match: Match): void {
    this.#match = match;
    if (match.operation === undefined) return;
    this.exchange.handledBy = match.operation.operationId;
    this.exchange.route = match.operation.path;
  }

  get operation(): ContractOperation {
    if (this.#match.operation === undefined) throw new TypeError('The request has not been matched.');
    return this.#match.operation;
  }

  get allow(): string {
    return this.#match.allow;
  }

  get key(): AcceptedKey {
    if (this.#key === undefined) throw new TypeError('The request has not been authenticated.');
    return this.#key;
  }

  set key(key: AcceptedKey) {
    this.#key = key;
  }

  get caller(): Caller {
    if (this.#caller === undefined) throw new TypeError('The request has not been permitted.');
    return this.#caller;
  }

  set caller(caller: Caller) {
    this.#caller = caller;
  }

  /** Returns the decoded path parameters by name. Throws a 400 for a malformed percent-encoding. */
  get params(): Readonly<Record<string, string>> {
    this.#params ??= Object.fromEntries(
      this.operation.pathNames.map((name, i) => [name, decodeComponent(this.#match.values[i] ?? '', 'path')]),
    );
    return this.#params;
  }

  /**
   * Returns the decoded query parameters by name. Until the request is validated, the contract's defaults are missing. Throws a
   * 400 for a malformed percent-encoding.
   */
  get query(): Record<string, unknown> {
    return this.#readQuery().values;
  }

  /** Returns the names of query parameters that occur more than once. */
  get repeated(): readonly string[] {
    return this.#readQuery().repeated;
  }

  #readQuery(): Query {
    const mark = this.url.indexOf('?');
    this.#query ??= parseQuery(mark < 0 ? '' : this.url.slice(mark + 1), this.operation.queryParameters);
    return this.#query;
  }
}

const INTEGER = /^-?(0|[1-9]\d*)$/;

export type Query = {
  /** The values by name. The value of a parameter that occurs more than once is an array. */
  readonly values: Record<string, unknown>;
  readonly repeated: readonly string[];
};

const NOTHING_REPEATED: readonly string[] = [];

/**
 * Parses a query string in the encoding of HTML forms ("+" is a space). Converts integers and booleans only if they are written
 * as in JSON.
 */
export function parseQuery(text: string, parameters: ReadonlyMap<string, QueryParameter>): Query {
  if (text === '') return { values: {}, repeated: NOTHING_REPEATED };
  const values = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeComponent(equals < 0 ? pair : pair.slice(0, equals), 'query');
    const value = equals < 0 ? '' : decodeComponent(pair.slice(equals + 1), 'query');
    const read = parseValue(value, parameters.get(name));
    const earlier = values.get(name);
    if (earlier !== undefined) repeated.add(name);
    // Validation will refuse the request, because no parameter in the contract accepts an array.
    if (Array.isArray(earlier)) earlier.push(read);
    else values.set(name, earlier === undefined ? read : [earlier, read]);
  }
  // Assigning properties to an object would lose a parameter that is named "__proto__".
  return { values: Object.fromEntries(values), repeated: [...repeated] };
}

/**
 * Converts the text to the type of the parameter. Returns the text itself if that is not possible, so that validation refuses it.
 */
function parseValue(text: string, parameter: QueryParameter | undefined): unknown {
  if (parameter === undefined) return text;
  const { type, normalForm } = parameter;
  if (type === 'integer' && INTEGER.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return normalForm === undefined ? text : text.normalize(normalForm);
}

/** Decodes a path segment or a part of the query string. Throws a 400 if the percent-encoding is not UTF-8. */
function decodeComponent(text: string, where: 'path' | 'query'): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = where === 'query' ? text.replaceAll('+', ' ') : text;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new HttpError(
      'bad_request',
      `The ${where} contains percent-encoding that is not valid UTF-8: ${text.slice(0, 100)}`,
    );
  }
}

/**
 * Decodes the URL and reads the body. Does not decode the URL if the response comes from the cache and needs no validation.
 * Throws for mistakes that validation cannot see.
 */
export function readRequest(request: ApiRequest): Promise<void> | undefined {
  const { req, operation } = request;
  // Both getters decode the URL, and throw if its percent-encoding is malformed.
  if (!request.isKnownValid) void [request.params, request.query];
  requireAcceptable(req);
  requireStorableIdempotencyKey(request);
  return operation.hasBody ? readRequestBody(request) : undefined;
}

/** Throws if the idempotency key contains an API key, because idempotency keys are stored unencrypted. */
function requireStorableIdempotencyKey({ req: { headers }, operation }: ApiRequest): void {
  const sent = headers['idempotency-key'];
  if (typeof sent === 'string' && operation.headerNames.has('idempotency-key') && maskKeys(sent) !== sent)
    throw invalidField(
      'Idempotency-Key',
      'contains an API key. Send a value that you generate for this creation, such as a random UUID.',
    );
}

async function readRequestBody(request: ApiRequest): Promise<void> {
  const { text, value, repeated } = await readBody(request.req, request.operation);
  request.bodyText = text;
  request.requestBody = value;
  request.repeatedFields = repeated;
  // openapi-backend validates a body that is not an object only if the Content-Type is application/json.
  if (value !== undefined && typeof value !== 'object')
    request.headers = { ...request.headers, 'content-type': 'application/json' };
}

export function requireAcceptable(req: IncomingMessage): void {
  const { accept } = req.headers;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return;
  if (accepts(req).type(['application/json', 'application/json; charset=utf-8']) !== false) return;
  throw new HttpError(
    'not_acceptable',
    'The response is application/json, which the Accept header excludes. Send Accept: application/json, or no Accept header.',
  );
}

export type JsonBody = {
  /** The text of the body; empty if there is no body. */
  readonly text: string;
  /** The parsed JSON; `undefined` if there is no body. */
  readonly value: unknown;
  /** The paths of fields that occur more than once in the body. There are at most MAX_FIELDS, because a 422 lists no more. */
  readonly repeated: readonly string[];
};

const NO_BODY: JsonBody = { text: '', value: undefined, repeated: [] };

/** The media types that the operation accepts, all of them JSON, and the maximum size of the body. */
export type AcceptedBody = { readonly mediaTypes: readonly string[]; readonly maxBodyBytes: number };

async function readBody(req: IncomingMessage, { mediaTypes, maxBodyBytes }: AcceptedBody): Promise<JsonBody> {
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  requireSupportedBody(req, isEmpty, mediaTypes);
  if (isEmpty) return NO_BODY;
  try {
    const bytes = await getRawBody(req, {
      limit: maxBodyBytes,
      length: req.headers['content-length'] ?? null,
    });
    return bytes.length === 0 ? NO_BODY : readJson(bytes);
  } catch (error) {
    // raw-body pauses the stream when it refuses a body. The connection's next request can be read only if the stream is resumed.
    req.resume();
    throw readableErrorOf(error, maxBodyBytes);
  }
}

function requireSupportedBody(
  { method, headers }: IncomingMessage,
  isEmpty: boolean,
  mediaTypes: readonly string[],
): void {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupportedError('The body must not be compressed. Send it without Content-Encoding.', {
      method,
      mediaTypes,
    });
  }
  if (type === undefined ? isEmpty : isAccepted(type, mediaTypes)) return;
  const message = `The body must be JSON in UTF-8. Send Content-Type: ${mediaTypes.join(' or ')}.`;
  throw unsupportedError(message, { method, mediaTypes });
}

type Sent = { readonly method: string | undefined; readonly mediaTypes: readonly string[] };

/** Returns a 415. For a PATCH, its headers list the accepted media types (RFC 5789 section 2.2). */
function unsupportedError(message: string, { method, mediaTypes }: Sent): HttpError {
  const headers = method === 'PATCH' ? { 'Accept-Patch': mediaTypes.join(', ') } : {};
  return new HttpError('unsupported_media_type', message, headers);
}

/**
 * Returns whether the Content-Type is accepted. The only accepted charset is UTF-8, the encoding of JSON (RFC 8259 section 8.1).
 */
function isAccepted(header: string, mediaTypes: readonly string[]): boolean {
  const { type, parameters } = parseContentType(header);
  // If there are several charset parameters, the parser uses the first, but a proxy may have used another.
  const isOneCharset = header.split(/;\s*charset\s*=/i).length <= 2;
  return mediaTypes.includes(type) && (parameters['charset'] ?? 'utf-8').toLowerCase() === 'utf-8' && isOneCharset;
}

/** Returns the refusal of a body that cannot be read, or `error` itself if the error has another cause. */
function readableErrorOf(error: unknown, maxBodyBytes: number): unknown {
  const problem = bodyProblemOf(error);
  if (problem === 'too large') {
    return new HttpError(
      'payload_too_large',
      `The body is larger than ${maxBodyBytes} bytes (${formatBytes(maxBodyBytes)}). Send a smaller body.`,
    );
  }
  if (problem === 'incomplete') return new HttpError('bad_request', 'The body ended before its Content-Length.');
  return error;
}

/** Formats a multiple of 1 KiB, such as "100 KiB" or "1 MiB". */
function formatBytes(bytes: number): string {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
}

function readJson(bytes: Buffer): JsonBody {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, value: parseJson(text), repeated: repeatedNamesIn(text, MAX_FIELDS) };
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message.slice(0, 200) : 'it is not UTF-8';
    throw new HttpError('bad_request', `The body is not readable JSON: ${reason}`);
  }
}
