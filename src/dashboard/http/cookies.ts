import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

type Cookies = {
  readonly session: string | null;
  /**
   * The secret from which the form tokens of people who are not signed in are derived; `null` if the browser sent no form cookie.
   */
  readonly formSecret: string | null;
};

/**
 * Returns the names of the cookies. With `__Host-`, a browser accepts a cookie only over HTTPS and from exactly this host (RFC
 * 6265bis, section 4.1.3.2).
 */
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

/** Returns the value of a Set-Cookie header. `maxAge` is in seconds; without it, the cookie lasts until the browser is closed. */
function setCookie(name: string, value: string, { isSecure, ...age }: { isSecure: boolean; maxAge?: number }): string {
  return stringifySetCookie({ name, value, path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure, ...age });
}

/**
 * Returns the token that ties a form to a session, without revealing the secret. `secret` is the session token or, before
 * sign-in, the secret in the form cookie. The attack: another site submits the sign-in form, to sign the person in to the
 * attacker's account.
 */
export function formTokenOf(secret: string): string {
  return sign(secret, 'form');
}

/** Returns the HMAC-SHA-256 of the text in base64url. */
export function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}
