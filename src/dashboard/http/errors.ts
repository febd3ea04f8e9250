import { DomainError, type ErrorCode, type FieldErrors, RateLimitError } from '../../domain/errors.ts';
import { count } from '../../domain/words.ts';
import { isOutage } from '../../store/database-errors.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { REFUSALS, Refusal } from './refusal.ts';
import type { RequestContext } from './request-context.ts';
import type { View } from './view.ts';

/** One exhaustive table: a new code cannot lack a status, nor its page a title. */
const PAGES: Record<ErrorCode, { status: number; title: string }> = {
  unauthenticated: { status: 401, title: 'You are not signed in' },
  forbidden: { status: 403, title: 'You may not do this' },
  not_found: { status: 404, title: 'There is nothing here' },
  conflict: { status: 409, title: 'This cannot be done now' },
  precondition_failed: { status: 412, title: 'This has changed meanwhile' },
  invalid: { status: 422, title: 'Something needs correcting' },
  unavailable: { status: 503, title: 'Charter cannot answer at the moment' },
};

/** The page for an error. Of a bug or an outage it tells nothing but that there was one. */
export function errorView(error: unknown, context: RequestContext): { answer: View; isFault: boolean } {
  if (error instanceof Refusal) return { answer: tell(context, REFUSALS[error.kind]), isFault: false };
  if (error instanceof DomainError && error.code !== 'unavailable') {
    return { answer: tell(context, { ...PAGES[error.code], message: error.message }), isFault: false };
  }
  if (error instanceof DomainError || isOutage(error)) {
    const message = 'Nothing was lost. Wait a few seconds, then reload this page.';
    const answer = { ...tell(context, { ...PAGES.unavailable, message }), headers: { 'Retry-After': '5' } };
    return { answer, isFault: true };
  }
  const message = `Something went wrong on our side. Try again; if it happens again, tell support this number: ${context.trace.requestId}`;
  return { answer: tell(context, { status: 500, title: 'That was our mistake', message }), isFault: true };
}

function tell(
  context: RequestContext,
  { status, title, message }: { status: number; title: string; message: string },
): View {
  return page(context, { status, title, main: errorPage({ status, title, message }) });
}

/** What a form says of what was refused: beside each field, and in all. */
export type Problem = {
  readonly status: number;
  readonly message: string;
  readonly fields: FieldErrors;
};

/** Does the work; what the visitor can mend in the form, or try again later, the form is shown again with. */
export async function orAgain(work: () => Promise<View>, again: (problem: Problem) => Promise<View>) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RateLimitError) return rateLimited(error, again);
    if (!(error instanceof DomainError) || !(error.code === 'invalid' || error.code === 'conflict')) throw error;
    return again({ status: PAGES[error.code].status, message: error.message, fields: error.fields ?? {} });
  }
}

/** RFC 6585 section 4. */
export async function rateLimited(
  { retryAfterSeconds }: { retryAfterSeconds: number },
  again: (problem: Problem) => Promise<View> | View,
): Promise<View> {
  const message = `There were too many attempts. Try again in ${count(Math.ceil(retryAfterSeconds / 60), 'minute')}.`;
  const answer = await again({ status: 429, message, fields: {} });
  return { ...answer, headers: { ...answer.headers, 'Retry-After': String(retryAfterSeconds) } };
}
