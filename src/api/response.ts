import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  AbandonedError,
  DomainError,
  ForbiddenAddressError,
  ForbiddenError,
  type KeyRefusalReason,
  OverloadError,
  type Overloaded,
  UnauthenticatedError,
} from '../domain/errors.ts';
import type { RequestResult } from '../domain/keys/key-usage.ts';
import type { Exchange } from '../domain/request.ts';
import { stringifyJson } from '../domain/resources/json.ts';
import type { KnownKey } from '../service/authenticate.ts';
import { type Exception, exceptionOf } from './exceptions.ts';

// How the result of a handler, or an error, becomes a response: rendering, sending, and conditional requests.

export type HandlerResult = {
  readonly status: number;
  readonly headers: Headers;
  /** The body; `null` if the response has none. */
  readonly body: unknown;
  /** The entity tag. If it is omitted, and the contract has an ETag header, it is computed from the bytes of the body. */
  readonly entityTag?: string;
  /** The organization's version, read in the same snapshot as the data in the body. Without it, the response is not cached. */
  readonly version?: string | undefined;
};

type Headers = Readonly<Record<string, string | undefined>>;

/** A response as it is sent, except for the header X-Request-Id. */
export type RawResponse = {
  readonly status: number;
  /**
   * The header names and values, alternating, as writeHead accepts them. setHeader would first build a table of the headers,
   * which is slower.
   */
  readonly fields: readonly string[];
  /** The JSON in UTF-8, with one character for each byte; `undefined` if the response has no body. */
  readonly text: string | undefined;
  /** The exception in the body; omitted if the body is not an exception. */
  readonly exception?: { readonly name: string; readonly message: string };
};

/** A successful response, which may be sent to many requests. */
export type RenderedResponse = RawResponse & {
  /** The entity tag; `undefined` if the contract has no ETag header. */
  readonly entityTag: string | undefined;
  /** The 304 response for a matching If-None-Match; `undefined` if the contract has none. */
  readonly notModified: RawResponse | undefined;
};

/**
 * Renders the result of a handler. `shown` says whether the operation's successful response has an ETag, and whether the
 * operation has a 304 response.
 */
export function render(
  shown: { readonly hasEntityTag: boolean; readonly isConditional: boolean },
  { status, headers, body, ...given }: HandlerResult,
): RenderedResponse {
  const { hasEntityTag, isConditional } = shown;
  const bytes = body === null ? undefined : encodeJson(body);
  // The tag is a hash of the bytes, not the organization's version. A client's tag therefore stays valid when other data change,
  // and a release that formats the same data differently gets another tag.
  const entityTag = hasEntityTag && bytes !== undefined ? (given.entityTag ?? entityTagOf(bytes)) : undefined;
  // A 304 repeats only the headers that a cache needs (RFC 9110 section 15.4.5).
  const caching = { 'Cache-Control': isConditional ? 'private, no-cache' : 'no-store', ETag: entityTag };
  return {
    ...rawResponseOf(status, { ...headers, ...caching }, bytes),
    entityTag,
    notModified: isConditional ? rawResponseOf(304, caching, undefined) : undefined,
  };
}

/** Returns the response to one request: the 304 if the request's If-None-Match matches, otherwise the rendered response. */
export function conditionalResponseOf(req: IncomingMessage, rendered: RenderedResponse): RawResponse {
  const { entityTag, notModified } = rendered;
  if (notModified === undefined || entityTag === undefined) return rendered;
  return satisfiesIfNoneMatch(req.headers['if-none-match'], entityTag) ? rendered : notModified;
}

export function renderException({ name, status, headers, body }: Exception): RawResponse {
  const response = rawResponseOf(status, { ...headers, 'Cache-Control': 'no-store' }, encodeJson(body));
  return { ...response, exception: { name, message: body.message } };
}

/** Returns a response that can be sent. `bytes` are JSON in UTF-8; `undefined` if the response has no body. */
export function rawResponseOf(status: number, headers: Headers, bytes: Buffer | undefined): RawResponse {
  const fields = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  if (bytes !== undefined) fields.push('Content-Type', 'application/json; charset=utf-8');
  if (status !== 204 && status !== 304) fields.push('Content-Length', String(bytes?.length ?? 0));
  // Node sends a Latin-1 string together with the headers, and does not encode it again.
  return { status, fields, text: bytes?.toString('latin1') };
}

/**
 * JSON that is already serialized, such as the JSON that PostgreSQL returns. Encoding it in pieces takes half as long as encoding
 * the joined text.
 */
export class JsonText {
  // A private member makes the class nominal, so that TypeScript accepts no other object in its place.
  readonly #pieces: readonly string[];

  constructor(...pieces: readonly string[]) {
    this.#pieces = pieces;
  }

  encode(): Buffer {
    return Buffer.concat(this.#pieces.map((piece) => Buffer.from(piece)));
  }
}

/** Encodes a value as JSON in UTF-8. */
export function encodeJson(value: unknown): Buffer {
  return value instanceof JsonText ? value.encode() : Buffer.from(stringifyJson(value));
}

export type AnsweredRequest = {
  readonly req: IncomingMessage;
  readonly method: string;
  readonly url: string;
  readonly res: ServerResponse;
  readonly exchange: Exchange;
  readonly requestBody: unknown;
  /** The names and values of the rate limit headers, alternating. */
  rateLimitFields: readonly string[];
  /** The number of a batch's changes other than the first. */
  readonly extraItems: number;
  /** The key that was sent. The response counts as a use of this key. `undefined` if no known key was sent. */
  known: Pick<KnownKey, 'use' | 'at'> | undefined;
};

export type Send = (request: AnsweredRequest, response: RawResponse) => void;

/**
 * Returns the function that sends all responses, and counts them as uses of a known key. `securityHeaders` are the headers, by
 * name, that every response has.
 */
export function createSend(securityHeaders: Readonly<Record<string, string>>): Send {
  const always = Object.entries(securityHeaders).flat();
  return (request, response) => {
    const { method, res, exchange, rateLimitFields, known } = request;
    const { status, fields, text } = response;
    exchange.beginPart('sending');
    res.writeHead(status, ['X-Request-Id', exchange.requestId, ...always, ...rateLimitFields, ...fields]);
    res.end(method === 'HEAD' ? undefined : text, 'latin1');
    if (known !== undefined) recordUse(known, request, response);
  };
}

/**
 * Counts the response as a use of the key, and records the request if it was refused or failed, or if no successful request of
 * this operation has been recorded for the key since the last write.
 */
function recordUse(
  { use, at }: Pick<KnownKey, 'use' | 'at'>,
  { exchange: { requestId, handledBy: operation, startedAt }, rateLimitFields, extraItems }: AnsweredRequest,
  { status, exception: { name, message } = NO_EXCEPTION }: RawResponse,
): void {
  const result = resultOf(status, rateLimitFields);
  // A batch that a limit refused has spent none of its tokens.
  use.countResponse(operation, result, result === 'limited' ? 1 : 1 + extraItems);
  if (result === 'successful' && !use.lacksSample(operation)) return;
  const durationMs = Math.round(performance.now() - startedAt);
  use.noteRequest({ requestId, at, operation, status, exception: name, message, durationMs });
}

const NO_EXCEPTION = { name: '', message: '' };

/**
 * Returns what a response counts as. "limited" means that a limit of the key or its organization refused the request. A refusal
 * by the limit of the client's address has no rate limit headers.
 */
function resultOf(status: number, rateLimitFields: readonly string[]): RequestResult | 'limited' {
  if (status === 429 && rateLimitFields.length > 0) return 'limited';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'successful';
}

export type SendExceptionDeps = {
  readonly send: Send;
  /** Called for every bug and outage, with the id of the request. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Called for every refusal under load. */
  readonly onOverload?: (overloaded: Overloaded, exchange: Exchange) => void;
  /**
   * Called for every refusal of a key. "address": the key may not be used from the client's address. "permission": the key lacks
   * a permission. "suspended": the key's organization is suspended.
   */
  readonly onRefusedKey?: (reason: KeyRefusalReason | 'address' | 'permission' | 'suspended') => void;
};

/** Responds with the contract's exception for an error. */
export type SendException = (request: AnsweredRequest, error: unknown) => void;

export function createSendException({ send, onFault, onOverload, onRefusedKey }: SendExceptionDeps): SendException {
  return (request, error) => {
    const { res, exchange } = request;
    const exception = exceptionOf(error);
    if (exception.isFault) onFault(error, exchange.requestId);
    if (error instanceof OverloadError) onOverload?.(error.overloaded, exchange);
    // The client closed the connection, which is not a failure of the server, so no use is counted.
    if (error instanceof AbandonedError) request.known = undefined;
    // If a key ended after it was accepted, the response has no rate limit headers, as if the key had not been accepted.
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

/** Returns a strong entity tag, which is equal only for equal bytes (RFC 9110 section 8.8.3). */
export function entityTagOf(representation: string | Buffer): string {
  return `"${hash('sha256', representation, 'base64url').slice(0, 22)}"`;
}

/** Returns a function that throws a 412 unless If-Match contains the entity tag of the row. */
export function preconditionOfUpdate(
  ifMatch: string | undefined,
  { noun }: { readonly noun: string },
): (current: object) => void {
  const stale = `The ${noun} has changed since you read it. Read it again, then retry with its new ETag in If-Match.`;
  return (current) => {
    if (ifMatch === undefined) return;
    const entityTag = entityTagOf(stringifyJson(current));
    requireIfMatch(ifMatch, (tag) => tag === entityTag, stale);
  };
}

/** The conditions of a write: the headers If-Match and If-None-Match. */
type Conditions = { readonly ifMatch: string | undefined; readonly ifNoneMatch: string | undefined };

/**
 * Returns a function that throws a 412 unless the row, or its absence, meets the conditions of a request to create or replace it
 * (RFC 9110 section 13.2.2).
 */
export function preconditionOfUpsert(
  { ifMatch, ifNoneMatch }: Conditions,
  { noun, ownId }: { readonly noun: string; readonly ownId?: string },
): (current: object | null) => void {
  const requireUnchanged = preconditionOfUpdate(ifMatch, { noun });
  return (current) => {
    if (current === null) {
      if (ifMatch === undefined) return;
      throw preconditionError(
        `There is no ${noun} with this ${ownId}. Send the request without If-Match to create it.`,
      );
    }
    requireUnchanged(current);
    if (!satisfiesIfNoneMatch(ifNoneMatch, entityTagOf(stringifyJson(current))))
      throw preconditionError(
        `A ${noun} with this ${ownId} exists already. Send the request without If-None-Match to replace it.`,
      );
  };
}

function preconditionError(message: string): DomainError {
  return new DomainError('precondition_failed', message);
}

/**
 * Throws a 412 unless If-Match is absent or contains the current entity tag. The comparison is strong, so a weak tag never
 * matches (RFC 9110 section 13.1.1). `staleMessage` says what a client with an outdated tag should do.
 */
export function requireIfMatch(
  header: string | undefined,
  isCurrent: (strongTag: string) => boolean,
  staleMessage: string,
): void {
  if (header === undefined || header.trim() === '*') return;
  const tags = entityTagsIn(header);
  if (tags.some((tag) => !isWeak(tag) && isCurrent(tag))) return;
  // The usual advice, to read the row again, would not help here: the client would get the same tag, and a proxy would change it
  // again.
  throw new DomainError('precondition_failed', (tags.some(isWeak) && WEAK) || suffixMessageOf(tags) || staleMessage);
}

/**
 * A tag of this API to which a proxy has added a suffix: Apache adds "-gzip" or "-br", Jetty "--gzip", others ";gzip" or ":zstd".
 */
const WITH_SUFFIX = /^"[\w-]{22}([-;:+._~]{1,2}[a-z-]{2,10})"$/i;

function suffixMessageOf(tags: readonly string[]): string | undefined {
  const [suffix] = tags.flatMap((tag) => WITH_SUFFIX.exec(tag)?.[1] ?? []);
  return suffix === undefined
    ? undefined
    : `The entity tag ends in "${suffix}", which this API does not send. Send the tag in If-Match without it. If you receive the tag with it, a proxy in between has appended it, as proxies do that compress responses.`;
}

const WEAK =
  'A weak entity tag, which begins with W/, never matches in If-Match (RFC 9110 section 13.1.1). Send the strong tag as this API sends it, without W/. If you receive it with W/, a proxy in between has weakened it, as proxies do that compress responses.';

function isWeak(tag: string): boolean {
  return tag.startsWith('W/');
}

function strongOf(tag: string): string {
  return tag.replace(/^W\//, '');
}

/**
 * Returns whether the client needs this representation, because If-None-Match does not match. The comparison is weak (RFC 9110
 * section 13.1.2).
 */
export function satisfiesIfNoneMatch(header: string | undefined, entityTag: string): boolean {
  return !matchesIfNoneMatch(header, (tag) => tag === entityTag);
}

/** Returns whether If-None-Match is "*" or contains the entity tag of the current representation. */
export function matchesIfNoneMatch(header: string | undefined, isCurrent: (strongTag: string) => boolean): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || entityTagsIn(header).some((tag) => isCurrent(strongOf(tag)));
}

/** Returns the tags in the header with their quotes, and with W/ if they are weak. */
function entityTagsIn(header: string): string[] {
  return header.match(/(W\/)?"[^"]*"/g) ?? [];
}
