import type { ApiKey, Holder } from '../../domain/keys/api-key.ts';
import { FIRST_UNSUCCESSFUL, KEPT_REQUESTS, type RecordedRequest } from '../../domain/keys/key-usage.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { DAY_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';
import type { Edge } from '../sql/lists.ts';
import type { KeyUse } from './key-uses.ts';

// The recorded requests with API keys: all refused and failed requests, and a sample of the successful requests.

const WRITE = {
  name: 'write_key_requests',
  // A request that was already written is skipped, so that it does not prevent the other requests from being written.
  text: `
    insert into key_requests
      (organization_id, key_id, at, request_id, operation, status, exception, message, duration_ms)
    select k.organization_id, k.id, seen.at, seen.request_id, seen.operation, seen.status, seen.exception, seen.message,
           seen.duration_ms
    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::uuid[], $5::text[], $6::int[], $7::text[], $8::text[], $9::int[])
      as seen (organization_id, key_id, at, request_id, operation, status, exception, message, duration_ms)
    join api_keys k on k.organization_id = seen.organization_id and k.id = seen.key_id
    order by k.organization_id, k.id
    on conflict do nothing`,
};

/**
 * The number of new rows of a key that is enough to delete the key's surplus rows immediately. Housekeeping deletes the surplus
 * rows of other keys.
 */
const NEW_ROWS_TO_DELETE_AT_ONCE = 50;

/**
 * Adds the requests of keys of any organizations in one statement. If a key has many new requests, and now too many requests in
 * all, deletes the oldest requests of that key.
 */
export async function writeKeyRequests(db: Database, uses: readonly KeyUse[]): Promise<void> {
  const rows = uses.flatMap((use) => use.requests.map((request) => ({ ...request, use })));
  if (rows.length === 0) return;
  const values = [
    rows.map(({ use }) => use.organizationId),
    rows.map(({ use }) => use.keyId),
    rows.map(({ at }) => at.toISOString()),
    rows.map(({ requestId }) => requestId),
    rows.map(({ operation }) => operation),
    rows.map(({ status }) => status),
    rows.map(({ exception }) => exception),
    // A message may repeat the name of a field, and PostgreSQL cannot store a NUL.
    rows.map(({ message }) => message.replaceAll('\0', '\uFFFD')),
    rows.map(({ durationMs }) => durationMs),
  ];
  await db.pool.query({ ...WRITE, values });
  const busy = uses.filter(({ requests }) => requests.length >= NEW_ROWS_TO_DELETE_AT_ONCE);
  if (busy.length === 0) return;
  const keys = [busy.map(({ organizationId }) => organizationId), busy.map(({ keyId }) => keyId)];
  await db.pool.query({ ...DELETE_SURPLUS_OF_KEYS, values: keys });
}

/**
 * SQL that numbers the requests of each key, separately for successful and unsuccessful requests. The latest request has the
 * place 1.
 */
const PLACED = `
  select r.organization_id, r.at, r.request_id, r.status >= ${FIRST_UNSUCCESSFUL} as is_unsuccessful,
         row_number() over (
           partition by r.organization_id, r.key_id, r.status >= ${FIRST_UNSUCCESSFUL}
           order by r.at desc, r.request_id desc) as place
  from key_requests r`;

/**
 * Returns SQL that deletes at most CHUNK_ROWS of the requests that are too many for their key. `further` is SQL that follows
 * PLACED and restricts PLACED to some keys.
 */
function deleteBeyond(further: string): string {
  const { unsuccessful, successful } = KEPT_REQUESTS;
  return `
    delete from key_requests where (organization_id, at, request_id) in (
      select r.organization_id, r.at, r.request_id
      from (${PLACED} ${further}) placed
      join key_requests r on r.organization_id = placed.organization_id and r.at = placed.at and r.request_id = placed.request_id
      where placed.place > case when placed.is_unsuccessful then ${unsuccessful} else ${successful} end
      limit ${CHUNK_ROWS} for update of r skip locked)`;
}

const DELETE_SURPLUS_OF_KEYS = {
  name: 'delete_surplus_key_requests_of_keys',
  text: deleteBeyond(`
    join unnest($1::uuid[], $2::uuid[]) as busy (organization_id, key_id)
      on r.organization_id = busy.organization_id and r.key_id = busy.key_id`),
};

const DELETE_SURPLUS = { name: 'delete_surplus_key_requests', text: deleteBeyond('') };

/**
 * Deletes in chunks, for all organizations, the requests that are older than 7 days, or too many for their key. Returns the
 * number of deleted requests.
 */
export async function deleteOldKeyRequests(db: Database, deletion: Deletion): Promise<number> {
  const before = new Date(deletion.now.getTime() - KEPT_REQUESTS.days * DAY_MS);
  const expired = await deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from key_requests where (organization_id, at, request_id) in (
        select organization_id, at, request_id from key_requests where at < ${before}
        limit ${CHUNK_ROWS}::int for update skip locked)`,
  );
  const surplus = await deleteInChunks(deletion, async () => (await db.pool.query(DELETE_SURPLUS)).rowCount ?? 0);
  return expired + surplus;
}

export type RequestFilters = {
  /** `null` for the requests with all keys of the organization. */
  readonly keyIds: readonly string[] | null;
  readonly statuses: readonly [lowest: number, highest: number];
  /** `null` for all operations. */
  readonly operation: string | null;
  /** The earliest time; `null` if there is none. */
  readonly from: Date | null;
  /** The end of the period, exclusive; `null` if there is none. */
  readonly to: Date | null;
  /** The X-Request-Id; `null` for all requests. */
  readonly requestId: string | null;
};

/** A position in a list of requests, the latest first. */
export type RequestPosition = { readonly at: Date; readonly id: string };

export type ListedRequest = RecordedRequest & {
  readonly key: Pick<ApiKey, 'id' | 'name' | 'prefix'> & { readonly holder: Pick<Holder, 'id' | 'kind' | 'name'> };
};

type RequestQuery = {
  readonly filters: RequestFilters;
  /** `null` for the first page. */
  readonly from: Edge<RequestPosition> | null;
  readonly limit: number;
};

/** Lists recorded requests of the organization that match the filters, the latest first. */
export async function listKeyRequests(
  { pool }: Database,
  { organizationId }: OrganizationScope,
  { filters, from: edge, limit }: RequestQuery,
): Promise<ListedRequest[]> {
  const { keyIds, statuses, operation, from, to, requestId } = filters;
  const values: unknown[] = [organizationId, ...statuses, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['r.organization_id = $1', 'r.status between $2 and $3'];
  if (keyIds !== null) conditions.push(`r.key_id = any(${bind(keyIds)}::uuid[])`);
  if (operation !== null) conditions.push(`r.operation = ${bind(operation)}`);
  if (from !== null) conditions.push(`r.at >= ${bind(from)}`);
  if (to !== null) conditions.push(`r.at < ${bind(to)}`);
  if (requestId !== null) conditions.push(`r.request_id = ${bind(requestId)}::uuid`);
  const isReversed = edge?.side === 'before';
  if (edge !== null)
    conditions.push(
      `(r.at, r.request_id) ${isReversed ? '>' : '<'} (${bind(edge.at)}::timestamptz, ${bind(edge.id)}::uuid)`,
    );
  const direction = isReversed ? 'asc' : 'desc';
  const page = `select * from key_requests r where ${conditions.join(' and ')} order by r.at ${direction}, r.request_id ${direction} limit $4`;
  const text = `
    select r.request_id as "requestId", r.at, r.operation, r.status, r.exception, r.message, r.duration_ms as "durationMs",
           json_build_object('id', k.id, 'name', k.name, 'prefix', k.key_prefix, 'holder',
             json_build_object('id', holder.id, 'kind', holder.kind, 'name', holder.name)) as key
    from (${page}) r
    join api_keys k on k.organization_id = r.organization_id and k.id = r.key_id
    join users holder on holder.organization_id = k.organization_id and holder.id = k.user_id
    order by r.at desc, r.request_id desc`;
  return (await pool.query<ListedRequest>({ text, values })).rows;
}

export type RequestSummary = {
  /** The operations of the recorded requests. */
  readonly operations: readonly string[];
  /** The number of refused and failed requests that are not recorded, since the beginning of the day (UTC) of `since`. */
  readonly unlisted: number;
};

const SUMMARIZE = {
  name: 'summarize_key_requests',
  text: `
    select array(
             select distinct r.operation from key_requests r
             where r.organization_id = $1 and ($2::uuid is null or r.key_id = $2) order by r.operation) as operations,
           (select coalesce(sum(u.unlisted), 0)::int from key_uses u
            where u.organization_id = $1 and ($2::uuid is null or u.key_id = $2) and u.period = 'day'
              and u.starts_at >= date_trunc('day', $3::timestamptz, 'UTC')) as unlisted`,
};

/** Summarizes the requests with a key or, if `keyId` is `null`, with all keys of the organization. */
export async function summarizeKeyRequests(
  { pool }: Database,
  { organizationId }: OrganizationScope,
  { keyId, since }: { readonly keyId: string | null; readonly since: Date },
): Promise<RequestSummary> {
  const { rows } = await pool.query<RequestSummary>({ ...SUMMARIZE, values: [organizationId, keyId, since] });
  return rows[0] ?? { operations: [], unlisted: 0 };
}
