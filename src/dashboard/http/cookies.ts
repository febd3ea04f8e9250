import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

type Cookies = {
  /** The session's token; `null` without a cookie. */
  readonly session: string | null;
  /** The secret for the forms of people who are not signed in; `null` without a cookie. */
  readonly formSecret: string | null;
};

/** With `__Host-` the browser accepts the cookie only by HTTPS and from this very host (RFC 6265bis section 4.1.3.2). */
function namesOf(isSecure: boolean) {
  return isSecure
    ? { session: '__Host-charter', form: '__Host-charter-form' }
    : { session: 'charter', form: 'charter-form' };
}

export function readCookies({ cookie = '' }: IncomingHttpHeaders, isSecure: boolean): Cookies {
  const names = namesOf(isSecure);
  const cookies = parseCookie(cookie);
  return { session: cookies[names.session] || null, formSecret: cookies[names.form] || null };
}

export function sessionCookie(token: string, isSecure: boolean): string {
  return setCookie(namesOf(isSecure).session, token, { isSecure });
}

export function endedSessionCookie(isSecure: boolean): string {
  return setCookie(namesOf(isSecure).session, '', { isSecure, maxAge: 0 });
}

export function formCookie(secret: string, isSecure: boolean): string {
  return setCookie(namesOf(isSecure).form, secret, { isSecure });
}

export function newFormSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The value of a Set-Cookie header. Without `maxAge`, in seconds, the cookie lasts until the browser is closed. */
function setCookie(name: string, value: string, { isSecure, ...age }: { isSecure: boolean; maxAge?: number }): string {
  return stringifySetCookie({ name, value, path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure, ...age });
}

/**
 * The token that ties a form to a session. `secret` is the session's token; before sign-in, it is the secret of the form
 * cookie, so that no foreign page can sign somebody in to another account. The form token does not reveal the secret.
 */
export function formTokenOf(secret: string): string {
  return sign(secret, 'form');
}

/** HMAC-SHA-256 in base64url. */
export function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}
