import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Environment } from '../domain/api-key.ts';
import { UnauthenticatedError } from '../domain/errors.ts';
import { hashOfKey } from '../service/authenticate.ts';
import { isRepeated } from './request-head.ts';

/** RFC 6750 section 2.1; the scheme's name in any letter case (RFC 9110 section 11.1). */
const BEARER = /^bearer +(\S+)$/i;
export const SEND_A_KEY = 'Send an API key in the Authorization header: Bearer <API_KEY>.';

/**
 * The last key of each open connection. Most clients send the same key with every request of a connection, and inspecting and
 * hashing it takes 5% of the processor time of a cached response.
 */
const hashed = new WeakMap<Socket, { readonly authorization: string; readonly hash: string }>();

/** The hash of the key in a request's one Authorization header. Throws a 401 unless it is a key of this environment. */
export function keyHashOf(req: IncomingMessage, environment: Environment): string {
  const authorization = authorizationOf(req);
  const known = hashed.get(req.socket);
  if (known?.authorization === authorization) return known.hash;
  const hash = hashOfKey(keyIn(authorization), environment);
  hashed.set(req.socket, { authorization, hash });
  return hash;
}

/** The key in a request's one Authorization header; throws a 401 where there is none. */
export function keyOf(req: IncomingMessage): string {
  return keyIn(authorizationOf(req));
}

function authorizationOf(req: IncomingMessage): string {
  const { authorization } = req.headers;
  if (authorization === undefined) throw new UnauthenticatedError(SEND_A_KEY, 'missing');
  // A proxy in front may have checked another one than the first.
  if (isRepeated(req.rawHeaders, 'authorization')) {
    throw new UnauthenticatedError('There are several Authorization headers. Send one.', 'malformed');
  }
  return authorization;
}

function keyIn(authorization: string): string {
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined)
    throw new UnauthenticatedError(`The Authorization header is not in the Bearer scheme. ${SEND_A_KEY}`, 'malformed');
  return key;
}
