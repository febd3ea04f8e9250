import type { IncomingMessage } from 'node:http';
import { HttpError } from './exceptions.ts';

/** `host[:port]` (RFC 9110 section 7.2): a registered name or an IPv4 address, or an IP literal in brackets. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])?(?::\d*)?$/;

/**
 * Why the request line and headers must be refused before anything is done with the request; null if they are valid. Node's
 * parser accepts them, but a proxy in front may read them in another way.
 */
export function findHeadFlaw({ httpVersion, headers, rawHeaders }: IncomingMessage): HttpError | null {
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
  return null;
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
