import { type Html, html } from '../../html/html.ts';
import { emailText } from './parts.ts';

/** People to ask, with links to write to them; false for nobody. */
export function contactList(people: readonly { readonly name: string; readonly email: string }[]): Html | false {
  return (
    people.length > 0 &&
    html`<ul class="contacts">${people.map(
      ({ name, email }) => html`<li>${name} <a href="mailto:${mailAddress(email)}">${emailText(email)}</a></li>`,
    )}</ul>`
  );
}

/** RFC 6068 section 2: a "?" in the address would start the header fields of the mail. */
function mailAddress(email: string): string {
  return encodeURIComponent(email).replace('%40', '@');
}
