import type { IncomingMessage } from 'node:http';
import { formatNumber } from '../domain/format.ts';
import { findTooLargeHead, MAX_HEAD_BYTES } from '../domain/head-size.ts';
import { maskKeys } from '../domain/keys/api-key.ts';
import { clip, HttpError } from './exceptions.ts';

/** 8 KiB; a longer URL gets 414. */
export const MAX_URL_BYTES = 8 * 1024;

export function urlTooLong(): HttpError {
  return new HttpError('uri_too_long', `The URL is longer than ${MAX_URL_BYTES} bytes (8 KiB). Shorten it.`);
}

/** Characters of a target that stand for themselves, and that Express's URL parser takes for something else. */
const NOT_FOR_THE_PARSER = /[#\u00a0]/g;

/**
 * The request target in origin form, path and query. A client may send the absolute form, "GET http://host/path" (RFC 9112
 * section 3.2.2), or something that is no URL at all; Express's router would not call any middleware for some of these.
 */
export function originFormOf(target: string): string {
  const origin = target.startsWith('/') ? '' : (/^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? '');
  const rest = target.slice(origin.length).replace(NOT_FOR_THE_PARSER, encodeURIComponent);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

export const HEAD_TOO_LARGE = `The URL and the headers are larger than ${MAX_HEAD_BYTES / 1024} KiB together. Send fewer or shorter headers.`;

/** `host[:port]` (RFC 9110 section 7.2): a registered name or an IPv4 address, or an IP literal in brackets. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])?(?::\d*)?$/;

/**
 * Why the request line and headers must be refused before anything is done with the request; null if they are valid. Node's
 * parser accepts them, but a proxy in front may read them in another way.
 */
export function findHeadFlaw(req: IncomingMessage): HttpError | null {
  const { httpVersion, headers, rawHeaders } = req;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new HttpError('bad_request', `HTTP/${httpVersion} is not supported. Use HTTP/1.1.`);
  const { host, 'transfer-encoding': transferEncoding } = headers;
  if (host === undefined) {
    if (httpVersion === '1.1')
      return new HttpError('bad_request', 'The Host header is missing (RFC 9112 section 3.2).');
  } else if (!HOST.test(host)) {
    return new HttpError('bad_request', 'The Host header is not a valid host name with an optional port.');
  } else if (isRepeated(rawHeaders, 'host')) {
    return new HttpError('bad_request', 'There are several Host headers. Send one.');
  }
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked')
    return new HttpError('not_implemented', 'The transfer coding is not supported. Use only "chunked", or none.');
  return isForApi(req) ? findSizeFlaw(req) : null;
}

/** The dashboard has a page for people whose cookies are too large. A URL that is too long gets a status of its own. */
function isForApi({ url = '' }: IncomingMessage): boolean {
  return /^\/api(?:[/?]|$)/.test(originFormOf(url)) && url.length <= MAX_URL_BYTES;
}

function findSizeFlaw(req: IncomingMessage): HttpError | null {
  const found = findTooLargeHead(req);
  if (found === null) return null;
  const { name, bytes } = found.largest;
  const what = name.toLowerCase() === 'cookie' ? 'the cookies, which this API does not use' : clip(maskKeys(name), 100);
  return new HttpError(
    'bad_request',
    `${HEAD_TOO_LARGE} The largest header has ${formatNumber(bytes)} bytes: ${what}.`,
  );
}

/** `rawHeaders` alternates names and values. Node keeps only the first of several, silently. */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i];
    // Comparing the lengths first spares most names the conversion to lower case.
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
