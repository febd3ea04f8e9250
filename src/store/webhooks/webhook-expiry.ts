import { DAY_MS } from '../../domain/time.ts';
import { positionBefore } from '../resources/event-position.ts';
import type { Database } from '../sql/database.ts';
import { BATCH_ROWS, type Deletion, deleteInBatches } from '../sql/delete-in-batches.ts';
import { type EndpointKey, FIRST_ENDPOINT } from './webhook-deliveries.ts';

/** More than the week that the dashboard shows. */
const DAYS_KEPT = 30;

/** Deletes deliveries older than so many days of all organizations, with their attempts, in batches. Returns how many. */
export async function deleteExpiredDeliveries(
  db: Database,
  deletion: Deletion,
  retentionDays: number,
): Promise<number> {
  const cutoff = new Date(deletion.now.getTime() - retentionDays * DAY_MS);
  const end = positionBefore(cutoff);
  // Endpoint by endpoint, along the primary key, as in deleteExpiredEvents.
  let from = FIRST_ENDPOINT;
  return deleteInBatches(deletion, async () => {
    const [batch] = await db.prisma.$queryRaw<{ deleted: number; last: EndpointKey | null }[]>`
      with expired as materialized (
        select oldest.* from webhook_endpoints w cross join lateral (
          select organization_id, endpoint_id, message_id from webhook_deliveries
          where organization_id = w.organization_id and endpoint_id = w.id and message_id <= ${end}::uuid
            and created_at < ${cutoff}
          order by message_id limit ${BATCH_ROWS}::int
          for update skip locked
        ) oldest
        where (w.organization_id, w.id) >= (${from.organizationId}::uuid, ${from.endpointId}::uuid)
        order by w.organization_id, w.id limit ${BATCH_ROWS}::int),
      deleted as (
        delete from webhook_deliveries d using expired
        where d.organization_id = expired.organization_id and d.endpoint_id = expired.endpoint_id
          and d.message_id = expired.message_id
        returning d.organization_id, d.endpoint_id)
      select count(*)::int as deleted,
        (select json_build_object('organizationId', organization_id, 'endpointId', endpoint_id)
         from deleted order by organization_id desc, endpoint_id desc limit 1) as last
      from deleted`;
    from = batch?.last ?? from;
    return batch?.deleted ?? 0;
  });
}

/** Deletes the counts of days of all organizations that are older than 30 days, in batches. Returns how many. */
export async function deleteOldWebhookDays(db: Database, deletion: Deletion): Promise<number> {
  const cutoff = new Date(deletion.now.getTime() - DAYS_KEPT * DAY_MS);
  return deleteInBatches(
    deletion,
    () => db.prisma.$executeRaw`
      delete from webhook_days where (organization_id, endpoint_id, day) in (
        select old.* from webhook_endpoints w cross join lateral (
          select organization_id, endpoint_id, day from webhook_days
          where organization_id = w.organization_id and endpoint_id = w.id and day < ${cutoff}::date
          for update skip locked
        ) old limit ${BATCH_ROWS}::int)`,
  );
}

/** Erases previous secrets of all organizations that no longer sign, in batches. Returns how many. */
export async function eraseExpiredPreviousSecrets(db: Database, deletion: Deletion): Promise<number> {
  return deleteInBatches(
    deletion,
    () => db.prisma.$executeRaw`
      update webhook_endpoints set previous_secret = null, previous_secret_until = null
      where (organization_id, id) in (
        select organization_id, id from webhook_endpoints where previous_secret_until <= ${deletion.now}
        limit ${BATCH_ROWS}::int for no key update skip locked)`,
  );
}
