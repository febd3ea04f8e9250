import { type Html, html } from '../../html/html.ts';
import { START_URL } from '../http/addresses.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from './layout.ts';
import { emailText } from './parts.ts';

export type ErrorContent = {
  readonly status: number;
  readonly title: string;
  readonly message: string | Html;
  readonly link?: { readonly name: string; readonly href: string };
  /** A form with a button, which is shown in place of the link. */
  readonly form?: Html | undefined;
  /** What else the person can do. */
  readonly aside?: Html | undefined;
};

export function errorPage(
  context: RequestContext,
  { status, title, message, form, aside, link = { name: 'Go to the start page', href: START_URL } }: ErrorContent,
): View {
  const main = html`<section class="card narrow error-page">
<p class="eyebrow">Error ${status}</p>
<h1>${title}</h1>
<div>${typeof message === 'string' ? html`<p>${message}</p>` : message}</div>
${form ?? html`<p class="actions"><a class="button" href="${link.href}">${link.name}</a></p>`}
${aside !== undefined && html`<p class="aside">${aside}</p>`}</section>`;
  return page(context, { status, title, main });
}

/** Returns the list of the people to contact, as mailto links; `false` if there are none. */
export function contactList(people: readonly { readonly name: string; readonly email: string }[]): Html | false {
  return (
    people.length > 0 &&
    html`<ul class="contacts">${people.map(
      ({ name, email }) => html`<li>${name} <a href="mailto:${mailAddress(email)}">${emailText(email)}</a></li>`,
    )}</ul>`
  );
}

/**
 * Returns the e-mail address for a mailto URL, in which a "?" that is not escaped begins the header fields (RFC 6068, section 2).
 */
function mailAddress(email: string): string {
  return encodeURIComponent(email).replace('%40', '@');
}
