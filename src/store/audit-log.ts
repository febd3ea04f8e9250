import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Database } from './database.ts';

export type AuditFilters = {
  readonly act?: string | undefined;
  /** Whoever acted or was acted on. */
  readonly userId?: string | undefined;
  /** From this instant on. */
  readonly from?: Date | undefined;
  /** Before this instant. */
  readonly to?: Date | undefined;
};

export type AuditQuery = AuditFilters & {
  /** The id after which the page goes on, to older events. Null: from the latest. */
  readonly after: string | null;
  /** Rows at most: the caller asks for one more than it shows. */
  readonly limit: number;
};

/** An event with the names that its ids had when it was read. */
export type AuditRecord = {
  /** UUIDv7: later events sort later. */
  readonly id: string;
  readonly at: Date;
  readonly act: string;
  /** Null: an operator, or nobody who signed in. */
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly actorEmail: string | null;
  readonly targetId: string | null;
  readonly targetName: string | null;
  readonly targetEmail: string | null;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly keyPrefix: string | null;
  readonly detail: Readonly<Record<string, string>>;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
};

/** The latest first. An event's id begins with its time, so each filter is a range of an index and no page costs more than another. */
export async function listAuditEvents(
  db: Database,
  scope: OrganizationScope,
  query: AuditQuery,
): Promise<AuditRecord[]> {
  const { rows } = await db.pool.query<AuditRecord>(auditStatement(scope, query));
  return rows;
}

/** Apart, so that a test can ask PostgreSQL how it would answer it. */
export function auditStatement(scope: OrganizationScope, { act, userId, from, to, after, limit }: AuditQuery) {
  const values: unknown[] = [scope.organizationId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['organization_id = $1'];
  if (act !== undefined) conditions.push(`act = ${bind(act)}`);
  if (from !== undefined) conditions.push(`id >= ${bind(firstIdAt(from))}::uuid`);
  if (to !== undefined) conditions.push(`id < ${bind(firstIdAt(to))}::uuid`);
  if (after !== null) conditions.push(`id < ${bind(after)}::uuid`);
  return { text: joined(userId === undefined ? page(conditions) : eitherPage(conditions, bind(userId))), values };
}

function page(conditions: readonly string[], columns = '*'): string {
  return `select ${columns} from audit_events where ${conditions.join(' and ')} order by id desc limit $2`;
}

/**
 * Two ranges of two indexes, put together: an "or" over both columns would read the whole log. Who acts on themselves is
 * found by both, and counted once.
 */
function eitherPage(conditions: readonly string[], user: string): string {
  const acted = page([...conditions, `actor_user_id = ${user}::uuid`], 'id');
  const wasActedOn = page([...conditions, `target_user_id = ${user}::uuid`], 'id');
  return page([`organization_id = $1 and id in ((${acted}) union (${wasActedOn}))`]);
}

function joined(events: string): string {
  return `
    select e.id, e.at, e.act, e.detail, e.ip, e.user_agent as "userAgent", e.request_id as "requestId",
           e.actor_user_id as "actorId", a.name as "actorName", a.email as "actorEmail",
           e.target_user_id as "targetId", t.name as "targetName", t.email as "targetEmail",
           e.key_id as "keyId", k.name as "keyName", k.key_prefix as "keyPrefix"
    from (${events}) e
    left join users a on a.organization_id = $1 and a.id = e.actor_user_id
    left join users t on t.organization_id = $1 and t.id = e.target_user_id
    left join api_keys k on k.organization_id = $1 and k.id = e.key_id
    order by e.id desc`;
}

/** The least UUIDv7 that can be made at this instant (RFC 9562 section 5.7: 48 bits of milliseconds come first). */
function firstIdAt(at: Date): string {
  const milliseconds = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-0000-0000-000000000000`;
}
