import type { IncomingMessage } from 'node:http';
import { UnauthenticatedError } from '../domain/errors.ts';

/** RFC 6750 section 2.1; the scheme's name in any letter case (RFC 9110 section 11.1). */
const BEARER = /^bearer +(\S+)$/i;
export const SEND_A_KEY = 'Send an API key in the Authorization header: Bearer <API_KEY>.';

/** The key of a request, in its one Authorization header; throws where that is none. */
export function keyOf(req: IncomingMessage): string {
  const { authorization } = req.headers;
  if (authorization === undefined) throw new UnauthenticatedError(SEND_A_KEY, { presented: false });
  // Node keeps the first of several and drops the rest; what stands before us may have judged another one.
  if (countOf(req.rawHeaders, 'authorization') > 1) {
    throw new UnauthenticatedError('There are two Authorization headers. Send one.', { presented: true });
  }
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined)
    throw new UnauthenticatedError(`The Authorization header is not understood. ${SEND_A_KEY}`, { presented: true });
  return key;
}

/** `rawHeaders` holds names and values in turn. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) count += 1;
  return count;
}
