import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { bodyProblemOf } from '../../domain/request.ts';
import { isSameText } from '../../domain/text.ts';
import type { RequestContext } from './request-context.ts';
import { RequestError } from './request-error.ts';

/** The largest body that is read, and the error for a larger one. */
export type MaxSize = { readonly bytes: number; readonly error: 'too-large' | 'report-too-large' };
/** 10 KiB; most forms have at most seven short fields. */
export const MAX_FORM: MaxSize = { bytes: 10 * 1024, error: 'too-large' };
export const TOKEN_FIELD = 'form_token';

/** Reads a form as it was sent. Throws unless one of our own pages made it for this session. */
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
 * Refuses forms of other sites. Browsers name the page that sends the form: by HTTPS and on localhost in Sec-Fetch-Site,
 * otherwise in Origin.
 */
export function requireSameOrigin({ headers }: IncomingMessage, origin: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined ? headers.origin === origin : site === 'same-origin';
  if (!isOurs) throw new RequestError('foreign');
}

/** The media type of the body, without parameters; empty if there is none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export async function readBody(req: IncomingMessage, { bytes: limit, error: tooLarge }: MaxSize): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length = null } = req.headers;
  if (encoding.toLowerCase() !== 'identity') throw new RequestError('compressed');
  if (req.readableEnded) return Buffer.alloc(0); // The request announced no body (server.ts); raw-body would call that unreadable.
  return getRawBody(req, { limit, length }).catch((error: unknown) => {
    const problem = bodyProblemOf(error);
    if (problem === 'too large') throw new RequestError(tooLarge);
    if (problem === 'incomplete') throw new RequestError('unreadable');
    throw error;
  });
}
