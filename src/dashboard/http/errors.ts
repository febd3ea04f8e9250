import { DomainError, type ErrorCode } from '../../domain/errors.ts';
import { isOutage } from '../../store/database-errors.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import type { RequestContext } from './request-context.ts';
import { REQUEST_ERRORS, RequestError } from './request-error.ts';
import type { View } from './view.ts';

/** One exhaustive table: a new code cannot lack a status or a title. */
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

/** The page for an error. For a bug or an outage, `isFault` is true and the page says nothing about the cause. */
export function errorView(error: unknown, context: RequestContext): { view: View; isFault: boolean } {
  if (error instanceof RequestError) return { view: viewOf(context, REQUEST_ERRORS[error.kind]), isFault: false };
  if (error instanceof DomainError && error.code !== 'unavailable') {
    return { view: viewOf(context, { ...PAGES[error.code], message: error.message }), isFault: false };
  }
  if (error instanceof DomainError || isOutage(error)) {
    const message = 'Nothing was lost. Wait a few seconds, then reload this page.';
    const view = { ...viewOf(context, { ...PAGES.unavailable, message }), headers: { 'Retry-After': '5' } };
    return { view, isFault: true };
  }
  const message = `Something went wrong on our side. Try again. If it happens again, tell support this number: ${context.trace.requestId}`;
  return { view: viewOf(context, { status: 500, title: 'That was our mistake', message }), isFault: true };
}

type ErrorText = { readonly status: number; readonly title: string; readonly message: string };

function viewOf(context: RequestContext, { status, title, message }: ErrorText): View {
  return page(context, { status, title, main: errorPage({ status, title, message }) });
}
