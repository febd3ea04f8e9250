import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Cell, CommonAddress } from '../domain/organizations/cells.ts';
import { normalEmail, shownEmail } from '../domain/people/email.ts';
import { type Html, html } from '../html/html.ts';
import { findCellForEmail } from '../service/cells/domain-map.ts';
import { nextField, text } from './forms/fields.ts';
import { type Filled, type Form, fieldsOf, problemSummary } from './forms/form.ts';
import { GUEST_URLS, PROFILE_URL, SECTION_URLS, SIGN_IN_URL, safeNext, urlOf } from './http/addresses.ts';
import { formProblem } from './http/problem.ts';
import { askedUrl, calledCommonAddress, type Dashboard, type RequestContext } from './http/request-context.ts';
import { RequestError } from './http/request-error.ts';
import { redirect, type View } from './http/view.ts';
import { continuePage } from './markup/continue.ts';
import { page } from './markup/layout.ts';
import { postForm } from './markup/parts.ts';
import { form, type PublicPage, publicRoutes } from './routing/page-routes.ts';

const EMAIL_FORM = {
  next: nextField,
  email: text({ label: 'E-mail', type: 'email', attributes: html`autocomplete="username" required`, hasFocus: true }),
};

type Filling = Filled<typeof EMAIL_FORM>;

const PAGES: readonly PublicPage[] = [
  // With `callsInTurn`, the form does not wait for its turn to use the database, because it does not need the database.
  { path: SIGN_IN_URL, get: showCells, post: form(EMAIL_FORM, submitEmail, { callsInTurn: true }) },
  ...[...GUEST_URLS, ...SECTION_URLS].map((url) => ({ path: `${url}{/*rest}`, get: leadToSignIn })),
];

/**
 * Routes the pages of the address that all cells share. The pages lead to the right cell. Nobody signs in at the shared address,
 * because sessions and cookies belong to the host of a cell. Requests to the cell's own address go to the next handler.
 */
export function commonAddressRoutes(dashboard: Dashboard): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(publicRoutes(dashboard, PAGES));
  return (req: Request, res: Response, next) =>
    calledCommonAddress(req, dashboard) === null ? next() : router(req, res, next);
}

async function showCells(context: RequestContext): Promise<View> {
  return cellsPage(context, { typed: { email: '', next: safeNext(context.query.get('next')) }, problem: null });
}

/** Redirects to the sign-in page if the requested page exists only in cells. */
async function leadToSignIn(context: RequestContext): Promise<View> {
  return redirect(urlOf(SIGN_IN_URL, { next: nextParameterOf(safeNext(askedUrl(context))) }));
}

/**
 * Leads to the cell of the e-mail's domain. The response depends only on that domain, so that nobody can learn which e-mails have
 * an account.
 */
async function submitEmail(context: RequestContext, { values, typed }: Form<typeof EMAIL_FORM>): Promise<View> {
  const { next } = values;
  const email = normalEmail(values.email);
  if (email === null) {
    const problem = formProblem('Type the whole e-mail address, such as mei@example.org.');
    return cellsPage(context, { typed, problem });
  }
  const cell = await findCell(context, email);
  if (cell === null) return unknownPage(context, { email, next });
  const why = 'Your organization is there.';
  return continuePage(context, { title: `Sign in to ${cell.title}`, why, url: signInUrlAt(cell, { email, next }) });
}

/**
 * Returns the cell of the e-mail's domain, or `null` if the domain is unknown or the map of domains cannot be read. The person
 * then chooses a cell.
 */
async function findCell(context: RequestContext, email: string): Promise<Cell | null> {
  const { dashboard, auditSource } = context;
  const { domainsFile, cells } = requireCommonAddress(context);
  if (domainsFile === null) return null;
  try {
    return await findCellForEmail({ domainsFile, cells }, email);
  } catch (error) {
    dashboard.onFault(error, auditSource.requestId);
    return null;
  }
}

function requireCommonAddress({ commonAddress }: RequestContext): CommonAddress {
  if (commonAddress === null) throw new RequestError('not-found');
  return commonAddress;
}

/** Returns the "next" parameter of a link to the sign-in page. `null` stands for the profile page, which is the default. */
function nextParameterOf(next: string): string | null {
  return next === PROFILE_URL ? null : next;
}

type Going = { readonly email: string; readonly next: string };

/**
 * Returns the URL of a cell's sign-in page. The e-mail is in the fragment, which no server receives or logs. The script of the
 * sign-in page copies the e-mail into the form.
 */
function signInUrlAt({ url }: Cell, { email, next }: Going): string {
  const fragment = email === '' ? '' : `#email=${encodeURIComponent(shownEmail(email))}`;
  return `${url}${urlOf(SIGN_IN_URL, { next: nextParameterOf(next) })}${fragment}`;
}

function cellsPage(context: RequestContext, filled: Filling): View {
  const { problem } = filled;
  const { next } = filled.typed;
  const common = requireCommonAddress(context);
  const title = 'Sign in';
  const main = html`<section class="card guest-card"><h1>${title}</h1>
${common.domainsFile === null ? html`<p>Choose where your organization is.</p>` : emailForm(context, filled)}
${cellLinks(common, { email: '', next })}</section>`;
  return page(context, { title, main, problem, formUrl: urlOf(SIGN_IN_URL, { next: nextParameterOf(next) }) });
}

function emailForm({ formToken }: RequestContext, filled: Filling): Html {
  return html`${problemSummary(filled.problem)}
${postForm(
  { action: SIGN_IN_URL, formToken },
  html`${Object.values(fieldsOf(EMAIL_FORM, filled))}
<div class="actions"><button class="button primary wide">Continue</button></div>`,
)}
<div class="or"><span>or choose a location</span></div>`;
}

function cellLinks({ cells }: CommonAddress, going: Going): Html {
  return html`<ul class="cells">${cells.map(
    (cell) =>
      html`<li><a class="button wide" href="${signInUrlAt(cell, going)}">${cell.title}<span class="quiet">${new URL(cell.url).host}</span></a></li>`,
  )}</ul>`;
}

/** Returns the page for an e-mail whose domain is not in the map of domains. */
function unknownPage(context: RequestContext, going: Going): View {
  const title = 'Where is your organization?';
  const main = html`<section class="card guest-card"><h1>${title}</h1>
<p>Choose where it is. If you do not know, look at the address in your invitation, or ask a colleague.</p>
${cellLinks(requireCommonAddress(context), going)}
<p class="aside"><a href="${urlOf(SIGN_IN_URL, { next: nextParameterOf(going.next) })}">Use another e-mail</a></p></section>`;
  return page(context, { title, main });
}
