import { HttpError } from './exceptions.ts';

/** 8 KiB; a longer URL gets 414. */
export const MAX_URL_BYTES = 8 * 1024;

export function urlTooLong(): HttpError {
  return new HttpError('uri_too_long', `The URL is longer than ${MAX_URL_BYTES} bytes (8 KiB). Shorten it.`);
}

/**
 * A request's target in the origin form, path and query. A client may send "GET http://host/path" (RFC 9112 section
 * 3.2.2), and whoever likes sends what is no address; either would reach Express's own parser, which answers what it
 * cannot read by itself, in HTML.
 */
export function originFormOf(target: string): string {
  if (target.startsWith('/')) return target;
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? '';
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
