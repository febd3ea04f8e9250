import { v7 as newId } from 'uuid';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { WebhookTargets } from '../../../src/domain/forbidden-address.ts';
import { createOutbox } from '../../../src/service/mail.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createEndpoint, type WebhookSecretIssued } from '../../../src/service/webhooks/endpoints.ts';
import type { Database } from '../../../src/store/sql/database.ts';

// Webhook endpoints, and the records that deliveries to them would write.

/** The types of events that every resource has. Most tests use those of parent programs, whatever types a version adds. */
const OF_PROGRAMS = ['created', 'updated', 'deleted'].map((change) => `parent_program.${change}`);

/** The default configuration: only https and public addresses. */
export const TARGETS: WebhookTargets = { allowHttp: false, allowedNetworks: [] };

/** The configuration of a demonstration, which also allows the servers of the tests. */
export const LOCAL: WebhookTargets = { allowHttp: true, allowedNetworks: ['127.0.0.1'] };

export async function addEndpoint(
  db: Database,
  actor: Actor,
  {
    url = 'https://example.org/webhooks',
    eventTypes = OF_PROGRAMS,
  }: { url?: string; eventTypes?: readonly string[] } = {},
): Promise<WebhookSecretIssued> {
  return orThrow(await createEndpoint(db, actor, { url, eventTypes, targets: TARGETS }));
}

/** Creates a parent program, and so an event with a delivery to each endpoint. Returns the id of the event. */
export async function writeEvent(
  { prisma }: Database,
  { organizationId }: { readonly organizationId: string },
  name = 'Nordic',
): Promise<string> {
  await prisma.parentProgram.create({ data: { organizationId, id: newId(), name } });
  const event = await prisma.event.findFirstOrThrow({ where: { organizationId }, orderBy: { id: 'desc' } });
  return event.id;
}

export type Attempt = {
  readonly status?: number | null;
  readonly error?: string;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly at?: Date;
  readonly durationMs?: number;
};

type Ids = { readonly organizationId: string; readonly endpointId: string; readonly messageId: string };

/** Writes the attempts of a delivery in this order, and sets the state of the delivery. */
export async function writeAttempts(
  { prisma }: Database,
  ids: Ids,
  attempts: readonly Attempt[],
  state: 'pending' | 'succeeded' | 'failed' = 'succeeded',
): Promise<void> {
  const { length: count } = attempts;
  await prisma.webhookDelivery.updateMany({
    where: ids,
    data: {
      state,
      attempts: count,
      failures: state === 'succeeded' ? 0 : count,
      nextAttemptAt: state === 'pending' ? new Date(Date.now() + 300_000) : null,
    },
  });
  await prisma.webhookAttempt.createMany({
    data: attempts.map(({ status = 200, error = '', body = new Uint8Array(), at = new Date(), durationMs = 87 }, i) => {
      return { ...ids, number: i + 1, at, durationMs, status, error, responseBody: body };
    }),
  });
}

/** Sets the numbers of attempts for one day, `daysAgo` before `now`. */
export async function countDay(
  { pool }: Database,
  { organizationId, endpointId }: Omit<Ids, 'messageId'>,
  { now, daysAgo = 0, succeeded = 0, failed = 0 }: { now: Date; daysAgo?: number; succeeded?: number; failed?: number },
): Promise<void> {
  await pool.query(
    `insert into webhook_days (organization_id, endpoint_id, day, succeeded, failed)
     values ($1, $2, ($3::timestamptz at time zone 'UTC')::date - $4::int, $5, $6)`,
    [organizationId, endpointId, now, daysAgo, succeeded, failed],
  );
}

/** Returns the arguments for disabling an endpoint without sending mail. */
export const withoutMail = (db: Database) => ({ db, outbox: createOutbox(null, () => {}), publicUrl: undefined });
