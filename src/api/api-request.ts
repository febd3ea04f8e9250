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
import type { AcceptedKey } from '../service/authenticate.ts';
import type { UseRecorder } from '../traffic/last-used.ts';
import { HttpError, MAX_FIELDS } from './exceptions.ts';
import type { ContractOperation, QueryParameter } from './operation.ts';
import type { RenderedResponse } from './response.ts';

export type Match = {
  /** `undefined` if the path does not take the method. */
  readonly operation: ContractOperation | undefined;
  /** The methods of the path. */
  readonly allow: string;
  /** The path's parameters, still percent-encoded. */
  readonly values: readonly string[];
};

const NO_MATCH: Match = { operation: undefined, allow: '', values: [] };
const NO_COOKIES = {};
const NOTHING: readonly string[] = [];

/**
 * A request on its way through the steps of the API: as it was sent, as it was parsed, and what the steps have found out. A
 * response from the cache never needs the parsed form, so nothing is decoded before it is asked for.
 */
export class ApiRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly exchange: Exchange;
  readonly method: string;
  /** The request target in origin form, with its query. */
  readonly url: string;
  headers: IncomingHttpHeaders;
  /** The API takes no cookies. */
  readonly cookies = NO_COOKIES;
  /** The parsed JSON; `undefined` if there is none, or it has not been read yet. */
  requestBody: unknown;
  /** The JSON as it was sent; empty if there is none, or it has not been read yet. */
  bodyText = '';
  /** The paths of fields that the body has more than once. */
  repeatedFields: readonly string[] = NOTHING;
  /** The response that the cache holds for this caller and URL. */
  cached: RenderedResponse | undefined;
  /** `true` if the response comes from the cache and no header asks for anything that validation could refuse. */
  isKnownValid = false;
  /**
   * The number of a batch's changes beyond the first one, for which the request itself was counted. It is 0 for every other
   * request, and until the body has been read.
   */
  extraItems = 0;
  /** Records what becomes of the request. `undefined` if its key is not known, or the client has given up. */
  use: UseRecorder | undefined = undefined;
  /** Names and values of the rate limit headers in turn; empty if no limit applies, or the key is not accepted. */
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

  /** openapi-backend hands a request back to the router with its own, narrower type. */
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

  /** The path parameters by name, decoded. Throws a 400 for a malformed percent-encoding. */
  get params(): Readonly<Record<string, string>> {
    this.#params ??= Object.fromEntries(
      this.operation.pathNames.map((name, i) => [name, decodeComponent(this.#match.values[i] ?? '', 'path')]),
    );
    return this.#params;
  }

  /** The query parameters by name, decoded. Validation adds the contract's defaults. Throws a 400 for a malformed percent-encoding. */
  get query(): Record<string, unknown> {
    return this.#readQuery().values;
  }

  /** The names of query parameters that are given more than once. */
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
  /** The values by name. A parameter that is given more than once has an array. */
  readonly values: Record<string, unknown>;
  readonly repeated: readonly string[];
};

const NOTHING_REPEATED: readonly string[] = [];

/** Reads names and values by the form rules ("+" is a space), and integers and booleans only if they are written as in JSON. */
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
    // No schema of the contract takes an array, so validation refuses the request.
    if (Array.isArray(earlier)) earlier.push(read);
    else values.set(name, earlier === undefined ? read : [earlier, read]);
  }
  // Assigning a property would lose a parameter named "__proto__".
  return { values: Object.fromEntries(values), repeated: [...repeated] };
}

/** A value that is not of the type stays text, which validation refuses. */
function parseValue(text: string, parameter: QueryParameter | undefined): unknown {
  if (parameter === undefined) return text;
  const { type, normalForm } = parameter;
  if (type === 'integer' && INTEGER.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return normalForm === undefined ? text : text.normalize(normalForm);
}

/** Throws a 400 where the percent-encoding is not UTF-8. */
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
 * Decodes the URL, unless a cached response makes validation needless, and reads the body. Throws for faults that validation
 * cannot see.
 */
export function readRequest(request: ApiRequest): Promise<void> | undefined {
  const { req, operation } = request;
  // Both getters decode the URL, and throw if its percent-encoding is malformed.
  if (!request.isKnownValid) void [request.params, request.query];
  requireAcceptable(req);
  requireStorableIdempotencyKey(request);
  return operation.hasBody ? readRequestBody(request) : undefined;
}

/** Throws for an idempotency key that contains an API key: idempotency keys are stored as they are. */
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
  // openapi-backend validates a body that is no object only if its type is this one.
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
  /** Empty if there is no body. */
  readonly text: string;
  /** The parsed JSON; `undefined` if there is no body. */
  readonly value: unknown;
  /** The paths of fields that are given more than once, as far as a 422 lists them. */
  readonly repeated: readonly string[];
};

const NO_BODY: JsonBody = { text: '', value: undefined, repeated: [] };

/** `mediaTypes` are those that the operation accepts, all of them JSON. */
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
    // raw-body pauses a body that it refuses, and the connection's next request comes after it.
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

/** A 415 for a PATCH names the accepted media types (RFC 5789 section 2.2). */
function unsupportedError(message: string, { method, mediaTypes }: Sent): HttpError {
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

/** Returns the refusal of a body that cannot be read, or the error itself. */
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
