import type { IncomingMessage } from 'node:http';
import { entityTagOf, satisfiesIfNoneMatch } from './conditional.ts';
import type { Exception } from './exceptions.ts';
import { type ContractOperation, encodeJson, type HandlerResult } from './operation.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** A response as it is written, without its X-Request-Id. */
export type RawResponse = {
  readonly status: number;
  /** Header names and values in turn, as writeHead takes them; setHeader would build a table of them first. */
  readonly fields: readonly string[];
  /** JSON in UTF-8, one character a byte; `undefined` if the response has no body. */
  readonly text: string | undefined;
};

/** A success that can answer one request or many. */
export type RenderedResponse = RawResponse & {
  /** `undefined` if the contract shows none. */
  readonly entityTag: string | undefined;
  /** The 304 for a matching If-None-Match; `undefined` if the contract shows none. */
  readonly notModified: RawResponse | undefined;
};

export function render(
  { hasEntityTag, isConditional }: Pick<ContractOperation, 'hasEntityTag' | 'isConditional'>,
  { status, headers, body, ...given }: HandlerResult,
): RenderedResponse {
  const bytes = body === null ? undefined : encodeJson(body);
  // The tag hashes the bytes, not the organization's version: a 304 survives changes that the response does not show,
  // and a release that spells the same data differently gets another tag.
  const entityTag = hasEntityTag && bytes !== undefined ? (given.entityTag ?? entityTagOf(bytes)) : undefined;
  // RFC 9110 section 15.4.5: a 304 repeats only the headers that a cache needs.
  const caching = { 'Cache-Control': isConditional ? 'private, no-cache' : 'no-store', ETag: entityTag };
  return {
    ...rawResponse(status, { ...headers, ...caching }, bytes),
    entityTag,
    notModified: isConditional ? rawResponse(304, caching, undefined) : undefined,
  };
}

/** The response to one request: a 304 where its If-None-Match matches. */
export function conditionalResponse(req: IncomingMessage, rendered: RenderedResponse): RawResponse {
  const { entityTag, notModified } = rendered;
  if (notModified === undefined || entityTag === undefined) return rendered;
  return satisfiesIfNoneMatch(req.headers['if-none-match'], entityTag) ? rendered : notModified;
}

export function renderException({ status, headers, body }: Exception): RawResponse {
  return rawResponse(status, { ...headers, 'Cache-Control': 'no-store' }, encodeJson(body));
}

/** `bytes` are JSON in UTF-8; `undefined` if the response has no body. */
export function rawResponse(status: number, headers: Headers, bytes: Buffer | undefined): RawResponse {
  const fields = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  if (bytes !== undefined) fields.push('Content-Type', 'application/json; charset=utf-8');
  if (status !== 204 && status !== 304) fields.push('Content-Length', String(bytes?.length ?? 0));
  // Node sends a Latin-1 string in one piece with the headers, and does not encode it again.
  return { status, fields, text: bytes?.toString('latin1') };
}
