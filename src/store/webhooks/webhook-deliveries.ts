import { NIL } from 'uuid';
import { testEventBody } from '../../domain/webhooks/webhook-message.ts';
import { eventWithRfc3339 } from '../resources/events.ts';
import type { Database } from '../sql/database.ts';

// The statements that send webhooks, across all organizations. webhook-history.ts has those of the dashboard.

export type EndpointKey = { readonly organizationId: string; readonly endpointId: string };

export type PendingEndpoint = EndpointKey & {
  /** A delivery is due, the endpoint is enabled and its organization is not suspended. */
  readonly isReady: boolean;
  /** Its last attempt failed. */
  readonly isFailing: boolean;
};

/** Sorts before every endpoint. */
export const FIRST_ENDPOINT: EndpointKey = {
  organizationId: NIL,
  endpointId: NIL,
};

/** In the order of the index, so that no plan uses the primary key, which also has the deliveries that are not pending. */
const NEXT_PENDING = 'order by organization_id, endpoint_id, next_attempt_at, message_id limit 1';

const LIST_PENDING = {
  name: 'list_pending_webhook_endpoints',
  // A loose index scan: it steps from one endpoint to the next, past any number of deliveries.
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

/** Endpoints with pending deliveries, those after `after`, in a fixed order. Maximum number: `limit`. */
export async function listPendingEndpoints(
  db: Database,
  { after, limit }: { readonly after: EndpointKey; readonly limit: number },
): Promise<PendingEndpoint[]> {
  const values = [after.organizationId, after.endpointId, limit];
  return (await db.pool.query<PendingEndpoint>({ ...LIST_PENDING, values })).rows;
}

export type DeliveryClaim = EndpointKey & {
  /** Maximum number of deliveries, at least 1. */
  readonly count: number;
};

export type ClaimedDelivery = EndpointKey & {
  readonly messageId: string;
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** The number of failed attempts since the event or the last resend. */
  readonly failures: number;
  readonly url: string;
  /** Encrypted. */
  readonly secret: Buffer;
  /** Encrypted; `null` if there is none that still signs. */
  readonly previousSecret: Buffer | null;
  /** What is sent; `null` if the event is no longer kept. */
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
 * Claims deliveries that are due, and increments their attempts. For `leaseSeconds`, no other process claims them; then any may,
 * because this one may have been killed.
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
    const eventBody = json === null ? null : eventWithRfc3339(json);
    return { ...row, body: isTest ? testEventBody({ messageId: row.messageId, createdAt }) : eventBody };
  });
}

/** Deliveries that wait, all of them and those that are due. */
export type Backlog = { readonly pending: number; readonly due: number };

const MAX_COUNTED = 100_000;

const COUNT_PENDING = {
  name: 'count_pending_webhook_deliveries',
  text: `
    select count(*)::int as pending, (count(*) filter (where next_attempt_at <= now()))::int as due
    from (select next_attempt_at from webhook_deliveries where next_attempt_at is not null limit ${MAX_COUNTED}) counted`,
};

/** Counts at most 100,000. */
export async function countPendingDeliveries(db: Database): Promise<Backlog> {
  const { rows } = await db.pool.query<Backlog>(COUNT_PENDING);
  return rows[0] ?? { pending: 0, due: 0 };
}
