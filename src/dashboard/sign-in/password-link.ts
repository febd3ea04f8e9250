import { type Html, html } from '../../html/html.ts';
import { PROFILE_URL, SIGN_IN_URL, urlOf } from '../addresses.ts';

/** To the page that asks for the e-mail and the password at once. It needs no provider, and is the same for everybody. */
export function passwordLink(next: string = PROFILE_URL): Html {
  return html`<a href="${urlOf(SIGN_IN_URL, { with: 'password', next })}">Sign in with a password instead</a>`;
}
