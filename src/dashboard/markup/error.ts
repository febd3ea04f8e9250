import { type Html, html } from './html.ts';

export type ErrorContent = {
  readonly status: number;
  readonly title: string;
  readonly message: string | Html;
  readonly link?: { readonly name: string; readonly href: string };
};

export function errorPage({
  status,
  title,
  message,
  link = { name: 'Go to the start page', href: '/' },
}: ErrorContent): Html {
  return html`<section class="card narrow error-page">
<p class="eyebrow">Error ${status}</p>
<h1>${title}</h1>
<div>${typeof message === 'string' ? html`<p>${message}</p>` : message}</div>
<p class="actions"><a class="button" href="${link.href}">${link.name}</a></p>
</section>`;
}
