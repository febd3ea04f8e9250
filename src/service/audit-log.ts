import type { Actor } from '../domain/actor.ts';
import { isId } from '../domain/id.ts';
import { normalEmail } from '../domain/person.ts';
import { type AuditFilters, type AuditRecord, listAuditEvents } from '../store/audit-log.ts';
import type { Database } from '../store/database.ts';
import { findUserIdByEmail } from '../store/users.ts';
import { refuseToGovern } from './organization.ts';

export { ACTS } from '../store/audit.ts';
export type { AuditFilters, AuditRecord };

export type AuditPage = {
  readonly events: readonly AuditRecord[];
  /** For the next, older page's `after`; null: this is the last. */
  readonly next: string | null;
};

const PAGE = 50;
const EXPORTED_AT_ONCE = 1000;

/** The latest first, for administrators. A filter's id that is none finds nothing, and a position that is none begins anew. */
export async function listAudit(
  db: Database,
  actor: Actor,
  { after = null, ...filters }: AuditFilters & { after?: string | null } = {},
): Promise<AuditPage> {
  refuseToGovern(actor.role);
  return readPage(db, actor, { filters, after: after !== null && isId(after) ? after : null, rows: PAGE });
}

/** Whose events are asked for, by the whole e-mail; null: nobody of the organization has it. */
export async function findAuditedUser(db: Database, actor: Actor, email: string): Promise<string | null> {
  refuseToGovern(actor.role);
  const address = normalEmail(email);
  return address === null ? null : findUserIdByEmail(db, actor.scope, address);
}

/** Every event that the filters leave, the latest first, in batches of at most 1,000: never the whole log in memory. */
export function exportAudit(
  db: Database,
  actor: Actor,
  filters: AuditFilters = {},
): AsyncGenerator<readonly AuditRecord[], void, undefined> {
  refuseToGovern(actor.role);
  return batches(db, actor, filters);
}

async function* batches(db: Database, actor: Actor, filters: AuditFilters) {
  let after: string | null = null;
  do {
    const { events, next }: AuditPage = await readPage(db, actor, { filters, after, rows: EXPORTED_AT_ONCE });
    if (events.length > 0) yield events;
    after = next;
  } while (after !== null);
}

async function readPage(
  db: Database,
  actor: Actor,
  { filters, after, rows }: { filters: AuditFilters; after: string | null; rows: number },
): Promise<AuditPage> {
  const { act, userId, from, to } = filters;
  if (userId !== undefined && !isId(userId)) return { events: [], next: null };
  const found = await listAuditEvents(db, actor.scope, { act, userId, from, to, after, limit: rows + 1 });
  const events = found.slice(0, rows);
  return { events, next: found.length > rows ? (events.at(-1)?.id ?? null) : null };
}
