import type { Actor } from '../../domain/audit/actor.ts';
import { withNormalDomain } from '../../domain/people/email.ts';
import { isId } from '../../domain/text.ts';
import { type AuditFilters, type AuditRecord, countAuditEvents, listAuditEvents } from '../../store/audit/audit.ts';
import { listMatchingKeys } from '../../store/keys/key-lists.ts';
import { listMatchingUsers } from '../../store/people/user-lists.ts';
import type { Database } from '../../store/sql/database.ts';
import type { Edge } from '../../store/sql/lists.ts';
import { requireRight } from '../authority/rights.ts';
import { eachPage, positionOfId, readListPage } from '../list-position.ts';

export type AuditListPage = {
  readonly events: readonly AuditRecord[];
  /** The `before` parameter of the previous page, which has newer events; `null` on the first page. */
  readonly previous: string | null;
  /** The `after` parameter of the next page, which has older events; `null` on the last page. */
  readonly next: string | null;
};

const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 1000;

/**
 * Lists the audit events that match the filters, the latest first, for an administrator. Returns no events if the id of a user or
 * key in the filters is not a UUID. Ignores a position that is not a UUID.
 */
export async function listAudit(
  db: Database,
  actor: Actor,
  { after = null, before = null, ...filters }: AuditFilters & { after?: string | null; before?: string | null } = {},
): Promise<AuditListPage> {
  requireRight(actor, 'govern');
  return readPage(db, actor, { filters, after, before, size: PAGE_SIZE });
}

export const MAX_COUNTED_EVENTS = 1000;

/** Counts the audit events that match the filters, for an administrator. Stops counting at MAX_COUNTED_EVENTS + 1. */
export async function countAudit(db: Database, actor: Actor, filters: AuditFilters = {}): Promise<number> {
  requireRight(actor, 'govern');
  return hasIdsOnly(filters) ? countAuditEvents(db, actor.scope, { ...filters, most: MAX_COUNTED_EVENTS + 1 }) : 0;
}

function hasIdsOnly({ userIds = [], keyIds = [] }: AuditFilters): boolean {
  return [...userIds, ...keyIds].every((id) => isId(id));
}

/** The maximum numbers of users and of keys that a search of the log may match. Each user or key costs one or two index scans. */
export const MAX_AUDITED_USERS = 20;
export const MAX_AUDITED_KEYS = 200;

/** Returns the ids of the users whose name or e-mail contains the text, or `null` if there are more than MAX_AUDITED_USERS. */
export async function findAuditedUsers(db: Database, actor: Actor, text: string): Promise<readonly string[] | null> {
  requireRight(actor, 'govern');
  const found = await listMatchingUsers(db, actor.scope, {
    text: withNormalDomain(text),
    limit: MAX_AUDITED_USERS + 1,
  });
  const whole = found.filter(({ isWholeEmail }) => isWholeEmail);
  if (whole.length === 0 && found.length > MAX_AUDITED_USERS) return null;
  return (whole.length > 0 ? whole : found).map(({ id }) => id);
}

/** Returns the ids of the keys whose name or prefix contains the text, or `null` if there are more than MAX_AUDITED_KEYS. */
export async function findAuditedKeys(db: Database, actor: Actor, text: string): Promise<readonly string[] | null> {
  requireRight(actor, 'govern');
  const found = await listMatchingKeys(db, actor.scope, { text, limit: MAX_AUDITED_KEYS + 1 });
  return found.length > MAX_AUDITED_KEYS ? null : found;
}

/** Yields all audit events that match the filters, the latest first, in chunks of at most 1,000, so that memory stays bounded. */
export function exportAudit(
  db: Database,
  actor: Actor,
  filters: AuditFilters = {},
): AsyncGenerator<readonly AuditRecord[], void, undefined> {
  requireRight(actor, 'govern');
  return eachPage(async (after) => {
    const { events, next } = await readPage(db, actor, { filters, after, before: null, size: EXPORT_PAGE_SIZE });
    return { rows: events, next };
  });
}

type PageRequest = {
  readonly filters: AuditFilters;
  readonly after: string | null;
  readonly before: string | null;
  readonly size: number;
};

async function readPage(
  db: Database,
  actor: Actor,
  { filters, after, before, size }: PageRequest,
): Promise<AuditListPage> {
  if (!hasIdsOnly(filters)) return { events: [], previous: null, next: null };
  const window = { after: positionOfId(after), before: positionOfId(before), size };
  const read = (edge: Edge<{ id: string }> | null, limit: number) =>
    listAuditEvents(db, actor.scope, {
      ...filters,
      after: edge?.side === 'after' ? edge.id : null,
      before: edge?.side === 'before' ? edge.id : null,
      limit,
    });
  const { rows: events, previous, next } = await readListPage(window, read, ({ id }) => id);
  return { events, previous, next };
}

/**
 * Returns the settings that have changed, each as "before -> after", for the detail of an audit event. An empty value is shown as
 * "none".
 */
export function changesBetween(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Record<string, string> {
  const changes = Object.entries(after).filter(([name, words]) => before[name] !== words);
  return Object.fromEntries(changes.map(([name, words]) => [name, `${before[name] || 'none'} -> ${words || 'none'}`]));
}
