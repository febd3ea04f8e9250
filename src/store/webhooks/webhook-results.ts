import type { Database } from '../sql/database.ts';
import type { ClaimedDelivery, EndpointKey } from './webhook-deliveries.ts';

/** A finished attempt. */
export type AttemptResult = Pick<
  ClaimedDelivery,
  'organizationId' | 'endpointId' | 'messageId' | 'number' | 'failures' | 'url'
> & {
  /** `false` if there was nothing to send, which is no failure of the endpoint. */
  readonly wasSent: boolean;
  /** When it began. */
  readonly at: Date;
  readonly durationMs: number;
  /** 100 to 599; 2xx is a success. `null` if there was no response. */
  readonly status: number | null;
  /** Why there was no response, at most 300 characters; empty if there was one. */
  readonly error: string;
  /** At most 1,024 bytes. */
  readonly responseBody: Uint8Array;
  /** The wait before the next attempt, if this one failed; `null` after the last one. */
  readonly retryMs: number | null;
};

const RECORD = {
  name: 'record_webhook_attempts',
  // Locks the deliveries and then the endpoints, each in the order of their ids, as the deletion of an endpoint does. An attempt
  // that is recorded already, because the connection was lost after the commit, counts no second time. The result of a delivery
  // that another process has taken over meanwhile changes the delivery only if it is a success. An attempt at a former URL of the
  // endpoint says nothing about the present one.
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

/** An endpoint while it has this URL. */
export type EndpointAtUrl = EndpointKey & { readonly url: string };

/**
 * Writes the results of attempts of different deliveries. A delivery that was deleted meanwhile is left out. Returns the
 * endpoints that failed again and have only failed for more than `failingDays`, all at their present URL.
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
