import type { Outcome } from '../domain/key-usage.ts';
import type { ApiRequest } from './api-request.ts';
import type { RawResponse } from './response.ts';

/** Sends the response to a request. */
export type Send = (request: ApiRequest, response: RawResponse) => void;

/** The one place where responses leave, and count as uses of a known key. `securityHeaders`: by name; sent with every response. */
export function createSend(securityHeaders: Readonly<Record<string, string>>): Send {
  const always = Object.entries(securityHeaders).flat();
  return ({ method, res, exchange, rateLimitFields, use }, { status, fields, text }) => {
    res.writeHead(status, ['X-Request-Id', exchange.requestId, ...always, ...rateLimitFields, ...fields]);
    res.end(method === 'HEAD' ? undefined : text, 'latin1');
    use?.responded(outcomeOf(status, rateLimitFields));
  };
}

/** "limited": a limit of the key or its organization refused the request, and not that of the client's address, which has no fields. */
function outcomeOf(status: number, rateLimitFields: readonly string[]): Outcome | 'limited' {
  if (status === 429 && rateLimitFields.length > 0) return 'limited';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'successful';
}
