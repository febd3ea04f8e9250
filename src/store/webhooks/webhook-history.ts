import { Prisma } from '../../../generated/prisma/client.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { positionBefore } from '../../domain/resources/event-position.ts';
import { DAY_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';
import type { Edge } from '../sql/lists.ts';
import { type EndpointKey, FIRST_ENDPOINT } from './webhook-deliveries.ts';

// An organization's deliveries as the dashboard shows them, and their deletion. The SQL for sending deliveries is in
// webhook-deliveries.ts.

export type WebhookDeliveryState = 'pending' | 'succeeded' | 'failed';

export type WebhookDelivery = {
  /** The webhook-id of every attempt: the id of the event or, for a test event, the test event's own id. */
  readonly messageId: string;
  readonly isTest: boolean;
  /** `null` if the event is no longer kept, or if this is a test event. */
  readonly eventType: string | null;
  readonly state: WebhookDeliveryState;
  /** The number of attempts that have begun. */
  readonly attempts: number;
  /**
   * When the next attempt is due; `null` if the delivery is not pending. During an attempt, the time at which another process may
   * take over.
   */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
};

export type ListedWebhookDelivery = WebhookDelivery & {
  /** The number of the last finished attempt. All members that begin with "last" are `null` if no attempt has finished. */
  readonly lastNumber: number | null;
  readonly lastAt: Date | null;
  /** `null` if there was no response or no attempt. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
};

const SELECT = `d.message_id as "messageId", d.is_test as "isTest", e.type as "eventType", d.state, d.attempts,
  d.next_attempt_at as "nextAttemptAt", d.created_at as "createdAt"`;

type DeliveryQuery = {
  readonly endpointId: string;
  /** Whether only deliveries without a further attempt are listed. */
  readonly isFailed: boolean;
  /** The position that the page follows or precedes; `null` for the first page. */
  readonly from: Edge<{ readonly id: string }> | null;
  /** The maximum number of rows. The caller asks for one row more than it shows. */
  readonly limit: number;
};

/** Lists the deliveries, the latest first. A message id begins with its time. */
export async function listWebhookDeliveries(
  db: Database,
  scope: OrganizationScope,
  query: DeliveryQuery,
): Promise<ListedWebhookDelivery[]> {
  const { rows } = await db.pool.query<ListedWebhookDelivery>(webhookDeliveriesStatement(scope, query));
  return rows;
}

function webhookDeliveriesStatement(
  { organizationId }: OrganizationScope,
  { endpointId, isFailed, from, limit }: DeliveryQuery,
) {
  const isReversed = from?.side === 'before';
  const failed = isFailed ? "and state = 'failed'" : '';
  const position = from === null ? '' : `and message_id ${isReversed ? '>' : '<'} $4`;
  return {
    text: `
      select ${SELECT}, last.number as "lastNumber", last.at as "lastAt", last.status as "lastStatus", last.error as "lastError"
      from (
        select * from webhook_deliveries where organization_id = $1 and endpoint_id = $2 ${failed} ${position}
        order by message_id ${isReversed ? 'asc' : 'desc'} limit $3) d
      left join events e on e.organization_id = $1 and e.id = d.message_id
      left join lateral (
        select number, at, status, error from webhook_attempts
        where organization_id = $1 and endpoint_id = $2 and message_id = d.message_id
        order by number desc limit 1) last on true
      order by d.message_id desc`,
    values: [organizationId, endpointId, limit, ...(from === null ? [] : [from.id])],
  };
}

export type WebhookAttempt = {
  readonly number: number;
  readonly at: Date;
  readonly durationMs: number;
  /** `null` if there was no response. */
  readonly status: number | null;
  /** Why there was no response; empty if there was a response. */
  readonly error: string;
  /** The first 1,024 bytes of the response's body; `null` if bodies were not requested. */
  readonly responseBody: Buffer | null;
};

/** The maximum number of attempts that are read, the latest first. Each resend adds up to eight attempts. */
export const MAX_READ_ATTEMPTS = 50;

export type WebhookDeliveryWithAttempts = WebhookDelivery & {
  readonly url: string;
  readonly isDisabled: boolean;
  /** The attempts, the latest first. */
  readonly log: readonly WebhookAttempt[];
};

type AttemptJson = readonly [
  number: number,
  at: string,
  durationMs: number,
  status: number | null,
  error: string,
  responseBody: string | null,
];

type DeliveryRow = Omit<WebhookDeliveryWithAttempts, 'log'> & { readonly log: readonly AttemptJson[] | null };

const FIND = {
  name: 'find_webhook_delivery',
  text: `
    select ${SELECT}, w.url, w.disabled_at is not null as "isDisabled",
      (select json_agg(
         json_build_array(number, at, duration_ms, status, error, case when $4 then encode(response_body, 'base64') end)
         order by number desc)
       from (
         select * from webhook_attempts where organization_id = $1 and endpoint_id = $2 and message_id = $3
         order by number desc limit ${MAX_READ_ATTEMPTS}) a) as log
    from webhook_deliveries d
    join webhook_endpoints w on w.organization_id = $1 and w.id = d.endpoint_id
    left join events e on e.organization_id = $1 and e.id = d.message_id
    where d.organization_id = $1 and d.endpoint_id = $2 and d.message_id = $3`,
};

export type DeliveryId = { readonly endpointId: string; readonly messageId: string };

/**
 * Returns a delivery with its attempts; `null` if the delivery does not exist. The receiver's responses are read only if
 * `withBodies` is set.
 */
export async function findWebhookDelivery(
  db: Database,
  scope: OrganizationScope,
  { endpointId, messageId, withBodies }: DeliveryId & { readonly withBodies: boolean },
): Promise<WebhookDeliveryWithAttempts | null> {
  const values = [scope.organizationId, endpointId, messageId, withBodies];
  const { rows } = await db.pool.query<DeliveryRow>({ ...FIND, values });
  const [row] = rows;
  return row === undefined ? null : { ...row, log: (row.log ?? []).map(attemptOf) };
}

function attemptOf([number, at, durationMs, status, error, body]: AttemptJson): WebhookAttempt {
  const responseBody = body === null ? null : Buffer.from(body, 'base64');
  return { number, at: new Date(at), durationMs, status, error, responseBody };
}

export type LockedWebhookDelivery = {
  readonly url: string;
  readonly isTest: boolean;
  /** Whether an attempt has begun whose result is not known yet. */
  readonly isInProgress: boolean;
};

/** Locks the delivery until the transaction ends. Returns `null` if the delivery does not exist. */
export async function lockWebhookDelivery(
  tx: Transaction,
  scope: OrganizationScope,
  { endpointId, messageId }: DeliveryId,
): Promise<LockedWebhookDelivery | null> {
  const { organizationId } = scope;
  const [locked] = await tx.$queryRaw<LockedWebhookDelivery[]>`
    select w.url, d.is_test as "isTest",
           coalesce(d.next_attempt_at > now(), false) and d.attempts > coalesce((
             select max(number) from webhook_attempts
             where organization_id = ${organizationId}::uuid and endpoint_id = ${endpointId}::uuid
               and message_id = ${messageId}::uuid), 0) as "isInProgress"
    from webhook_deliveries d
    join webhook_endpoints w on w.organization_id = d.organization_id and w.id = d.endpoint_id
    where d.organization_id = ${organizationId}::uuid and d.endpoint_id = ${endpointId}::uuid
      and d.message_id = ${messageId}::uuid
    for no key update of d`;
  return locked ?? null;
}

/** The start of an SQL statement that makes deliveries due now, as if their events had just happened. */
const MAKE_DUE = Prisma.sql`update webhook_deliveries set state = 'pending', failures = 0, next_attempt_at = now()`;

/** Makes the delivery due now, as if its event had just happened. The numbering of its attempts continues. */
export async function resendWebhookDelivery(
  tx: Transaction,
  scope: OrganizationScope,
  { endpointId, messageId }: DeliveryId,
): Promise<void> {
  await tx.$executeRaw`
    ${MAKE_DUE} where organization_id = ${scope.organizationId}::uuid and endpoint_id = ${endpointId}::uuid
      and message_id = ${messageId}::uuid`;
}

/** The maximum number of deliveries that one action resends, so that the action locks few rows for a short time. */
export const MAX_RESENT = 1000;

/**
 * Makes the failed deliveries of events since an instant due now, the oldest first, at most MAX_RESENT. A delivery has failed if
 * its last attempt failed, even if another attempt is scheduled. Leaves out test events and deliveries with an attempt in
 * progress. Returns the number of deliveries that are now due.
 */
export async function resendFailedDeliveries(
  tx: Transaction,
  scope: OrganizationScope,
  { endpointId, since }: { readonly endpointId: string; readonly since: Date },
): Promise<number> {
  const { organizationId } = scope;
  return tx.$executeRaw`
    ${MAKE_DUE} where organization_id = ${organizationId}::uuid and endpoint_id = ${endpointId}::uuid and message_id in (
      select message_id from webhook_deliveries d
      where organization_id = ${organizationId}::uuid and endpoint_id = ${endpointId}::uuid
        and not is_test and message_id > ${positionBefore(since)}::uuid
        and (state = 'failed' or next_attempt_at > now() and failures > 0 and exists (
          select from webhook_attempts
          where organization_id = ${organizationId}::uuid and endpoint_id = ${endpointId}::uuid
            and message_id = d.message_id and number = d.attempts))
      order by message_id limit ${MAX_RESENT}::int for no key update)`;
}

/** Inserts a delivery of a test event, which is not in the feed. The delivery is due immediately. */
export async function insertTestDelivery(
  tx: Transaction,
  scope: OrganizationScope,
  { endpointId, messageId }: DeliveryId,
): Promise<void> {
  const data = { organizationId: scope.organizationId, endpointId, messageId, isTest: true };
  await tx.webhookDelivery.create({ data, select: { messageId: true } });
}

/** Returns the number of test events for the endpoint since an instant. */
export async function countTestDeliveries(
  tx: Transaction,
  scope: OrganizationScope,
  { endpointId, since }: { readonly endpointId: string; readonly since: Date },
): Promise<number> {
  const { organizationId } = scope;
  // The ids of test events are in the order of time, so this condition is a range of the primary key.
  const messageId = { gt: positionBefore(since) };
  return tx.webhookDelivery.count({ where: { organizationId, endpointId, messageId, isTest: true } });
}

/** How long the counts are kept, although the dashboard shows only one week. */
const DAYS_KEPT = 30;

/**
 * Deletes in chunks, for all organizations, the deliveries that are older than `retentionDays`, and their attempts. Returns the
 * number of deleted deliveries.
 */
export async function deleteExpiredDeliveries(
  db: Database,
  deletion: Deletion,
  retentionDays: number,
): Promise<number> {
  const cutoff = new Date(deletion.now.getTime() - retentionDays * DAY_MS);
  const end = positionBefore(cutoff);
  // Each chunk follows the primary key from endpoint to endpoint, as in deleteExpiredEvents.
  let from = FIRST_ENDPOINT;
  return deleteInChunks(deletion, async () => {
    const [chunk] = await db.prisma.$queryRaw<{ deleted: number; last: EndpointKey | null }[]>`
      with expired as materialized (
        select oldest.* from webhook_endpoints w cross join lateral (
          select organization_id, endpoint_id, message_id from webhook_deliveries
          where organization_id = w.organization_id and endpoint_id = w.id and message_id <= ${end}::uuid
            and created_at < ${cutoff}
          order by message_id limit ${CHUNK_ROWS}::int
          for update skip locked
        ) oldest
        where (w.organization_id, w.id) >= (${from.organizationId}::uuid, ${from.endpointId}::uuid)
        order by w.organization_id, w.id limit ${CHUNK_ROWS}::int),
      deleted as (
        delete from webhook_deliveries d using expired
        where d.organization_id = expired.organization_id and d.endpoint_id = expired.endpoint_id
          and d.message_id = expired.message_id
        returning d.organization_id, d.endpoint_id)
      select count(*)::int as deleted,
        (select json_build_object('organizationId', organization_id, 'endpointId', endpoint_id)
         from deleted order by organization_id desc, endpoint_id desc limit 1) as last
      from deleted`;
    from = chunk?.last ?? from;
    return chunk?.deleted ?? 0;
  });
}

/** Deletes in chunks, for all organizations, the daily counts that are older than 30 days. Returns the number of deleted rows. */
export async function deleteOldWebhookDays(db: Database, deletion: Deletion): Promise<number> {
  const cutoff = new Date(deletion.now.getTime() - DAYS_KEPT * DAY_MS);
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from webhook_days where (organization_id, endpoint_id, day) in (
        select old.* from webhook_endpoints w cross join lateral (
          select organization_id, endpoint_id, day from webhook_days
          where organization_id = w.organization_id and endpoint_id = w.id and day < ${cutoff}::date
          for update skip locked
        ) old limit ${CHUNK_ROWS}::int)`,
  );
}

/** Erases in chunks, for all organizations, the previous secrets that no longer sign. Returns the number of erased secrets. */
export async function eraseExpiredPreviousSecrets(db: Database, deletion: Deletion): Promise<number> {
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      update webhook_endpoints set previous_secret = null, previous_secret_until = null
      where (organization_id, id) in (
        select organization_id, id from webhook_endpoints where previous_secret_until <= ${deletion.now}
        limit ${CHUNK_ROWS}::int for no key update skip locked)`,
  );
}
