import { NIL } from 'uuid';
import { testEventBody } from '../../domain/webhooks/webhook-message.ts';
import { eventOf } from '../resources/events.ts';
import type { Database } from '../sql/database.ts';

// SQL for sending webhooks, across all organizations. The SQL for the dashboard is in webhook-history.ts.

export type EndpointKey = { readonly organizationId: string; readonly endpointId: string };

export type PendingEndpoint = EndpointKey & {
  /** Whether a delivery is due, the endpoint is enabled and its organization is not suspended. */
  readonly isReady: boolean;
  /** Whether the last attempt to send to the endpoint failed. */
  readonly isFailing: boolean;
};

/** A position before all endpoints. */
export const FIRST_ENDPOINT: EndpointKey = {
  organizationId: NIL,
  endpointId: NIL,
};

/**
 * The order of the index on pending deliveries, so that PostgreSQL uses this index and not the primary key, which contains all
 * deliveries.
 */
const NEXT_PENDING = 'order by organization_id, endpoint_id, next_attempt_at, message_id limit 1';

const LIST_PENDING = {
  name: 'list_pending_webhook_endpoints',
  // This loose index scan skips from one endpoint to the next, regardless of their numbers of deliveries.
  text: `
    with recursive pending as (
      (select organization_id, endpoint_id, 1 as place from webhook_deliveries
       where next_attempt_at is not null and (organization_id, endpoint_id) > ($1::uuid, $2::uuid) ${NEXT_PENDING})
      union all
      select next.organization_id, next.endpoint_id, pending.place + 1
      from pending cross join lateral (
        select organization_id, endpoint_id from webhook_deliveries
        where next_attempt_at is not null
          and (organization_id, endpoint_id) > (pending.organization_id, pending.endpoint_id) ${NEXT_PENDING}) next
      where pending.place < $3)
    select pending.organization_id as "organizationId", pending.endpoint_id as "endpointId",
           w.disabled_at is null and o.suspended_at is null and due.is_due is not null as "isReady",
           w.failing_since is not null as "isFailing"
    from pending
    join webhook_endpoints w on w.organization_id = pending.organization_id and w.id = pending.endpoint_id
    join organizations o on o.id = pending.organization_id
    left join lateral (
      select true as is_due from webhook_deliveries d
      where d.organization_id = pending.organization_id and d.endpoint_id = pending.endpoint_id and d.next_attempt_at <= now()
      order by d.next_attempt_at, d.message_id limit 1) due on true
    order by pending.place`,
};

/** Lists at most `limit` endpoints that have pending deliveries and come after `after`, in a fixed order. */
export async function listPendingEndpoints(
  db: Database,
  { after, limit }: { readonly after: EndpointKey; readonly limit: number },
): Promise<PendingEndpoint[]> {
  const values = [after.organizationId, after.endpointId, limit];
  return (await db.pool.query<PendingEndpoint>({ ...LIST_PENDING, values })).rows;
}

export type DeliveryClaim = EndpointKey & {
  /** The maximum number of deliveries to claim, at least 1. */
  readonly count: number;
};

export type ClaimedDelivery = EndpointKey & {
  readonly messageId: string;
  /** The number of the attempt, starting at 1. */
  readonly number: number;
  /** The number of failed attempts since the event, or since the last resend. */
  readonly failures: number;
  readonly url: string;
  /** The endpoint's secret, encrypted. */
  readonly secret: Buffer;
  /** The secret before the last rotation, encrypted; `null` if there is no previous secret, or if it no longer signs. */
  readonly previousSecret: Buffer | null;
  /** The body to send; `null` if the event is no longer kept. */
  readonly body: string | null;
};

type ClaimedRow = Omit<ClaimedDelivery, 'body'> & {
  readonly isTest: boolean;
  readonly createdAt: Date;
  readonly json: string | null;
};

const CLAIM = {
  name: 'claim_webhook_deliveries',
  text: `
    with claim as (
      select * from unnest($1::uuid[], $2::uuid[], $3::int[]) as claim (organization_id, endpoint_id, count)),
    due as materialized (
      select d.*, w.url, w.secret, case when w.previous_secret_until > now() then w.previous_secret end as previous_secret
      from claim
      join organizations o on o.id = claim.organization_id and o.suspended_at is null
      join webhook_endpoints w
        on w.organization_id = claim.organization_id and w.id = claim.endpoint_id and w.disabled_at is null
      cross join lateral (
        select organization_id, endpoint_id, message_id from webhook_deliveries
        where organization_id = claim.organization_id and endpoint_id = claim.endpoint_id and next_attempt_at <= now()
        order by next_attempt_at, message_id limit claim.count
        for no key update skip locked) d),
    claimed as (
      update webhook_deliveries d
      set next_attempt_at = now() + $4 * interval '1 second', attempts = d.attempts + 1
      from due
      where d.organization_id = due.organization_id and d.endpoint_id = due.endpoint_id and d.message_id = due.message_id
      returning d.*, due.url, due.secret, due.previous_secret)
    select claimed.organization_id as "organizationId", claimed.endpoint_id as "endpointId",
           claimed.message_id as "messageId", claimed.attempts as number, claimed.failures, claimed.url, claimed.secret,
           claimed.previous_secret as "previousSecret", claimed.is_test as "isTest", claimed.created_at as "createdAt",
           (select row_to_json(event)::text from (
              select id, type, "timestamp", data from events
              where organization_id = claimed.organization_id and id = claimed.message_id) event) as json
    from claimed order by claimed.message_id`,
};

/**
 * Claims deliveries that are due, and increments their numbers of attempts. For `leaseSeconds`, no other process can claim these
 * deliveries. After that, any process can claim them, because this process may have been killed.
 */
export async function claimDeliveries(
  db: Database,
  claims: readonly DeliveryClaim[],
  { leaseSeconds }: { readonly leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  const values = [
    claims.map(({ organizationId }) => organizationId),
    claims.map(({ endpointId }) => endpointId),
    claims.map(({ count }) => count),
    leaseSeconds,
  ];
  const { rows } = await db.pool.query<ClaimedRow>({ ...CLAIM, values });
  return rows.map(({ isTest, createdAt, json, ...row }) => {
    const eventBody = json === null ? null : eventOf(json);
    return { ...row, body: isTest ? testEventBody({ messageId: row.messageId, createdAt }) : eventBody };
  });
}

export type Backlog = { readonly pending: number; readonly due: number };

const MAX_COUNTED = 100_000;

const COUNT_PENDING = {
  name: 'count_pending_webhook_deliveries',
  text: `
    select count(*)::int as pending, (count(*) filter (where next_attempt_at <= now()))::int as due
    from (select next_attempt_at from webhook_deliveries where next_attempt_at is not null limit ${MAX_COUNTED}) counted`,
};

/** Counts pending deliveries, at most 100,000. */
export async function countPendingDeliveries(db: Database): Promise<Backlog> {
  const { rows } = await db.pool.query<Backlog>(COUNT_PENDING);
  return rows[0] ?? { pending: 0, due: 0 };
}

export type AttemptResult = Pick<
  ClaimedDelivery,
  'organizationId' | 'endpointId' | 'messageId' | 'number' | 'failures' | 'url'
> & {
  /** `false` if there was nothing to send, which does not count as a failure of the endpoint. */
  readonly wasSent: boolean;
  /** When the attempt began. */
  readonly at: Date;
  readonly durationMs: number;
  /** The status of the response, from 100 to 599; 2xx means success. `null` if there was no response. */
  readonly status: number | null;
  /** Why there was no response, in at most 300 characters; empty if there was a response. */
  readonly error: string;
  /** The first 1,024 bytes of the response's body. */
  readonly responseBody: Uint8Array;
  /** How long to wait before the next attempt if this attempt failed; `null` if this was the last attempt. */
  readonly retryMs: number | null;
};

const RECORD = {
  name: 'record_webhook_attempts',
  // Locks the deliveries and then the endpoints, each in the order of their ids, as the deletion of an endpoint does. An attempt
  // that was already recorded is not counted again; this happens if the connection was lost after the commit. If another process
  // has taken over a delivery in the meantime, the result changes the delivery only if the attempt succeeded. An attempt at a
  // previous URL of the endpoint does not change whether the endpoint is failing.
  text: `
    with result as (
      select *, coalesce(status between 200 and 299, false) as is_success
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::int[], $6::boolean[], $7::timestamptz[], $8::int[],
          $9::int[], $10::text[], $11::bytea[], $12::int[], $13::text[])
        as result (organization_id, endpoint_id, message_id, number, failures, was_sent, at, duration_ms, status, error,
          response_body, retry_ms, url)),
    held as (
      select result.* from result join webhook_deliveries d using (organization_id, endpoint_id, message_id)
      order by organization_id, endpoint_id, message_id for no key update of d),
    logged as (
      insert into webhook_attempts
        (organization_id, endpoint_id, message_id, number, at, duration_ms, status, error, response_body)
      select organization_id, endpoint_id, message_id, number, at, duration_ms, status, error, response_body from held
      on conflict do nothing
      returning organization_id, endpoint_id, message_id, number),
    recorded as materialized (
      select held.* from held join logged using (organization_id, endpoint_id, message_id, number)),
    delivered as (
      update webhook_deliveries d
      set state = case when r.is_success then 'succeeded' when r.retry_ms is null then 'failed' else 'pending' end::webhook_delivery_state,
          failures = case when r.is_success then d.failures else r.failures + 1 end,
          next_attempt_at = case when not r.is_success then now() + r.retry_ms * interval '1 millisecond' end
      from recorded r
      where d.organization_id = r.organization_id and d.endpoint_id = r.endpoint_id and d.message_id = r.message_id
        and (r.is_success or (d.state = 'pending' and d.attempts = r.number and d.failures = r.failures))),
    endpoint as materialized (
      select w.organization_id, w.id as endpoint_id, w.failing_since, w.url
      from (select distinct organization_id, endpoint_id from recorded where was_sent) sent
      join webhook_endpoints w on w.organization_id = sent.organization_id and w.id = sent.endpoint_id
      order by w.organization_id, w.id for no key update of w),
    counted as (
      insert into webhook_days as day (organization_id, endpoint_id, day, succeeded, failed)
      select organization_id, endpoint_id, cast(at at time zone 'UTC' as date),
             count(*) filter (where is_success), count(*) filter (where not is_success)
      from endpoint join recorded using (organization_id, endpoint_id) where was_sent
      group by 1, 2, 3 order by 1, 2, 3
      on conflict (organization_id, endpoint_id, day) do update
        set succeeded = day.succeeded + excluded.succeeded, failed = day.failed + excluded.failed),
    present as (
      select r.organization_id, r.endpoint_id, r.at, r.is_success
      from recorded r join endpoint e using (organization_id, endpoint_id)
      where r.was_sent and r.url = e.url),
    success as (
      select organization_id, endpoint_id, max(at) as at from present where is_success group by 1, 2),
    health as (
      select e.organization_id, e.endpoint_id, e.url,
             case when s.at is null then coalesce(e.failing_since, min(p.at))
                  else min(p.at) filter (where not p.is_success and p.at > s.at) end as failing_since
      from endpoint e
      join present p on p.organization_id = e.organization_id and p.endpoint_id = e.endpoint_id
      left join success s on s.organization_id = e.organization_id and s.endpoint_id = e.endpoint_id
      group by e.organization_id, e.endpoint_id, e.url, e.failing_since, s.at),
    changed as (
      update webhook_endpoints w set failing_since = health.failing_since
      from health
      where w.organization_id = health.organization_id and w.id = health.endpoint_id
        and w.failing_since is distinct from health.failing_since)
    select organization_id as "organizationId", endpoint_id as "endpointId", url from health
    where failing_since < now() - $14 * interval '1 day'`,
};

/** An endpoint, provided that its URL is still `url`. */
export type EndpointAtUrl = EndpointKey & { readonly url: string };

/**
 * Records the results of attempts of different deliveries. Results of deliveries that were deleted in the meantime are ignored.
 * Returns the endpoints that failed again and whose attempts at their current URL have all failed for more than `failingDays`
 * days.
 */
export async function recordAttempts(
  db: Database,
  results: readonly AttemptResult[],
  { failingDays }: { readonly failingDays: number },
): Promise<EndpointAtUrl[]> {
  const values = [
    results.map(({ organizationId }) => organizationId),
    results.map(({ endpointId }) => endpointId),
    results.map(({ messageId }) => messageId),
    results.map(({ number }) => number),
    results.map(({ failures }) => failures),
    results.map(({ wasSent }) => wasSent),
    results.map(({ at }) => at.toISOString()),
    results.map(({ durationMs }) => Math.round(durationMs)),
    results.map(({ status }) => status),
    results.map(({ error }) => error),
    results.map(({ responseBody }) => Buffer.from(responseBody)),
    results.map(({ retryMs }) => (retryMs === null ? null : Math.round(retryMs))),
    results.map(({ url }) => url),
    failingDays,
  ];
  return (await db.pool.query<EndpointAtUrl>({ ...RECORD, values })).rows;
}
