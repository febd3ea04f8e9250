import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { placeOfWebhookSecret } from '../../src/store/sql/secrets.ts';
import {
  findWebhookEndpoint,
  insertWebhookEndpoint,
  listWebhookEndpoints,
} from '../../src/store/webhooks/webhook-endpoints.ts';
import {
  deleteExpiredDeliveries,
  findWebhookDelivery,
  listWebhookDeliveries,
  resendFailedDeliveries,
} from '../../src/store/webhooks/webhook-history.ts';
import { openWithAutoExplain, type Plan } from '../support/postgres/plans.ts';
import { writeRows } from '../support/postgres/postgres.ts';
import { createTenant, type Tenant, useDatabase } from '../support/postgres/store.ts';

// Two organizations, each with an endpoint that has 20,000 deliveries. Half of the deliveries wait.

const ROWS = 20_000;
const DAY_MS = 86_400_000;

const database = await useDatabase();
const ours = await createTenant(database.db);
const endpointId = await fill(ours);
await fill(await createTenant(database.db));
await database.db.pool.query(
  'vacuum analyze webhook_endpoints, webhook_deliveries, webhook_attempts, webhook_days, events',
);
const planned = await openWithAutoExplain(database.url);
afterAll(() => planned.db.close());

async function fill({ scope, userId }: Tenant): Promise<string> {
  const [{ pool, prisma, keyring }, { organizationId }, id] = [database.db, scope, newId()];
  await insertWebhookEndpoint(prisma, scope, {
    id,
    url: 'https://example.org/',
    eventTypes: ['parent_program.created'],
    secret: keyring.encrypt(randomBytes(32), placeOfWebhookSecret({ organizationId, id })),
    createdByUserId: userId,
    createdAt: new Date(),
  });
  await writeRows(
    database.db,
    `insert into events (organization_id, id, type, timestamp, data)
     select $1, gen_random_uuid(), 'parent_program.created', now(), '{}' from generate_series(1, ${ROWS})`,
    [organizationId],
  );
  await writeRows(
    database.db,
    `update webhook_deliveries set state = 'succeeded', next_attempt_at = null, attempts = 1
     where organization_id = $1 and message_id > '80000000-0000-0000-0000-000000000000'`,
    [organizationId],
  );
  await writeRows(
    database.db,
    `insert into webhook_attempts (organization_id, endpoint_id, message_id, number, at, duration_ms, status)
     select organization_id, endpoint_id, message_id, number, now(), 1, 500
     from webhook_deliveries, generate_series(1, 3) number where organization_id = $1`,
    [organizationId],
  );
  for (let i = 0; i < 30; i += 1)
    await pool.query(
      'insert into webhook_days (organization_id, endpoint_id, day, succeeded, failed) values ($1, $2, $3, 1, 1)',
      [organizationId, id, new Date(Date.now() - i * DAY_MS)],
    );
  return id;
}

/**
 * Returns the plan of the last of eight executions, because PostgreSQL may switch a prepared statement to a generic plan after
 * five executions.
 */
async function planOf(ask: () => Promise<unknown>): Promise<Plan | undefined> {
  const plans = await planned.explainAll(async () => {
    for (let i = 0; i < 8; i += 1) await ask();
  });
  expect(plans).toHaveLength(8);
  for (const { text } of plans)
    expect(text).not.toMatch(/Seq Scan on webhook_(deliveries|attempts)|Seq Scan on events/);
  return plans.at(-1);
}

test.each([
  ['at the start', null],
  ['deep in the list', { id: '10000000-0000-0000-0000-000000000000', side: 'after' }],
  ['before a position', { id: '10000000-0000-0000-0000-000000000000', side: 'before' }],
] as const)('a list page of deliveries %s reads its rows only', async (_, from) => {
  const plan = await planOf(() =>
    listWebhookDeliveries(planned.db, ours.scope, { endpointId, isFailed: false, from, limit: 26 }),
  );
  // The limit covers the blocks of 26 deliveries, each with an event and an attempt, and of the descents of the indexes.
  expect(plan?.blocks).toBeLessThan(400);
});

test('the few failed deliveries are found among all others', async () => {
  const query = { endpointId, isFailed: true, from: null, limit: 26 } as const;
  expect((await planOf(() => listWebhookDeliveries(planned.db, ours.scope, query)))?.blocks).toBeLessThan(60);
});

test('the few deliveries whose last attempt failed are found among all others, to be sent again', async () => {
  const resend = () =>
    planned.db.prisma.$transaction((tx) =>
      resendFailedDeliveries(tx, ours.scope, { endpointId, since: new Date(Date.now() - 3_650 * DAY_MS) }),
    );
  expect((await planOf(resend))?.blocks).toBeLessThan(60);
});

test('a delivery is found by its key', async () => {
  const [first] = await listWebhookDeliveries(planned.db, ours.scope, {
    endpointId,
    isFailed: false,
    from: null,
    limit: 1,
  });
  const ids = { endpointId, messageId: first?.messageId ?? '', withBodies: true };
  expect((await planOf(() => findWebhookDelivery(planned.db, ours.scope, ids)))?.blocks).toBeLessThan(60);
});

// The bug: every chunk began again with the first endpoint, so a run with many chunks read each endpoint many times.
test('the deletion of expired deliveries goes through the endpoints once, however many chunks it takes', async () => {
  const { scope } = await createTenant(database.db);
  const { rows } = await database.db.pool.query<{ count: number }>(
    `with made as (
       insert into webhook_endpoints (organization_id, id, url, event_types, secret)
       select $1, gen_random_uuid(), url, event_types, secret
       from webhook_endpoints, generate_series(1, 5000) where id = $2 returning organization_id, id),
     written as (
       insert into webhook_deliveries (organization_id, endpoint_id, message_id, created_at)
       select organization_id, id, '01900000-0000-7000-8000-000000000000', '2026-01-01' from made returning 1)
     select count(*)::int as count from written`,
    [scope.organizationId, endpointId],
  );
  const count = rows[0]?.count ?? 0;
  expect(count).toBe(5000);
  await database.db.pool.query('analyze webhook_endpoints, webhook_deliveries');
  let deleted = 0;
  const plans = await planned.explainAll(async () => {
    deleted = await deleteExpiredDeliveries(planned.db, { now: new Date('2026-05-01') }, 30);
  });
  expect(deleted).toBe(count);
  const looks = plans.flatMap(({ text }) => [...text.matchAll(/on webhook_deliveries.*loops=(\d+)/g)]);
  // One look-up for each endpoint to find its deliveries, and one to delete each delivery.
  expect(looks.reduce((sum, [, loops]) => sum + Number(loops), 0)).toBeLessThan(2 * count + 100);
});

test('an endpoint and the list of endpoints count waiting deliveries up to a bound', async () => {
  for (const read of [
    () => findWebhookEndpoint(planned.db, ours.scope, endpointId),
    () => listWebhookEndpoints(planned.db, ours.scope),
  ])
    expect((await planOf(read))?.blocks).toBeLessThan(1200);
  expect(await findWebhookEndpoint(planned.db, ours.scope, endpointId)).toMatchObject({ pending: 1001 });
});
