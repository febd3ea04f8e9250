import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

// The session's cookie, and the tokens that tie a form to it. Before anybody has signed in, a cookie of its own takes the
// session's place, so that nobody can be signed in to somebody else's account by a foreign form.

type Cookies = { readonly session: string | null; readonly form: string | null };

/** `__Host-`: the browser takes it over HTTPS and from this very host only (RFC 6265bis section 4.1.3.2). */
function namesOf(isSecure: boolean) {
  return isSecure
    ? { session: '__Host-charter', form: '__Host-charter-form' }
    : { session: 'charter', form: 'charter-form' };
}

export function readCookies({ cookie = '' }: IncomingHttpHeaders, isSecure: boolean): Cookies {
  const names = namesOf(isSecure);
  const found = new Map<string, string>();
  for (const pair of cookie.split(';')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    // Of two with one name, the first: the browser sends the more specific one first.
    if (equals > 0 && !found.has(name)) found.set(name, pair.slice(equals + 1).trim());
  }
  return { session: found.get(names.session) || null, form: found.get(names.form) || null };
}

export function sessionCookie(token: string, isSecure: boolean): string {
  return cookieLine(namesOf(isSecure).session, token, isSecure);
}

export function formCookie(value: string, isSecure: boolean): string {
  return cookieLine(namesOf(isSecure).form, value, isSecure);
}

export function endedSessionCookie(isSecure: boolean): string {
  return `${cookieLine(namesOf(isSecure).session, '', isSecure)}; Max-Age=0`;
}

function cookieLine(name: string, value: string, isSecure: boolean): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

export function newFormCookie(): string {
  return randomBytes(32).toString('base64url');
}

/** What a form must carry: only who holds the cookie's value can make it, and it does not give that value away. */
export function formTokenOf(cookie: string): string {
  return sign(cookie, 'form');
}

export function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

const OUR_ROOMS = /^\/(profile|people|organization)(\/|$)/;

/** Where to go after signing in: a path of ours, however it is written; anything else leads to the profile. */
export function safeNext(text: string | null): string {
  if (text === null || text.length > 2000 || !URL.canParse(text, 'http://ours.invalid')) return '/profile';
  const { origin, pathname, search } = new URL(text, 'http://ours.invalid');
  return origin === 'http://ours.invalid' && OUR_ROOMS.test(pathname) ? pathname + search : '/profile';
}
