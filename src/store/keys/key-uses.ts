import type { ApiKey, Holder } from '../../domain/keys/api-key.ts';
import { LIMITED_PER_HOUR, ONE_NETWORK_DAYS } from '../../domain/keys/key-notice.ts';
import {
  firstShown,
  type KeyPeriodUse,
  type KeyUsage,
  MAX_USED_NETWORKS,
  type RecordedRequest,
  type ResultCounts,
  totalOf,
  USE_PERIODS,
  type UsePeriod,
  usageOf,
} from '../../domain/keys/key-usage.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { DAY_MS, type TimeSpan } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';
import { insertNoticesOf } from './key-notices.ts';

/** The uses of one key in one hour that have not been stored yet. */
export type KeyUse = {
  readonly organizationId: string;
  readonly keyId: string;
  /** The start of the hour in UTC. */
  readonly hour: Date;
  /** The last use that was not refused; `null` if all uses were refused. */
  readonly lastUsedAt: Date | null;
  /** The network of the client at the last use; `null` if the network is not known. */
  readonly network: string | null;
  /** The client's product at the last use; `null` if the product is not known. */
  readonly client: string | null;
  /** The clients' networks, each with the day of its last use, such as "2026-01-31". */
  readonly networks: ReadonlyMap<string, string>;
  /** The number of uses that were refused because the key was rotated or revoked. */
  readonly refusedUses: number;
  /** The number of uses that were refused by a limit of the key or its organization. They are also counted as `refused` in `operations`. */
  readonly limited: number;
  /** The numbers of responses to all requests with the key, by operationId. */
  readonly operations: ReadonlyMap<string, ResultCounts>;
  /** The requests that are recorded one by one. */
  readonly requests: readonly RecordedRequest[];
  /** The number of refused and failed requests that are not in `requests`, because there were too many. */
  readonly unlisted: number;
};

const IS_LATER = "held.last_used_at > coalesce(k.last_used_at, '-infinity')";
const KNOWS_NETWORKS = 'k.used_networks @> all(held.networks)';

const WRITE = {
  name: 'write_key_uses',
  // Locks the keys in the order of their ids, so that processes that write at the same time cannot deadlock. All of these locks
  // are acquired before the first write to the tables of counts, and the lock of a key also protects the key's rows there. Every
  // join can use an index. Otherwise, the planner, which does not know the numbers of rows, could compare every row with every
  // other row.
  text: `
    with seen as (
      select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::int[], $6::bigint[], $7::bigint[], $8::bigint[],
          $9::text[], $10::text[], $11::bigint[], $12::jsonb[], $13::bigint[])
        as seen (organization_id, key_id, hour, last_used_at, refused_uses, successful, refused, failed, network, client,
          limited, networks, unlisted)),
    used as (
      select organization_id, key_id, max(last_used_at) as last_used_at, sum(refused_uses) as refused_uses,
             (array_agg(network order by last_used_at desc nulls last))[1] as network,
             (array_agg(client order by last_used_at desc nulls last))[1] as client,
             array_agg(networks) as networks
      from seen group by organization_id, key_id),
    held as (
      select k.organization_id, k.id, used.last_used_at, used.refused_uses, used.network, used.client, used.networks
      from api_keys k join used on used.organization_id = k.organization_id and used.key_id = k.id
      order by k.organization_id, k.id for no key update of k),
    counted as (
      insert into key_uses as u (organization_id, key_id, period, starts_at, successful, refused, failed, limited, unlisted)
      select k.organization_id, k.id, p.period, date_trunc(p.period::text, seen.hour, 'UTC'),
             sum(seen.successful), sum(seen.refused), sum(seen.failed), sum(seen.limited), sum(seen.unlisted)
      from seen
      join api_keys k on k.organization_id = seen.organization_id and k.id = seen.key_id
      cross join unnest(enum_range(null::use_period)) as p (period)
      where seen.successful + seen.refused + seen.failed > 0 and (select count(*) from held) > 0
      group by 1, 2, 3, 4
      on conflict (organization_id, key_id, period, starts_at) do update
        set successful = u.successful + excluded.successful,
            refused = u.refused + excluded.refused,
            failed = u.failed + excluded.failed,
            limited = u.limited + excluded.limited,
            unlisted = u.unlisted + excluded.unlisted
      returning u.organization_id, u.key_id, u.period, u.starts_at, u.limited),
    by_operation as (
      insert into key_operation_uses as o (organization_id, key_id, operation, starts_at, successful, refused, failed)
      select k.organization_id, k.id, seen.operation, date_trunc('day', seen.hour, 'UTC'),
             sum(seen.successful), sum(seen.refused), sum(seen.failed)
      from unnest($14::uuid[], $15::uuid[], $16::timestamptz[], $17::text[], $18::bigint[], $19::bigint[], $20::bigint[])
        as seen (organization_id, key_id, hour, operation, successful, refused, failed)
      join api_keys k on k.organization_id = seen.organization_id and k.id = seen.key_id
      where (select count(*) from held) > 0
      group by 1, 2, 3, 4
      on conflict (organization_id, key_id, operation, starts_at) do update
        set successful = o.successful + excluded.successful,
            refused = o.refused + excluded.refused,
            failed = o.failed + excluded.failed),
    limited as (
      select distinct u.organization_id, u.key_id, k.user_id, 'limited'::key_notice_kind as kind,
             to_char(u.starts_at at time zone 'UTC', 'YYYY-MM-DD') as occasion, null::timestamptz as ends_at,
             null::uuid as by_user_id, '' as detail
      from counted u
      join seen on seen.organization_id = u.organization_id and seen.key_id = u.key_id and seen.limited > 0
      join api_keys k on k.organization_id = u.organization_id and k.id = u.key_id
      where u.period = 'hour' and u.limited > ${LIMITED_PER_HOUR}),
    noticed as (${insertNoticesOf('limited')})
    update api_keys k
    set last_used_at = greatest(k.last_used_at, held.last_used_at),
        last_used_network = case when ${IS_LATER} then held.network else k.last_used_network end,
        last_used_client = case when ${IS_LATER} then held.client else k.last_used_client end,
        refused_uses = least(k.refused_uses + held.refused_uses, 2147483647)::int,
        used_networks = case when ${KNOWS_NETWORKS} then k.used_networks else (
          select jsonb_object_agg(kept.network, kept.day) from (
            select found.key as network, max(found.value) as day
            from unnest(held.networks || k.used_networks) as sources (networks)
            cross join jsonb_each_text(sources.networks) as found
            group by found.key order by max(found.value) desc, found.key limit ${MAX_USED_NETWORKS}) kept) end
    from held
    where k.organization_id = held.organization_id and k.id = held.id
      and (held.refused_uses > 0 or ${IS_LATER} or not ${KNOWS_NETWORKS})`,
};

/**
 * Adds the uses of keys of any organizations in one SQL statement, and writes notices about the rate limits that have refused
 * requests with these keys. `lastUsedAt` only moves forward.
 */
export async function writeKeyUses(db: Database, uses: readonly KeyUse[]): Promise<void> {
  const operations = uses.flatMap((use) =>
    [...use.operations].map(([operation, counts]) => ({ use, operation, counts })),
  );
  const totals = uses.map((use) => totalOf([...use.operations.values()]));
  const values = [
    uses.map(({ organizationId }) => organizationId),
    uses.map(({ keyId }) => keyId),
    uses.map(({ hour }) => hour.toISOString()),
    uses.map(({ lastUsedAt }) => lastUsedAt?.toISOString() ?? null),
    uses.map(({ refusedUses }) => refusedUses),
    totals.map(({ successful }) => successful),
    totals.map(({ refused }) => refused),
    totals.map(({ failed }) => failed),
    uses.map(({ network }) => network),
    uses.map(({ client }) => client),
    uses.map(({ limited }) => limited),
    uses.map(({ networks }) => JSON.stringify(Object.fromEntries(networks))),
    uses.map(({ unlisted }) => unlisted),
    operations.map(({ use }) => use.organizationId),
    operations.map(({ use }) => use.keyId),
    operations.map(({ use }) => use.hour.toISOString()),
    operations.map(({ operation }) => operation),
    operations.map(({ counts }) => counts.successful),
    operations.map(({ counts }) => counts.refused),
    operations.map(({ counts }) => counts.failed),
  ];
  await db.pool.query({ ...WRITE, values });
}

/** A row of key_uses, or a sum of several rows, as JSON_OF_USE renders it. `startsAt` is in seconds since 1970-01-01. */
export type UseJson = readonly [
  period: UsePeriod,
  startsAt: number,
  successful: number,
  refused: number,
  failed: number,
  limited: number,
];

export const JSON_OF_USE =
  'json_build_array(u.period, extract(epoch from u.starts_at), u.successful, u.refused, u.failed, u.limited)';

/**
 * Returns the SQL condition for the rows of key_uses that pages show. The arguments are SQL for the values that `firstShownOf`
 * returns.
 */
export function isShown(firstHour: string, firstDay: string): string {
  return `(u.period = 'hour' and u.starts_at >= ${firstHour} or u.period = 'day' and u.starts_at >= ${firstDay})`;
}

/** Returns the SQL condition for the rows of a span of time. The arguments are SQL for the members of a TimeSpan. */
export function isInSpan(from: string, to: string): string {
  return `(${from}::timestamptz is null or u.starts_at >= ${from}) and (${to}::timestamptz is null or u.starts_at < ${to})`;
}

export function firstShownOf(now: Date): readonly [firstHour: Date, firstDay: Date] {
  return [firstShown('hour', now), firstShown('day', now)];
}

/** Parses rows that JSON_OF_USE has rendered; `rows` is `null` if there are no rows. */
export function usageFrom(rows: readonly UseJson[] | null, now: Date, span?: TimeSpan): KeyUsage {
  const found: Record<UsePeriod, KeyPeriodUse[]> = { hour: [], day: [] };
  for (const [period, startsAt, successful, refused, failed, limited] of rows ?? [])
    found[period].push({ startsAt: new Date(startsAt * 1000), successful, refused, failed, limited });
  return usageOf(found, now, span);
}

export type MostUsedKey = ResultCounts & Pick<ApiKey, 'id' | 'name' | 'prefix'> & { readonly holder: Holder };

export type OrganizationUse = {
  readonly usage: KeyUsage;
  /** The keys with the most requests in these days, in descending order of requests. */
  readonly mostUsed: readonly MostUsedKey[];
};

const FIND_OF_ORGANIZATION = {
  name: 'find_organization_use',
  text: `
    with counts as (
      select key_id, period, starts_at, successful, refused, failed, limited
      from key_uses where organization_id = $1 and $6::text is null
      union all
      select key_id, 'day', starts_at, successful, refused, failed, 0
      from key_operation_uses where organization_id = $1 and operation = $6),
    shown as (
      select * from counts u
      where ${isShown('$2', '$3')} and ${isInSpan('$7', '$8')} and ($5::uuid[] is null or u.key_id = any($5))),
    periods as (
      select period, starts_at, sum(successful) as successful, sum(refused) as refused, sum(failed) as failed,
             sum(limited) as limited
      from shown group by period, starts_at),
    most_used as (
      select key_id, sum(successful) as successful, sum(refused) as refused, sum(failed) as failed
      from shown where period = 'day' group by key_id
      order by sum(successful + refused + failed) desc, key_id limit $4)
    select
      (select json_agg(${JSON_OF_USE}) from periods u) as uses,
      (select json_agg(
         json_build_object(
           'id', k.id, 'name', k.name, 'prefix', k.key_prefix, 
           'holder', json_build_object('id', holder.id, 'kind', holder.kind, 'name', holder.name, 'email', holder.email),
           'successful', m.successful, 'refused', m.refused, 'failed', m.failed)
         order by m.successful + m.refused + m.failed desc, k.id)
       from most_used m
       join api_keys k on k.organization_id = $1 and k.id = m.key_id
       join users holder on holder.organization_id = $1 and holder.id = k.user_id) as "mostUsed"`,
};

/** `keyIds` is `null` for all keys, and `operation` for all operations. */
type UsesOf = TimeSpan & {
  readonly now: Date;
  readonly keyIds: readonly string[] | null;
  readonly operation: string | null;
};

/**
 * Sums the requests of keys of the organization in one SQL query. `keys` is the number of most used keys to return. With a filter
 * by operation or time, `usage.hour` is empty, because the requests to an operation are counted by day.
 */
export async function sumOrganizationUse(
  db: Database,
  scope: OrganizationScope,
  { now, keyIds, operation, from, to, keys }: UsesOf & { keys: number },
): Promise<OrganizationUse> {
  const { rows } = await db.pool.query<{ uses: UseJson[] | null; mostUsed: MostUsedKey[] | null }>({
    ...FIND_OF_ORGANIZATION,
    values: [scope.organizationId, ...firstShownOf(now), keys, keyIds, operation, from, to],
  });
  const usage = usageFrom(rows[0]?.uses ?? null, now, { from, to });
  const hasHours = [operation, from, to].every((filter) => filter === null);
  return { usage: hasHours ? usage : { ...usage, hour: [] }, mostUsed: rows[0]?.mostUsed ?? [] };
}

/** The requests with a key in one hour or day. */
export type CountedKeyUse = KeyPeriodUse & {
  readonly period: UsePeriod;
  readonly keyId: string;
  readonly keyName: string;
  readonly keyPrefix: string;
};

const LIST_COUNTED = {
  name: 'list_counted_key_uses',
  text: `
    select u.period, u.starts_at as "startsAt", u.key_id as "keyId", k.name as "keyName", k.key_prefix as "keyPrefix",
           u.successful::float8, u.refused::float8, u.failed::float8, u.limited::float8
    from key_uses u join api_keys k on k.organization_id = u.organization_id and k.id = u.key_id
    where u.organization_id = $1 and ${isShown('$2', '$3')} and ${isInSpan('$4', '$5')}
      and ($6::uuid[] is null or u.key_id = any($6))
      and ($7::uuid is null or (u.key_id, u.period, u.starts_at) > ($7, $8::use_period, $9::timestamptz))
    order by u.key_id, u.period, u.starts_at limit $10`,
};

/**
 * Lists the counts of the shown hours and days, ordered by key and time. The list starts after the row `after`, or with the first
 * row if `after` is `null`.
 */
export async function listCountedUses(
  db: Database,
  { organizationId }: OrganizationScope,
  { now, from, to, keyIds, after, limit }: Omit<UsesOf, 'operation'> & { after: CountedKeyUse | null; limit: number },
): Promise<CountedKeyUse[]> {
  const position = [after?.keyId, after?.period, after?.startsAt].map((each) => each ?? null);
  const values = [organizationId, ...firstShownOf(now), from, to, keyIds, ...position, limit];
  return (await db.pool.query<CountedKeyUse>({ ...LIST_COUNTED, values })).rows;
}

/**
 * Deletes in chunks, for all organizations, the hourly and daily counts that are too old to be shown. Returns the number of
 * deleted rows.
 */
export async function deleteOldKeyUses(db: Database, deletion: Deletion): Promise<number> {
  let deleted = 0;
  for (const period of USE_PERIODS) {
    const before = firstShown(period, deletion.now);
    deleted += await deleteInChunks(
      deletion,
      () => db.prisma.$executeRaw`
        delete from key_uses where (organization_id, key_id, period, starts_at) in (
          select organization_id, key_id, period, starts_at from key_uses
          where period = ${period}::use_period and starts_at < ${before}
          limit ${CHUNK_ROWS}::int for update skip locked)`,
    );
  }
  return deleted;
}

/**
 * The maximum number of networks that are stored for a key. Five are enough, because it only matters whether a key was used from
 * one network or from several.
 */
const MAX_NETWORKS = 5;
const NETWORK_DAYS_KEPT = 2 * ONE_NETWORK_DAYS;

const NOTE = {
  name: 'note_networks',
  text: `
    with seen as (
      select organization_id, key_id, network, max(at) as at
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) as seen (organization_id, key_id, network, at)
      group by organization_id, key_id, network),
    watched as materialized (
      select k.organization_id, k.id as key_id, k.user_id, seen.network, seen.at, past.is_known, past.recent, past.first_seen_at,
             row_number() over (partition by k.organization_id, k.id, past.is_known order by seen.network) as place
      from seen
      join organizations o on o.id = seen.organization_id and o.tells_new_networks
      join api_keys k on k.organization_id = seen.organization_id and k.id = seen.key_id
      cross join lateral (
        select coalesce(bool_or(n.network = seen.network), false) as is_known,
               count(*) filter (where n.last_seen_at > seen.at - ${ONE_NETWORK_DAYS} * interval '1 day') as recent,
               min(n.first_seen_at) filter (where n.last_seen_at > seen.at - ${ONE_NETWORK_DAYS} * interval '1 day')
                 as first_seen_at
        from key_networks n where n.organization_id = k.organization_id and n.key_id = k.id) past),
    kept as (
      insert into key_networks as n (organization_id, key_id, network, first_seen_at, last_seen_at)
      select organization_id, key_id, network, at, at from watched where is_known or recent + place <= ${MAX_NETWORKS}
      order by organization_id, key_id, network
      on conflict (organization_id, key_id, network) do update set last_seen_at = excluded.last_seen_at
        where n.last_seen_at < excluded.last_seen_at - interval '1 hour'),
    wanted as (
      select organization_id, key_id, user_id, 'new_network'::key_notice_kind as kind, (at at time zone 'UTC')::date::text as occasion,
             null::timestamptz as ends_at, null::uuid as by_user_id, network as detail
      from watched
      where not is_known and place = 1 and recent = 1
        and first_seen_at <= at - ${ONE_NETWORK_DAYS} * interval '1 day')
    ${insertNoticesOf('wanted')}`,
};

/**
 * Records the networks of keys whose organization wants notices about new networks. Writes a notice if a key was used from only
 * one network for 30 days, and is now used from a network that is new for the key; at most one notice a day.
 */
export async function noteNetworks(db: Database, uses: readonly KeyUse[]): Promise<void> {
  const seen = uses.flatMap(({ organizationId, keyId, networks, lastUsedAt }) =>
    lastUsedAt === null
      ? []
      : [...networks.keys()].map((network) => ({ organizationId, keyId, network, at: lastUsedAt.toISOString() })),
  );
  if (seen.length === 0) return;
  const values = [
    seen.map(({ organizationId }) => organizationId),
    seen.map(({ keyId }) => keyId),
    seen.map(({ network }) => network),
    seen.map(({ at }) => at),
  ];
  await db.pool.query({ ...NOTE, values });
}

/**
 * Deletes in chunks, for all organizations, the networks from which a key was not used for 60 days. Returns the number of deleted
 * rows.
 */
export async function deleteOldKeyNetworks(db: Database, deletion: Deletion): Promise<number> {
  const before = new Date(deletion.now.getTime() - NETWORK_DAYS_KEPT * DAY_MS);
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from key_networks where (organization_id, key_id, network) in (
        select organization_id, key_id, network from key_networks where last_seen_at < ${before}
        limit ${CHUNK_ROWS}::int for update skip locked)`,
  );
}
