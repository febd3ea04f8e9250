import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { bodyProblemOf } from '../../domain/request.ts';
import { isSameText } from '../../domain/text.ts';
import type { RequestContext } from './request-context.ts';
import { RequestError } from './request-error.ts';

/** The maximum size of a request body, and the error if the body is larger. */
export type MaxSize = { readonly bytes: number; readonly error: 'too-large' | 'report-too-large' };
/** The maximum size of a form if the route sets no other: 10 KiB. Most forms have at most seven short fields. */
export const MAX_FORM: MaxSize = { bytes: 10 * 1024, error: 'too-large' };
export const TOKEN_FIELD = 'form_token';

/**
 * Returns the fields of the submitted form. Throws unless the form comes from a page of the dashboard that was made for this
 * session.
 */
export async function readFields(
  req: IncomingMessage,
  context: RequestContext,
  size: MaxSize,
): Promise<URLSearchParams> {
  if (mediaTypeOf(req) !== 'application/x-www-form-urlencoded') throw new RequestError('not-a-form');
  const sent = new URLSearchParams((await readBody(req, size)).toString('utf8'));
  if (!isSameText(sent.get(TOKEN_FIELD) ?? '', context.formToken)) throw new RequestError('forged');
  return sent;
}

/**
 * Throws if another site sent the form. Browsers name the sending site: in Sec-Fetch-Site over HTTPS and on localhost, otherwise
 * in Origin.
 */
export function requireSameOrigin({ headers }: IncomingMessage, origin: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined ? headers.origin === origin : site === 'same-origin';
  if (!isOurs) throw new RequestError('foreign');
}

/** Returns the media type of the body, without parameters; an empty string if the request has none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export async function readBody(req: IncomingMessage, { bytes: limit, error: tooLarge }: MaxSize): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length = null } = req.headers;
  if (encoding.toLowerCase() !== 'identity') throw new RequestError('compressed');
  if (req.readableEnded) return Buffer.alloc(0); // The request has no body (see server.ts); raw-body would throw an error.
  return getRawBody(req, { limit, length }).catch((error: unknown) => {
    const problem = bodyProblemOf(error);
    if (problem === 'too large') throw new RequestError(tooLarge);
    if (problem === 'incomplete') throw new RequestError('unreadable');
    throw error;
  });
}
