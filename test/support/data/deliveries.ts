// Webhook endpoints on this machine, and functions that deliver to them.
import { createHmac, randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { type Deliveries, type DeliveryOptions, startDeliveries } from '../../../src/delivery/deliveries.ts';
import { createSender } from '../../../src/delivery/sender.ts';
import { EVENT_TYPES } from '../../../src/domain/resources/events.ts';
import { createOutbox } from '../../../src/service/mail.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { placeOfPreviousWebhookSecret, placeOfWebhookSecret } from '../../../src/store/sql/secrets.ts';
import { createTenant } from '../postgres/store.ts';
import {
  type Received,
  respondsWith,
  type ScriptedServer,
  type Step,
  startScriptedServer,
} from '../servers/scripted-server.ts';
import { SILENT } from '../servers/server.ts';
import { until } from '../wait.ts';
import { LOCAL } from './webhooks.ts';

export type Endpoint = { readonly organizationId: string; readonly endpointId: string; readonly secret: Buffer };

type EndpointRow = {
  readonly url: string;
  readonly eventTypes?: readonly string[];
  readonly previousSecret?: Buffer;
  readonly previousSecretUntil?: Date;
  readonly failingSince?: Date;
};

export async function insertEndpoint(
  { prisma, keyring }: Database,
  organizationId: string,
  { url, eventTypes = EVENT_TYPES, previousSecret, ...row }: EndpointRow,
): Promise<Endpoint> {
  const place = { organizationId, id: newId() };
  const secret = randomBytes(32);
  await prisma.webhookEndpoint.create({
    data: {
      ...place,
      url,
      eventTypes: [...eventTypes],
      secret: keyring.encrypt(secret, placeOfWebhookSecret(place)),
      ...(previousSecret && { previousSecret: keyring.encrypt(previousSecret, placeOfPreviousWebhookSecret(place)) }),
      ...row,
    },
  });
  return { organizationId, endpointId: place.id, secret };
}

/**
 * Returns a function that creates receivers of webhooks. After each test, closes the receivers and deletes all endpoints in the
 * database.
 */
export function useReceivers(db: Database) {
  const opened: ScriptedServer[] = [];
  afterEach(async () => {
    for (const receiver of opened.splice(0)) await receiver.close();
    await db.pool.query('delete from webhook_endpoints');
  });
  return {
    /** Creates an organization with an endpoint, and the endpoint's receiver. */
    async create(...steps: [Step, ...Step[]]) {
      const receiver = await startScriptedServer();
      opened.push(receiver);
      receiver.play(...steps);
      const { organizationId } = (await createTenant(db)).scope;
      const endpoint = await insertEndpoint(db, organizationId, { url: `${receiver.url}/hook` });
      return { receiver, organizationId, endpoint };
    },
  };
}

export const FINE = respondsWith(200);

/** Creates parent programs in one statement. Returns the ids of their events, in order. */
export async function writeEvents({ pool }: Database, organizationId: string, count = 1): Promise<string[]> {
  await pool.query(
    `insert into parent_programs (organization_id, id, name)
     select $1, gen_random_uuid(), 'Program ' || i from generate_series(1, $2::int) i`,
    [organizationId, count],
  );
  const text = 'select id from events where organization_id = $1 order by id desc limit $2';
  const { rows } = await pool.query<{ id: string }>(text, [organizationId, count]);
  return rows.map(({ id }) => id).toReversed();
}

/** Starts to deliver webhooks, as a server does. */
export function startTestDeliveries(db: Database, options: Partial<DeliveryOptions> = {}): Deliveries {
  return startDeliveries(db, {
    logger: SILENT,
    sender: createSender({ targets: LOCAL }),
    outbox: createOutbox(null, () => {}),
    publicUrl: undefined,
    userAgent: 'Charter/test',
    tracing: null,
    ...options,
  });
}

export async function whileDelivering<T>(
  db: Database,
  work: () => Promise<T>,
  options: Partial<DeliveryOptions> = {},
): Promise<T> {
  const deliveries = startTestDeliveries(db, options);
  try {
    return await work();
  } finally {
    await deliveries.stop();
  }
}

/** Makes all failed deliveries due now. Does not end the leases of attempts in progress. */
export async function skipWaits({ pool }: Pick<Database, 'pool'>): Promise<void> {
  await pool.query(
    `update webhook_deliveries d set next_attempt_at = now()
     where next_attempt_at > now() and exists (
       select from webhook_attempts a
       where a.organization_id = d.organization_id and a.endpoint_id = d.endpoint_id and a.message_id = d.message_id
         and a.number = d.attempts)`,
  );
}

/** Returns the deliveries of an endpoint with their attempts, in the order of the events. */
export function listDeliveries({ prisma }: Database, { organizationId, endpointId }: Omit<Endpoint, 'secret'>) {
  return prisma.webhookDelivery.findMany({
    where: { organizationId, endpointId },
    include: { log: { orderBy: { number: 'asc' } } },
    orderBy: { messageId: 'asc' },
  });
}

/** Waits until no delivery of the endpoint is pending, and returns the deliveries. */
export async function untilDelivered(db: Database, endpoint: Omit<Endpoint, 'secret'>) {
  return until('the deliveries to end', async () => {
    const deliveries = await listDeliveries(db, endpoint);
    return deliveries.length > 0 && deliveries.every(({ state }) => state !== 'pending') && deliveries;
  });
}

/** Returns the signatures that a receiver expects, computed here as the Standard Webhooks specification says. */
export function expectedSignature({ headers, body }: Received, ...secrets: readonly Buffer[]): string {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`).join(' ');
}
