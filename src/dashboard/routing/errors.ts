import type { ServerResponse } from 'node:http';
import { DomainError, type ErrorCode, isNoFault, MovingError, OverloadError } from '../../domain/errors.ts';
import { Exchange } from '../../domain/request.ts';
import { html } from '../../html/html.ts';
import type { Conflict } from '../../service/outcome.ts';
import { listAdministrators } from '../../store/people/user-lists.ts';
import { isOutage } from '../../store/sql/database-errors.ts';
import type { RequestContext, SignedInContext } from '../http/request-context.ts';
import { REQUEST_ERRORS, RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { contactList, type ErrorContent, errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';

const PAGES: Record<ErrorCode, { status: number; title: string }> = {
  unauthenticated: { status: 401, title: 'You are not signed in' },
  forbidden: { status: 403, title: 'You may not do this' },
  not_found: { status: 404, title: 'There is no such page' },
  conflict: { status: 409, title: 'This cannot be done now' },
  precondition_failed: { status: 412, title: 'This has changed meanwhile' },
  invalid: { status: 422, title: 'Something needs correcting' },
  rate_limited: { status: 429, title: 'Too many requests' },
  unavailable: { status: 503, title: 'Charter cannot answer at the moment' },
};

type ErrorResponse = {
  readonly status: number;
  readonly title: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * The response while an organization is moving. It does not contain the organization's new address, which only the operators
 * know.
 */
const MOVING: ErrorResponse = {
  status: 503,
  title: 'Your organization is moving',
  message:
    'Nothing was changed. Your organization is moving to another installation of Charter, which takes a few minutes. If it is still moving then, ask the operators of Charter for its new address.',
  headers: { 'Retry-After': '5' },
};

/**
 * Returns the response to an action that is possible during a move, when most other pages are refused. `done` is a sentence that
 * confirms the action.
 */
export function movingViewOf(context: SignedInContext, done: string): View {
  const title = 'Done, while your organization is moving';
  const main = html`<section class="card narrow"><h1>${title}</h1>
<p>${done}</p>
<p>Your organization is moving to another installation of Charter, which does the same there before it serves your organization. You need not repeat it.</p></section>`;
  return page(context, { title, main });
}

/** Returns the content of the response to an error. Does not reveal the cause of a bug or an outage. */
export function errorContent(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof RequestError) return { ...REQUEST_ERRORS[error.kind], headers: {} };
  if (error instanceof DomainError && error.code !== 'unavailable') {
    return { ...PAGES[error.code], message: error.message, headers: {} };
  }
  if (error instanceof MovingError) return MOVING;
  if (error instanceof DomainError || isOutage(error)) {
    const isRefused = isNoFault(error);
    const message = isRefused
      ? 'Nothing was changed. Wait a few seconds, then try again.'
      : 'Wait a few seconds, then reload this page. If you sent a form, check whether its change was made before you send it again.';
    return {
      ...PAGES.unavailable,
      message,
      headers: { 'Retry-After': isRefused ? '1' : '5' },
    };
  }
  const message = `Something went wrong on our side. Try again. If it happens again, tell support this number: ${requestId}`;
  return { status: 500, title: 'That was our mistake', message, headers: {} };
}

export function errorView(error: unknown, context: RequestContext): View {
  const { headers, ...content } = errorContent(error, context.auditSource.requestId);
  return { ...errorPage(context, content), headers };
}

/** Returns the page for an error. If the person's role is the reason, the page names the administrators, who can help. */
export async function errorViewWithContacts(error: unknown, context: RequestContext): Promise<View> {
  const refusal = refusalOfRole(error);
  if (refusal === null || !isSignedIn(context)) return errorView(error, context);
  const { auditSource, dashboard } = context;
  const find = () => listAdministrators(dashboard.db, context.actor.scope);
  // An outage must not turn the 403 into a 503.
  const administrators = await context.inTurn(find).catch((reason: unknown) => {
    if (!isNoFault(reason)) dashboard.onFault(reason, auditSource.requestId);
    return [];
  });
  return errorPage(context, { ...refusal, message: html`<p>${refusal.message}</p>${contactList(administrators)}` });
}

function refusalOfRole(error: unknown) {
  if (error instanceof RequestError && error.kind === 'not-allowed') return REQUEST_ERRORS[error.kind];
  if (error instanceof DomainError && error.code === 'forbidden') return { ...PAGES.forbidden, message: error.message };
  return null;
}

const isSignedIn = (context: RequestContext): context is SignedInContext => 'actor' in context;

/** Returns the page that says why the action of a form is no longer possible. */
export function conflictPage(
  context: RequestContext,
  { message }: Conflict,
  link: NonNullable<ErrorContent['link']>,
): View {
  return errorPage(context, { ...PAGES.conflict, message, link });
}

/** Reports a bug, an outage or an overload. Does not report refusals that the client caused. */
export function reportError(
  error: unknown,
  { context: { dashboard, auditSource }, res }: { context: RequestContext; res: ServerResponse },
): void {
  if (error instanceof OverloadError) dashboard.onOverload(error.overloaded, Exchange.of(res));
  const isRefusal = error instanceof RequestError || (error instanceof DomainError && error.code !== 'unavailable');
  if (!isRefusal && !isNoFault(error)) dashboard.onFault(error, auditSource.requestId);
}
