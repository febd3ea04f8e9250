import type { FieldErrors } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { ACTIONS, type AuditFilters, findAuditedUser } from '../../service/audit-log.ts';
import { readDay } from '../http/day.ts';
import type { Problem } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';

/** The values of the filter form's fields; empty: no filter. */
export type FilterValues = {
  readonly action: string;
  /** An e-mail, or a user's id in links. */
  readonly person: string;
  /** "2026-01-31". */
  readonly from: string;
  /** "2026-01-31"; this day is included. */
  readonly to: string;
};

export function filterValues(query: URLSearchParams): FilterValues {
  const text = (name: string) => (query.get(name) ?? '').replaceAll('\0', '').trim().slice(0, 300);
  return { action: text('action'), person: text('person'), from: text('from'), to: text('to') };
}

const DAY_MS = 86_400_000;

/** `problem` null: the values are valid. */
export async function readFilters(
  context: SignedInContext,
  { action, person, from, to }: FilterValues,
): Promise<{ filters: AuditFilters; problem: Problem | null }> {
  const errors: Record<string, string[]> = {};
  const knownAction = ACTIONS.find((each) => each === action);
  if (action !== '' && knownAction === undefined) errors['action'] = ['must be one of those in the list.'];
  const [first, last] = [readDay(from), readDay(to)];
  if (first === null) errors['from'] = ['must be a day such as 2026-01-31.'];
  if (last === null) errors['to'] = ['must be a day such as 2026-01-31.'];
  const userId = person === '' ? undefined : await findUserId(context, person);
  if (userId === null) errors['person'] = ['must be the e-mail of a user. Nobody has this e-mail.'];
  const filters = {
    action: knownAction,
    userId: userId ?? undefined,
    from: first ?? undefined,
    to: last instanceof Date ? new Date(last.getTime() + DAY_MS) : undefined,
  };
  return { filters, problem: problemOfFields(errors) };
}

/** Null: no user of the organization has this e-mail. */
async function findUserId({ dashboard, actor }: SignedInContext, person: string): Promise<string | null> {
  return isId(person) ? person : findAuditedUser(dashboard.db, actor, person);
}

function problemOfFields(fields: FieldErrors): Problem | null {
  if (Object.keys(fields).length === 0) return null;
  return { status: 422, message: '', fields, retryAfterSeconds: null };
}
