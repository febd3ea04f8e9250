import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { UnreadableRequest } from '../domain/unreadable-request.ts';
import { exceptionOf, HttpError } from './exceptions.ts';
import { HEAD_TOO_LARGE, MAX_URL_BYTES, urlTooLong } from './request-head.ts';

export type TimeLimits = {
  /** The headers of a request must arrive within this time. */
  readonly headersSeconds: number;
  /** The whole request must arrive within this time. */
  readonly requestSeconds: number;
};

export type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer };

export type Refusal = {
  readonly unreadable: UnreadableRequest;
  /** By name; they end the connection. */
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
};

export type RefusalOptions = {
  readonly limits: TimeLimits;
  /** By name; sent with every response. */
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

function timeout({ limits, isBody }: RefusalOptions): HttpError {
  const message = isBody
    ? `The request did not arrive within ${limits.requestSeconds} seconds.`
    : `The headers of the request did not arrive within ${limits.headersSeconds} seconds.`;
  return new HttpError('request_timeout', message);
}

/** Whether these first characters can begin a request. */
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
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return timeout(options);
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
  if (isStart && (firstLineBytes < 0 || firstLineBytes > MAX_URL_BYTES)) return urlTooLong();
  return new HttpError('bad_request', HEAD_TOO_LARGE);
}
