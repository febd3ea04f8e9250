import { v7 as newId } from 'uuid';
import type { AuditSource } from '../../domain/audit/actor.ts';
import type { HolderKind } from '../../domain/keys/api-key.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { storable, storableClient } from '../sql/values.ts';

export const ACTIONS = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.renamed',
  'key.restricted',
  'key.moved',
  'user.invited',
  'user.email_changed',
  'user.invitation_withdrawn',
  'user.invitation_taken_back',
  'user.removed',
  'user.role_changed',
  'user.deactivated',
  'user.reactivated',
  'user.reset_link_made',
  'user.signed_in',
  'user.sign_in_failed',
  'user.signed_out',
  'user.session_ended',
  'user.signed_out_everywhere',
  'user.password_set',
  'user.second_factor_on',
  'user.second_factor_off',
  'user.second_factor_removed',
  'user.recovery_codes_made',
  'user.passkey_added',
  'user.passkey_renamed',
  'user.passkey_removed',
  // Only version 1.0 recorded this action, because some of its forms asked for the password.
  'user.password_check_failed',
  'user.proof_failed',
  'user.created_by_sso',
  'user.sso_linked',
  'user.sso_unlinked',
  'user.break_glass_used',
  'integration.created',
  'integration.changed',
  'integration.owner_changed',
  'integration.suspended',
  'integration.reactivated',
  'organization.policy_changed',
  'organization.limits_changed',
  'sso.connection_saved',
  'sso.connection_removed',
  'sso.domain_added',
  'sso.domain_verified',
  'sso.domain_removed',
  'sso.rules_changed',
  'sso.required',
  'sso.no_longer_required',
  'organization.suspended',
  'organization.resumed',
  'organization.exported',
  'organization.move_started',
  'organization.move_cancelled',
  'organization.moved',
  'webhook.created',
  'webhook.changed',
  'webhook.secret_rotated',
  'webhook.disabled',
  'webhook.enabled',
  'webhook.deleted',
  'webhook.resent',
  'webhook.test_sent',
] as const;
export type AuditAction = (typeof ACTIONS)[number];

/** The name of single sign-on in events. Stored events contain this text even if the code for single sign-on has been removed. */
export const BY_SINGLE_SIGN_ON = 'single sign-on';

export type AuditEvent = {
  readonly action: AuditAction;
  /** The user who performed the action; `null` for an operator, or if nobody is signed in. */
  readonly actorUserId: string | null;
  readonly targetUserId?: string | null;
  readonly keyId?: string | null;
  /** What changed, as text for people. It must not contain a key or another secret. */
  readonly detail?: Readonly<Record<string, string>>;
  /** The client that made the request; `null` if there was no request, as for an operator's action. */
  readonly auditSource: AuditSource | null;
};

type KeyEvents = {
  readonly action: AuditAction;
  /** A table or subquery with the columns organization_id, event_id, user_id (the holder of the key) and id (of the key). */
  readonly from: string;
  /** The SQL arguments of jsonb_build_object, which builds the event's detail. */
  readonly detail: string;
  /** The SQL for the address, the user agent and the id of the request. Default: empty strings. */
  readonly client?: string;
};

/**
 * Returns the SQL that inserts an event for each key in `from`, for statements that act on keys of several organizations. All
 * arguments except `action` are SQL.
 */
export function insertKeyEvents({ action, from, detail, client = "'', '', ''" }: KeyEvents): string {
  return `
    insert into audit_events (organization_id, id, act, target_user_id, key_id, detail, ip, user_agent, request_id)
    select organization_id, event_id, '${action}', user_id, id, jsonb_build_object(${detail}), ${client} from ${from}`;
}

/** The maximum length of a text in `detail`. It is longer than the longest list of allowed addresses. */
const MAX_DETAIL_CHARACTERS = 2500;

/** Records the event in the transaction of its action, so that either both are committed or neither is. */
export async function recordAudit(tx: Transaction, scope: OrganizationScope, event: AuditEvent): Promise<void> {
  const { action, actorUserId, targetUserId = null, keyId = null, detail = {}, auditSource } = event;
  await tx.auditEvent.create({
    data: {
      organizationId: scope.organizationId,
      id: newId(),
      action,
      actorUserId,
      targetUserId,
      keyId,
      detail: Object.fromEntries(
        Object.entries(detail).map(([name, text]) => [name, storable(text, MAX_DETAIL_CHARACTERS)]),
      ),
      ...storableClient(auditSource ?? { ip: '', userAgent: '' }),
      requestId: storable(auditSource?.requestId ?? '', 64),
    },
    select: { id: true },
  });
}

export type AuditFilters = {
  readonly action?: string | undefined;
  /** Only events whose actor or target is one of these users. */
  readonly userIds?: readonly string[] | undefined;
  readonly keyIds?: readonly string[] | undefined;
  /** The start of the period, inclusive. */
  readonly from?: Date | undefined;
  /** The end of the period, exclusive. */
  readonly to?: Date | undefined;
};

export type AuditQuery = AuditFilters & {
  /** The page contains only events that are older than the event with this id. `null` if there is no such limit. */
  readonly after: string | null;
  /** The page contains only events that are newer than the event with this id. `null` if there is no such limit. */
  readonly before?: string | null;
  /** The maximum number of rows. The caller asks for one row more than it shows. */
  readonly limit: number;
};

/** An event, with the current names of its users and its key. */
export type AuditRecord = {
  /** A UUIDv7, so that ids sort by time. */
  readonly id: string;
  readonly at: Date;
  readonly action: string;
  /** `null` for an operator, or if nobody was signed in. */
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly actorEmail: string | null;
  readonly targetId: string | null;
  readonly targetKind: HolderKind | null;
  readonly targetName: string | null;
  readonly targetEmail: string | null;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly keyPrefix: string | null;
  /** The user or integration that has the key now. */
  readonly keyHolderId: string | null;
  readonly keyHolderKind: HolderKind | null;
  readonly detail: Readonly<Record<string, string>>;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
};

/**
 * Lists events, the newest first. The id of an event begins with its time, so each filter is an index range and every page takes
 * equally long.
 */
export async function listAuditEvents(
  db: Database,
  scope: OrganizationScope,
  query: AuditQuery,
): Promise<AuditRecord[]> {
  const { rows } = await db.pool.query<AuditRecord>(auditStatement(scope, query));
  return rows;
}

/** Returns the number of matching events, or `most` if there are more. */
export async function countAuditEvents(
  db: Database,
  scope: OrganizationScope,
  query: AuditFilters & { readonly most: number },
): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(auditCountStatement(scope, query));
  return rows[0]?.count ?? 0;
}

/** Returns the SQL query for a page of events. Exported so that a test can check its query plan. */
export function auditStatement(scope: OrganizationScope, { after, before = null, limit, ...filters }: AuditQuery) {
  const { conditions, bind, values, ...subjects } = filterBy(scope, limit, filters);
  if (after !== null) conditions.push(`id < ${bind(after)}::uuid`);
  if (before !== null) conditions.push(`id > ${bind(before)}::uuid`);
  const direction = before === null ? 'desc' : 'asc';
  return { text: withNames(matchingEvents({ conditions, ...subjects, direction })), values };
}

/**
 * Returns the SQL query that counts events. It reads at most twice as many ids as it counts, because an event may be found both
 * by its actor and by its target.
 */
function auditCountStatement(scope: OrganizationScope, { most, ...filters }: AuditFilters & { readonly most: number }) {
  const { conditions, values, users, keys } = filterBy(scope, 2 * most, filters);
  const ranges = rangesOf({ conditions, users, keys, direction: 'desc' });
  const found =
    ranges === null
      ? page(conditions, { columns: 'id', direction: 'desc' })
      : `select found.id from ${lateral(ranges)} limit $2`;
  return { text: `select least(count(distinct id), ${most})::int as count from (${found}) found`, values };
}

type Filtered = {
  readonly conditions: string[];
  readonly bind: (value: unknown) => string;
  /** The values of the query's parameters: the organization, the limit, and those that `bind` added. */
  readonly values: unknown[];
} & Pick<Matching, 'users' | 'keys'>;

function filterBy(
  scope: OrganizationScope,
  limit: number,
  { action, userIds, keyIds, from, to }: AuditFilters,
): Filtered {
  const values: unknown[] = [scope.organizationId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['organization_id = $1'];
  if (action !== undefined) conditions.push(`act = ${bind(action)}`);
  if (from !== undefined) conditions.push(`id >= ${bind(firstIdAt(from))}::uuid`);
  if (to !== undefined) conditions.push(`id < ${bind(firstIdAt(to))}::uuid`);
  const users = userIds === undefined ? null : `${bind(userIds)}::uuid[]`;
  const keys = keyIds === undefined ? null : `${bind(keyIds)}::uuid[]`;
  return { conditions, bind, values, users, keys };
}

type Matching = {
  readonly conditions: readonly string[];
  /** SQL for arrays of ids; `null` if events are not filtered by these ids. */
  readonly users: string | null;
  readonly keys: string | null;
  /** The order in which rows are read from the start of the page. */
  readonly direction: 'asc' | 'desc';
};

function matchingEvents(matching: Matching): string {
  const ranges = rangesOf(matching);
  return ranges === null ? page(matching.conditions, { columns: '*', ...matching }) : pageOfRanges(ranges, matching);
}

/** SQL for an array of ids, and SQL queries that each read an index range for one `subject.id` of the array. */
type Ranges = { readonly subjects: string; readonly ranges: readonly string[] };

/**
 * Returns the index ranges to read; `null` if there is no filter for users or keys. With a filter for keys, the events are read
 * by key and then filtered by user, because a key has few events.
 */
function rangesOf({ conditions, users, keys, direction }: Matching): Ranges | null {
  const idsOf = (...more: readonly string[]) => page([...conditions, ...more], { columns: 'id', direction });
  if (keys !== null) {
    const ofUsers = users === null ? [] : [`(actor_user_id = any(${users}) or target_user_id = any(${users}))`];
    return { subjects: keys, ranges: [idsOf(...ofUsers, 'key_id = subject.id')] };
  }
  if (users === null) return null;
  return { subjects: users, ranges: [idsOf('actor_user_id = subject.id'), idsOf('target_user_id = subject.id')] };
}

function page(
  conditions: readonly string[],
  { columns, direction }: Pick<Matching, 'direction'> & { readonly columns: '*' | 'id' },
): string {
  return `select ${columns} from audit_events where ${conditions.join(' and ')} order by id ${direction} limit $2`;
}

/**
 * Returns the SQL that reads a page from index ranges. There is an index range for each subject and each of `ranges`. At most
 * one page is read from each index range, whereas an "or" over several columns would read the whole log. Duplicates are removed,
 * because an event is found twice if its actor is also its target. The ids of the page are found before the events are read, so
 * that PostgreSQL cannot scan the log to find them.
 */
function pageOfRanges(ranges: Ranges, { direction }: Pick<Matching, 'direction'>): string {
  const ids = `select distinct found.id from ${lateral(ranges)} order by found.id ${direction} limit $2`;
  return `select event.* from (${ids}) matching join audit_events event on event.organization_id = $1 and event.id = matching.id`;
}

function lateral({ subjects, ranges }: Ranges): string {
  const found = ranges.map((range) => `(${range})`).join(' union all ');
  return `unnest(${subjects}) subject (id), lateral (${found}) found`;
}

function withNames(events: string): string {
  return `
    select e.id, e.at, e.act as action, e.detail, e.ip, e.user_agent as "userAgent", e.request_id as "requestId",
           e.actor_user_id as "actorId", a.name as "actorName", a.email as "actorEmail",
           e.target_user_id as "targetId", t.kind as "targetKind", t.name as "targetName", t.email as "targetEmail",
           e.key_id as "keyId", k.name as "keyName", k.key_prefix as "keyPrefix",
           h.id as "keyHolderId", h.kind as "keyHolderKind"
    from (${events}) e
    left join users a on a.organization_id = $1 and a.id = e.actor_user_id
    left join users t on t.organization_id = $1 and t.id = e.target_user_id
    left join api_keys k on k.organization_id = $1 and k.id = e.key_id
    left join users h on h.organization_id = $1 and h.id = k.user_id
    order by e.id desc`;
}

/** Returns the smallest UUIDv7 of this instant (RFC 9562 section 5.7: the first 48 bits are milliseconds). */
function firstIdAt(at: Date): string {
  const milliseconds = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-0000-0000-000000000000`;
}

export type OperatorAction = {
  readonly action:
    | 'organization.exported'
    | 'organization.move_started'
    | 'organization.move_completed'
    | 'organization.move_cancelled'
    | 'organization.imported'
    | 'organization.moved'
    | 'organization.deletion_started'
    | 'organization.deleted';
  readonly organization: { readonly id: string; readonly name: string };
  readonly detail?: Readonly<Record<string, string>>;
};

/**
 * Records an operator's action in the action's transaction. Unlike an audit event, the record is kept when the organization is
 * deleted.
 */
export async function recordOperatorAction(
  tx: Transaction,
  { action, organization, detail = {} }: OperatorAction,
): Promise<void> {
  const { id: aboutId, name: aboutName } = organization;
  await tx.operatorAction.create({ data: { id: newId(), action, aboutId, aboutName, detail }, select: { id: true } });
}

const MAX_LISTED = 1000;

/** Lists the actions of operators, the newest first, at most 1,000. */
export async function listOperatorActions({ prisma }: Database) {
  return prisma.operatorAction.findMany({ orderBy: { id: 'desc' }, take: MAX_LISTED });
}
