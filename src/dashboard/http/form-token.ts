import { createHmac } from 'node:crypto';

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
