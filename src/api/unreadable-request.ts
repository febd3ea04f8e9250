import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { maskKeys } from '../domain/keys/api-key.ts';
import type { UnreadableRequest } from '../domain/request.ts';
import { checkHeadSize, MAX_HEAD_BYTES } from '../domain/request.ts';
import { formatNumber } from '../domain/text.ts';
import { clip, exceptionOf, HttpError } from './exceptions.ts';

/** A longer URL gets 414. */
export const MAX_URL_BYTES = 8 * 1024;

export function urlTooLongError(): HttpError {
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

const HEAD_TOO_LARGE = `The URL and the headers are larger than ${MAX_HEAD_BYTES / 1024} KiB together. Send fewer or shorter headers.`;

/** `host[:port]` (RFC 9110 section 7.2): a registered name or an IPv4 address, or an IP literal in brackets. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])?(?::\d*)?$/;

/**
 * Why the request line and headers must be refused before anything is done with the request; `null` if they are valid. Node's
 * parser accepts them, but a proxy in front may read them in another way.
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

/** The dashboard has a page for people whose cookies are too large. A URL that is too long gets a status of its own. */
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

export type TimeLimits = {
  /** The headers of a request must arrive within this time. */
  readonly headersSeconds: number;
  /** The whole request must arrive within this time. */
  readonly requestSeconds: number;
};

export type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer };

export type Refusal = {
  readonly unreadable: UnreadableRequest;
  /** The headers by name. One of them says that the connection is closed. */
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
};

export type RefusalOptions = {
  readonly limits: TimeLimits;
  /** The headers by name that are sent with every response. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  /** Whether the headers of the request have arrived. */
  readonly isBody: boolean;
};

/** The contract's exception for input that is not readable HTTP, or that did not arrive in time. */
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

/** The whole response, as it is written to the connection. */
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

/** Matches the first characters of a request. */
const REQUEST_LINE = /^[A-Z-]+ \S/;
const REQUEST_LINE_START = 20;

const UNENCODED_URL =
  'The URL contains a character that must be percent-encoded, such as a space (%20) or ü (%C3%BC). curl encodes the parameters that it gets by -G --data-urlencode.';

/** Whether the packet begins with the line of a request that is readable but for blanks and characters beyond ASCII in its URL. */
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
