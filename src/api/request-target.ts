import { HttpError } from './exceptions.ts';

/** 8 KiB; a longer URL gets 414. */
export const MAX_URL_BYTES = 8 * 1024;

export function urlTooLong(): HttpError {
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
