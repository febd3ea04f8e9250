import type { FieldErrors } from '../../domain/errors.ts';
import { formatCount } from '../../domain/text.ts';
import type { Conflict, Invalid, NameTaken, RateLimited } from '../../service/outcome.ts';

/** Why a form was refused, as the form says it when it is shown again. */
export type Problem = {
  readonly status: number;
  /** For the whole form; shown where no field has a message of its own. */
  readonly message: string;
  readonly fields: FieldErrors;
  /** Null, unless there were too many attempts. */
  readonly retryAfterSeconds: number | null;
};

export function problemOf(refusal: Invalid | Conflict | NameTaken | RateLimited): Problem {
  switch (refusal.kind) {
    case 'invalid':
      return { status: 422, message: refusal.message, fields: refusal.fields, retryAfterSeconds: null };
    case 'conflict':
    case 'name-taken':
      return { status: 409, message: refusal.message, fields: {}, retryAfterSeconds: null };
    case 'rate-limited': {
      const { retryAfterSeconds } = refusal;
      const minutes = formatCount(Math.ceil(retryAfterSeconds / 60), 'minute');
      const message = `There were too many attempts. Try again in ${minutes}.`;
      // RFC 6585 section 4.
      return { status: 429, message, fields: {}, retryAfterSeconds };
    }
  }
}

/** A problem that concerns no single field. */
export function formProblem(message: string): Problem {
  return { status: 422, message, fields: {}, retryAfterSeconds: null };
}
