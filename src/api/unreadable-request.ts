import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { maskKeys } from '../domain/keys/api-key.ts';
import type { UnreadableRequest } from '../domain/request.ts';
import { checkHeadSize, MAX_HEAD_BYTES } from '../domain/request.ts';
import { formatNumber } from '../domain/text.ts';
import { clip, exceptionOf, HttpError } from './exceptions.ts';

/** The length of the longest URL. A longer URL gets a 414. */
export const MAX_URL_BYTES = 8 * 1024;

export function urlTooLongError(): HttpError {
  return new HttpError('uri_too_long', `The URL is longer than ${MAX_URL_BYTES} bytes (8 KiB). Shorten it.`);
}

/** The characters that are literal in a request target, but have a special meaning for Express's URL parser. */
const NOT_FOR_THE_PARSER = /[#\u00a0]/g;

/**
 * Returns the path and the query string of the request target (its origin form). A client may send the absolute form, such as
 * "GET http://host/path" (RFC 9112 section 3.2.2), or something that is not a URL. For some such targets, Express's router would
 * not call any middleware.
 */
export function originFormOf(target: string): string {
  const origin = target.startsWith('/') ? '' : (/^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? '');
  const rest = target.slice(origin.length).replace(NOT_FOR_THE_PARSER, encodeURIComponent);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

const HEAD_TOO_LARGE = `The URL and the headers are larger than ${MAX_HEAD_BYTES / 1024} KiB together. Send fewer or shorter headers.`;

/**
 * The form `host[:port]` (RFC 9110 section 7.2). The host is a registered name, an IPv4 address, or an IPv6 address in brackets.
 */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])?(?::\d*)?$/;

/**
 * Returns the refusal of a request whose request line or headers are ambiguous, or `null` if they are valid. Node's parser
 * accepts such requests, but a proxy in front of the server may read them differently.
 */
export function checkHead(req: IncomingMessage): HttpError | null {
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
  return isForApi(req) ? checkApiHeadSize(req) : null;
}

/**
 * Returns whether the request is for the API and its URL is not too long. All other requests are answered later: the dashboard
 * has its own page for cookies that are too large, and a URL that is too long gets a 414.
 */
function isForApi({ url = '' }: IncomingMessage): boolean {
  return /^\/api(?:[/?]|$)/.test(originFormOf(url)) && url.length <= MAX_URL_BYTES;
}

function checkApiHeadSize(req: IncomingMessage): HttpError | null {
  const found = checkHeadSize(req);
  if (found === null) return null;
  const { name, bytes } = found.largest;
  const what = name.toLowerCase() === 'cookie' ? 'the cookies, which this API does not use' : clip(maskKeys(name), 100);
  return new HttpError(
    'bad_request',
    `${HEAD_TOO_LARGE} The largest header has ${formatNumber(bytes)} bytes: ${what}.`,
  );
}

/**
 * Returns whether the header occurs more than once. `rawHeaders` alternates names and values; `headers` would contain only the
 * first of several.
 */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i];
    // The lengths are compared first, so that most names need not be converted to lower case.
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

export type TimeLimits = {
  /** The time within which the headers of a request must arrive. */
  readonly headersSeconds: number;
  /** The time within which the whole request must arrive. */
  readonly requestSeconds: number;
};

export type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer };

export type Refusal = {
  readonly unreadable: UnreadableRequest;
  /** The headers, by name. They include a header that says that the connection will be closed. */
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
};

export type RefusalOptions = {
  readonly limits: TimeLimits;
  /** The headers, by name, that every response has. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  /** Whether the headers of the request have arrived. */
  readonly isBody: boolean;
};

/** Returns the contract's exception for input that is not valid HTTP, or that did not arrive in time. */
export function refusalOf(error: ParseError | HttpError, options: RefusalOptions): Refusal {
  const requestId = randomUUID();
  const { status, headers, body } = exceptionOf(error instanceof HttpError ? error : reasonOf(error, options));
  const text = JSON.stringify(body);
  return {
    unreadable: { requestId, status, code: error.code },
    headers: {
      'X-Request-Id': requestId,
      ...options.securityHeaders,
      ...headers,
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
    },
    body: text,
  };
}

/** Returns the text of the whole response, as it is written to the connection. */
export function responseTextOf({ unreadable: { status }, headers, body }: Refusal): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

function timeoutError({ limits, isBody }: RefusalOptions): HttpError {
  const message = isBody
    ? `The request did not arrive within ${limits.requestSeconds} seconds.`
    : `The headers of the request did not arrive within ${limits.headersSeconds} seconds.`;
  return new HttpError('request_timeout', message);
}

/** Matches the beginning of a request. */
const REQUEST_LINE = /^[A-Z-]+ \S/;
const REQUEST_LINE_START = 20;

const UNENCODED_URL =
  'The URL contains a character that must be percent-encoded, such as a space (%20) or ü (%C3%BC). curl encodes the parameters that it gets by -G --data-urlencode.';

/**
 * Returns whether the packet begins with a request line that is valid except for unencoded characters in its URL, such as a space
 * or "ü".
 */
function hasUnencodedUrl(packet: Buffer | undefined): boolean {
  const end = packet?.indexOf('\r\n') ?? -1;
  const [, target = ''] = /^[A-Z-]+ (\S.*\S|\S) HTTP\/1\.[01]$/.exec(packet?.toString('latin1', 0, end) ?? '') ?? [];
  return /^(?:\/|https?:)/i.test(target) && /[^!-~]/.test(target);
}

function reasonOf({ code, rawPacket }: ParseError, options: RefusalOptions): HttpError {
  const { isBody } = options;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return timeoutError(options);
  if (code === 'HPE_INVALID_EOF_STATE') {
    const message = isBody
      ? 'The body is incomplete: the client stopped sending before its end.'
      : 'The headers are incomplete: the client stopped sending before their end.';
    return new HttpError('bad_request', message);
  }
  if (code !== 'HPE_HEADER_OVERFLOW')
    return new HttpError(
      'bad_request',
      hasUnencodedUrl(rawPacket) ? UNENCODED_URL : 'The request is not readable HTTP/1.1.',
    );
  // The packet may be a later part of the request, which says nothing about the length of the URL.
  const isStart = rawPacket !== undefined && REQUEST_LINE.test(rawPacket.toString('latin1', 0, REQUEST_LINE_START));
  const firstLineBytes = rawPacket?.indexOf('\r\n') ?? 0;
  if (isStart && (firstLineBytes < 0 || firstLineBytes > MAX_URL_BYTES)) return urlTooLongError();
  return new HttpError('bad_request', HEAD_TOO_LARGE);
}
