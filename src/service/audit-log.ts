import type { Actor } from '../domain/actor.ts';
import { normalEmail } from '../domain/email.ts';
import { isId } from '../domain/id.ts';
import { type AuditFilters, type AuditRecord, listAuditEvents } from '../store/audit-log.ts';
import type { Database } from '../store/database.ts';
import { findUserIdByEmail } from '../store/users.ts';
import { refuseToGovern } from './organization.ts';

export { ACTIONS } from '../store/audit.ts';
export type { AuditFilters, AuditRecord };

export type AuditListPage = {
  readonly events: readonly AuditRecord[];
  /** `after` of the next page, with older events; null: this is the last. */
  readonly next: string | null;
};

const PAGE_SIZE = 50;
const EXPORT_BATCH_SIZE = 1000;

/** The latest events first, for administrators. A `userId` or `keyId` that is no id finds nothing; such an `after` is ignored. */
export async function listAudit(
  db: Database,
  actor: Actor,
  { after = null, ...filters }: AuditFilters & { after?: string | null } = {},
): Promise<AuditListPage> {
  refuseToGovern(actor.role);
  return readPage(db, actor, { filters, after: after !== null && isId(after) ? after : null, rows: PAGE_SIZE });
}

/** The id of the user with this e-mail; null: the organization has none. */
export async function findAuditedUser(db: Database, actor: Actor, email: string): Promise<string | null> {
  refuseToGovern(actor.role);
  const address = normalEmail(email);
  return address === null ? null : findUserIdByEmail(db, actor.scope, address);
}

/** All events that match, the latest first, in batches of at most 1,000, so that memory stays bounded. */
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
    const { events, next }: AuditListPage = await readPage(db, actor, { filters, after, rows: EXPORT_BATCH_SIZE });
    if (events.length > 0) yield events;
    after = next;
  } while (after !== null);
}

async function readPage(
  db: Database,
  actor: Actor,
  { filters, after, rows }: { filters: AuditFilters; after: string | null; rows: number },
): Promise<AuditListPage> {
  const { action, userId, keyId, from, to } = filters;
  if ([userId, keyId].some((id) => id !== undefined && !isId(id))) return { events: [], next: null };
  const found = await listAuditEvents(db, actor.scope, { action, userId, keyId, from, to, after, limit: rows + 1 });
  const events = found.slice(0, rows);
  return { events, next: found.length > rows ? (events.at(-1)?.id ?? null) : null };
}
