import { type Html, html } from '../../html/html.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from './layout.ts';

type Going = {
  readonly title: string;
  /** A sentence that says why the person continues on another site. */
  readonly why: string;
  readonly url: string;
  /** What else the person can do. */
  readonly aside?: Html;
};

/**
 * Returns a page that leads to another site by itself, and also has a link to that site. A redirect would not work, because
 * browsers apply "form-action" of the Content-Security-Policy to a redirect after a form, too.
 */
export function continuePage(context: RequestContext, { title, why, url, aside }: Going): View {
  const main = html`<section class="card guest-card"><h1>${title}</h1>
<p>${why} You continue at <strong>${new URL(url).host}</strong>.</p>
<p class="actions"><a class="button primary wide" href="${url}">Continue</a></p>
${aside !== undefined && html`<p class="aside">${aside}</p>`}</section>`;
  const view = page(context, { title, main });
  return { ...view, headers: { ...view.headers, Refresh: `0; url=${url}` } };
}
