import { type Html, html } from '../../html/html.ts';
import { urlOf } from '../http/url.ts';
import { PROFILE } from './next.ts';

/** To the page that asks for the e-mail and the password at once. It needs no provider, and is the same for everybody. */
export function passwordLink(next: string = PROFILE): Html {
  return html`<a href="${urlOf('/sign-in', { with: 'password', next })}">Sign in with a password instead</a>`;
}
