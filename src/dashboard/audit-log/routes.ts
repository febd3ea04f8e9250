import type { Actor } from '../../domain/actor.ts';
import type { FieldErrors } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import {
  ACTS,
  type AuditFilters,
  type AuditRecord,
  exportAudit,
  findAuditedUser,
  listAudit,
} from '../../service/audit-log.ts';
import type { Database } from '../../store/database.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { csvLine } from './csv.ts';
import { type AuditTyped, auditPage } from './page.ts';

export async function showAudit(context: SignedInContext): Promise<View> {
  const { actor, query } = context;
  const { db } = context.dashboard;
  const typed = typedOf(query);
  const { filters, errors } = await readFilters(db, actor, typed);
  const after = query.get('after');
  const isWrong = Object.keys(errors).length > 0;
  const { events, next } = isWrong ? { events: [], next: null } : await listAudit(db, actor, { ...filters, after });
  const problem = isWrong ? { status: 422, message: '', fields: errors } : null;
  const main = auditPage({ events, next, typed, problem, isFirst: after === null });
  return page(context, { title: 'Audit log', status: problem?.status ?? 200, main });
}

export async function downloadAudit(context: SignedInContext): Promise<View> {
  const { actor, now } = context;
  const { db } = context.dashboard;
  const { filters, errors } = await readFilters(db, actor, typedOf(context.query));
  if (Object.keys(errors).length > 0) return showAudit(context);
  const fileName = `charter-audit-log-${now.toISOString().slice(0, 10)}.csv`;
  return { kind: 'download', fileName, lines: csv(exportAudit(db, actor, filters)) };
}

function typedOf(query: URLSearchParams): AuditTyped {
  const text = (name: string) => (query.get(name) ?? '').replaceAll('\0', '').trim().slice(0, 300);
  return { act: text('act'), person: text('person'), from: text('from'), to: text('to') };
}

const DAY = 86_400_000;

async function readFilters(db: Database, actor: Actor, { act, person, from, to }: AuditTyped) {
  const errors: Record<string, string[]> = {};
  const knownAct = ACTS.find((each) => each === act);
  if (act !== '' && knownAct === undefined) errors['act'] = ['must be one of those that are offered.'];
  const [first, last] = [readDay(from), readDay(to)];
  if (first === null) errors['from'] = ['must be a day such as 2026-01-31.'];
  if (last === null) errors['to'] = ['must be a day such as 2026-01-31.'];
  const userId = person === '' ? undefined : await findPerson(db, actor, person);
  if (userId === null) errors['person'] = ['must be the e-mail of a user. Nobody has this one.'];
  const filters: AuditFilters = {
    act: knownAct,
    userId: userId ?? undefined,
    from: first ?? undefined,
    // The day itself is meant too.
    to: last instanceof Date ? new Date(last.getTime() + DAY) : undefined,
  };
  const wrong: FieldErrors = errors;
  return { filters, errors: wrong };
}

/** Undefined: none was given; null: it is none. */
function readDay(text: string): Date | null | undefined {
  if (text === '') return undefined;
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime());
  return isDay && day.toISOString().startsWith(text) ? day : null;
}

/** By id, as links have it, or by the whole e-mail. */
async function findPerson(db: Database, actor: Actor, person: string): Promise<string | null> {
  return isId(person) ? person : findAuditedUser(db, actor, person);
}

const COLUMNS = {
  time: ({ at }) => at.toISOString(),
  act: ({ act }) => act,
  by_name: ({ actorName }) => actorName,
  by_email: ({ actorEmail }) => actorEmail,
  user_name: ({ targetName }) => targetName,
  user_email: ({ targetEmail }) => targetEmail,
  key_id: ({ keyId }) => keyId,
  key_name: ({ keyName }) => keyName,
  key_prefix: ({ keyPrefix }) => keyPrefix,
  detail: ({ detail }) =>
    Object.entries(detail)
      .map(([name, text]) => `${name}: ${text}`)
      .join('; '),
  ip: ({ ip }) => ip,
  user_agent: ({ userAgent }) => userAgent,
  request_id: ({ requestId }) => requestId,
  id: ({ id }) => id,
} satisfies Record<string, (event: AuditRecord) => string | null>;

async function* csv(batches: AsyncIterable<readonly AuditRecord[]>): AsyncGenerator<string> {
  yield csvLine(Object.keys(COLUMNS));
  for await (const events of batches) {
    yield events.map((event) => csvLine(Object.values(COLUMNS).map((cell) => cell(event) ?? ''))).join('');
  }
}
