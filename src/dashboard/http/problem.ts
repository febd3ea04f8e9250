import type { FieldErrors } from '../../domain/errors.ts';
import { formatCount } from '../../domain/text.ts';
import type { Conflict, Invalid, NameTaken, RateLimited } from '../../service/outcome.ts';

/** Why a form was refused. The page shows these messages together with the form. */
export type Problem = {
  readonly status: number;
  /** The message about the whole form. It is shown only if no field has a message. */
  readonly message: string;
  readonly fields: FieldErrors;
  /** The number of seconds to wait after too many attempts; `null` if there were not too many attempts. */
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
      // RFC 6585, section 4: a 429 response may contain Retry-After.
      return { status: 429, message, fields: {}, retryAfterSeconds };
    }
  }
}

/** Returns a problem with messages for single fields, or `null` if there are none. */
export function problemOfFields(fields: FieldErrors): Problem | null {
  if (Object.keys(fields).length === 0) return null;
  return { status: 422, message: '', fields, retryAfterSeconds: null };
}

/** Returns a problem that concerns the whole form. */
export function formProblem(message: string): Problem {
  return { status: 422, message, fields: {}, retryAfterSeconds: null };
}
