import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { DisabledReason } from '../../domain/webhooks/webhook-endpoint.ts';
import type { Database, Transaction } from '../sql/database.ts';

export type NewWebhookEndpoint = {
  readonly id: string;
  readonly url: string;
  readonly eventTypes: string[];
  /** The secret, encrypted. */
  readonly secret: Uint8Array<ArrayBuffer>;
  readonly createdByUserId: string;
  readonly createdAt: Date;
};

export async function insertWebhookEndpoint(
  tx: Transaction,
  scope: OrganizationScope,
  endpoint: NewWebhookEndpoint,
): Promise<void> {
  await tx.webhookEndpoint.create({
    data: { ...endpoint, organizationId: scope.organizationId },
    select: { id: true },
  });
}

/**
 * Returns the number of the organization's endpoints. The caller must have locked the organization, so that concurrent additions
 * cannot exceed the limit.
 */
export async function countWebhookEndpoints(tx: Transaction, scope: OrganizationScope): Promise<number> {
  return tx.webhookEndpoint.count({ where: { organizationId: scope.organizationId } });
}

/**
 * Locks the endpoint until the transaction ends. Returns `null` if the endpoint does not exist. Deliveries for the endpoint can
 * still be inserted.
 */
export async function lockWebhookEndpoint(tx: Transaction, scope: OrganizationScope, id: string) {
  const { organizationId } = scope;
  await tx.$queryRaw`
    select 1 from webhook_endpoints where organization_id = ${organizationId}::uuid and id = ${id}::uuid
    for no key update`;
  return tx.webhookEndpoint.findUnique({ where: { organizationId_id: { organizationId, id } } });
}

export type LockedWebhookEndpoint = NonNullable<Awaited<ReturnType<typeof lockWebhookEndpoint>>>;

/** Omitted fields stay unchanged. */
export type WebhookEndpointChange = {
  readonly url?: string;
  readonly eventTypes?: string[];
  /** The secret, encrypted like `previousSecret`. */
  readonly secret?: Uint8Array<ArrayBuffer>;
  readonly previousSecret?: Uint8Array<ArrayBuffer>;
  readonly previousSecretUntil?: Date;
  /** `null` enables the endpoint. */
  readonly disabledAt?: Date | null;
  readonly disabledReason?: DisabledReason | null;
  readonly failingSince?: null;
};

export async function changeWebhookEndpoint(
  tx: Transaction,
  scope: OrganizationScope,
  id: string,
  change: WebhookEndpointChange,
): Promise<void> {
  const where = { organizationId_id: { organizationId: scope.organizationId, id } };
  await tx.webhookEndpoint.update({ where, data: change, select: { id: true } });
}

/**
 * Disables the endpoint. Returns its URL, or `null` if the endpoint does not exist, was already disabled, or has another URL than
 * `url`.
 */
export async function disableWebhookEndpoint(
  tx: Transaction,
  scope: OrganizationScope,
  {
    id,
    url,
    reason,
    at,
  }: { readonly id: string; readonly url?: string; readonly reason: DisabledReason; readonly at: Date },
): Promise<string | null> {
  const [disabled] = await tx.webhookEndpoint.updateManyAndReturn({
    where: { organizationId: scope.organizationId, id, disabledAt: null, ...(url !== undefined && { url }) },
    data: { disabledAt: at, disabledReason: reason },
    select: { url: true },
  });
  return disabled?.url ?? null;
}

/**
 * Deletes at most `limit` deliveries of the endpoint with their attempts, the oldest first. Returns the number of deleted
 * deliveries.
 */
export async function deleteDeliveriesOf(
  db: Database,
  scope: OrganizationScope,
  { endpointId, limit }: { readonly endpointId: string; readonly limit: number },
): Promise<number> {
  const { organizationId } = scope;
  return db.prisma.$executeRaw`
    with oldest as materialized (
      select organization_id, endpoint_id, message_id from webhook_deliveries
      where organization_id = ${organizationId}::uuid and endpoint_id = ${endpointId}::uuid
      order by message_id limit ${limit} for update)
    delete from webhook_deliveries d using oldest
    where d.organization_id = oldest.organization_id and d.endpoint_id = oldest.endpoint_id
      and d.message_id = oldest.message_id`;
}

/**
 * Deletes the endpoint with all its data, and returns its URL; returns `null` if the endpoint does not exist. The caller must
 * have locked the organization, so that no event inserts a delivery in the meantime. The deliveries are locked before the
 * endpoint, in the same order as when the result of an attempt is recorded.
 */
export async function deleteWebhookEndpoint(
  tx: Transaction,
  scope: OrganizationScope,
  id: string,
): Promise<string | null> {
  const { organizationId } = scope;
  await tx.$queryRaw`
    select 1 from webhook_deliveries where organization_id = ${organizationId}::uuid and endpoint_id = ${id}::uuid
    order by message_id for update`;
  const [deleted] = await tx.$queryRaw<{ url: string }[]>`
    delete from webhook_endpoints where organization_id = ${organizationId}::uuid and id = ${id}::uuid returning url`;
  return deleted?.url ?? null;
}

/** The numbers of successful and failed attempts on one day. */
export type WebhookDayCounts = { readonly startsAt: Date; readonly succeeded: number; readonly failed: number };

export type WebhookEndpointDetails = {
  readonly id: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  /** `null` if the endpoint is enabled. */
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
  /** Since when all attempts have failed; `null` if the last attempt succeeded, or if there was no attempt. */
  readonly failingSince: Date | null;
  /** When the previous secret stops signing, which may be in the past; `null` if there is no previous secret. */
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
  /** The user who created the endpoint; `null` for an operator. */
  readonly createdBy: string | null;
  /** The number of pending deliveries, counted up to MAX_COUNTED_DELIVERIES + 1. */
  readonly pending: number;
  /** The stored days that had attempts, the oldest first. */
  readonly days: readonly WebhookDayCounts[];
};

export const MAX_COUNTED_DELIVERIES = 1000;

/** The numbers of successful and failed attempts on a day such as "2026-01-31", as JSON. */
type DayJson = readonly [day: string, succeeded: number, failed: number];
type DetailsRow = Omit<WebhookEndpointDetails, 'days'> & { readonly days: readonly DayJson[] | null };

const SELECT_DETAILS = `
  select w.id, w.url, w.event_types as "eventTypes", w.disabled_at as "disabledAt", w.disabled_reason as "disabledReason",
         w.failing_since as "failingSince", w.previous_secret_until as "previousSecretUntil", w.created_at as "createdAt",
         c.name as "createdBy",
         (select count(*)::int from (
            select from webhook_deliveries p
            where p.organization_id = $1 and p.endpoint_id = w.id and p.next_attempt_at is not null
            limit ${MAX_COUNTED_DELIVERIES + 1}) counted) as pending,
         (select json_agg(json_build_array(d.day, d.succeeded, d.failed) order by d.day)
          from webhook_days d where d.organization_id = $1 and d.endpoint_id = w.id) as days
  from webhook_endpoints w
  left join users c on c.organization_id = $1 and c.id = w.created_by_user_id
  where w.organization_id = $1`;

const LIST = { name: 'list_webhook_endpoints', text: `${SELECT_DETAILS} order by w.created_at, w.id` };
const FIND = { name: 'find_webhook_endpoint', text: `${SELECT_DETAILS} and w.id = $2` };

/** Lists the endpoints, the oldest first. An organization has at most 10 endpoints. */
export async function listWebhookEndpoints(
  db: Database,
  scope: OrganizationScope,
): Promise<readonly WebhookEndpointDetails[]> {
  const { rows } = await db.pool.query<DetailsRow>({ ...LIST, values: [scope.organizationId] });
  return rows.map(detailsOf);
}

export async function findWebhookEndpoint(
  db: Database,
  scope: OrganizationScope,
  id: string,
): Promise<WebhookEndpointDetails | null> {
  const { rows } = await db.pool.query<DetailsRow>({ ...FIND, values: [scope.organizationId, id] });
  const [row] = rows;
  return row === undefined ? null : detailsOf(row);
}

function detailsOf({ days, ...endpoint }: DetailsRow): WebhookEndpointDetails {
  const counts = (days ?? []).map(([day, succeeded, failed]) => {
    return { startsAt: new Date(`${day}T00:00:00Z`), succeeded, failed };
  });
  return { ...endpoint, days: counts };
}
