import { DeliveryMeasures } from '../../src/observability/instruments/measures.ts';
import { deliveryMetrics } from '../../src/observability/metrics/app-metrics.ts';
import { Metrics } from '../../src/observability/metrics/metrics.ts';
import {
  FINE,
  listDeliveries,
  skipWaits,
  untilDelivered,
  useReceivers,
  whileDelivering,
  writeEvents,
} from '../support/data/deliveries.ts';
import { byLabel, readSeries } from '../support/observability/metrics.ts';
import { respondsWith } from '../support/servers/scripted-server.ts';
import { useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const server = await useServer();
const { db } = server;
const { create } = useReceivers(db);

test('410 disables the endpoint, which is in the audit log; its deliveries wait until it is enabled', async () => {
  const { receiver, organizationId, endpoint } = await create(respondsWith(410), FINE);
  await writeEvents(db, organizationId);
  const where = { organizationId_id: { organizationId, id: endpoint.endpointId } };
  await whileDelivering(db, async () => {
    await until('the end', async () => (await db.prisma.webhookEndpoint.findUniqueOrThrow({ where })).disabledAt);
    await skipWaits(db);
    await db.prisma.webhookDelivery.updateMany({ data: { nextAttemptAt: new Date() } });
    const other = await create(FINE);
    await writeEvents(db, other.organizationId);
    await untilDelivered(db, other.endpoint);
    expect(receiver.received.length).toBe(1);
    const enabled = { disabledAt: null, disabledReason: null };
    await db.prisma.webhookEndpoint.update({ where, data: enabled });
    await untilDelivered(db, endpoint);
  });
  const events = await db.prisma.auditEvent.findMany({ where: { organizationId } });
  expect(events).toMatchObject([{ action: 'webhook.disabled', actorUserId: null, detail: { reason: 'gone' } }]);
});

// The race: an administrator corrects the URL while the former receiver is still responding.
test('an attempt at the former URL that ends after the change leaves the endpoint as it is', async () => {
  const held = Promise.withResolvers<void>();
  const { receiver, organizationId, endpoint } = await create(
    (res) => void held.promise.then(() => res.writeHead(410).end()),
    FINE,
  );
  await writeEvents(db, organizationId);
  const where = { organizationId_id: { organizationId, id: endpoint.endpointId } };
  await whileDelivering(db, async () => {
    await until('the attempt', () => receiver.received.length === 1);
    await db.prisma.webhookEndpoint.update({ where, data: { url: `${receiver.url}/corrected` } });
    held.resolve();
    await until('its result', async () => (await listDeliveries(db, endpoint))[0]?.log.length === 1);
  });
  const row = await db.prisma.webhookEndpoint.findUniqueOrThrow({ where });
  expect(row).toMatchObject({ disabledAt: null, failingSince: null });
  await skipWaits(db);
  await whileDelivering(db, () => untilDelivered(db, endpoint));
  expect(receiver.received.map(({ url }) => url)).toEqual(['/hook', '/corrected']);
});

const DAY_MS = 86_400_000;

test.each([
  [5.01, 'failing'],
  [4.99, null],
])('a failed attempt after %s days of failures alone: disabled as %s', async (days, disabledReason) => {
  const { organizationId, endpoint } = await create(respondsWith(500));
  await db.prisma.webhookEndpoint.updateMany({
    where: { organizationId },
    data: { failingSince: new Date(Date.now() - days * DAY_MS) },
  });
  await writeEvents(db, organizationId);
  await whileDelivering(db, () =>
    until('the failure', async () => (await listDeliveries(db, endpoint))[0]?.log.length === 1),
  );
  const [row] = await db.prisma.webhookEndpoint.findMany({ where: { organizationId } });
  expect(row?.disabledReason).toBe(disabledReason);
});

// The bug: the result of the attempt was stored before the outage, and afterwards nothing said that the endpoint had to be
// disabled.
test('an outage between an attempt and the disabling of its endpoint delays it, and counts the attempt once', async () => {
  const { organizationId } = await create(respondsWith(500));
  await db.prisma.webhookEndpoint.updateMany({
    where: { organizationId },
    data: { failingSince: new Date(Date.now() - 6 * DAY_MS) },
  });
  await writeEvents(db, organizationId);
  // The trigger fails only once, because a sequence keeps its value when its transaction is rolled back.
  await db.pool.query(`
    create sequence outages;
    create function fail_once() returns trigger language plpgsql as $$
    begin
      if nextval('outages') = 1 then raise exception 'away' using errcode = '57P01'; end if;
      return new;
    end $$;
    create trigger fail_once before update of disabled_at on webhook_endpoints for each row execute function fail_once()`);
  try {
    const measures = new DeliveryMeasures();
    const isDisabled = async () =>
      (await db.prisma.webhookEndpoint.findFirst({ where: { organizationId } }))?.disabledReason === 'failing';
    await whileDelivering(db, () => until('the endpoint to be disabled', isDisabled), { measures });
    expect((await db.pool.query('select last_value::int from outages')).rows).toEqual([{ last_value: 2 }]);
    const metrics = new Metrics();
    metrics.add(deliveryMetrics(measures));
    expect(byLabel(await readSeries(metrics), 'charter_webhook_attempts_total', 'outcome')['retried']).toBe(1);
  } finally {
    await db.pool.query('drop function fail_once cascade; drop sequence outages');
  }
});

test('a success ends the days of failures', async () => {
  const { organizationId, endpoint } = await create(FINE, respondsWith(500));
  await db.prisma.webhookEndpoint.updateMany({ data: { failingSince: new Date(Date.now() - 6 * DAY_MS) } });
  const failingSince = async () =>
    (await db.prisma.webhookEndpoint.findFirst({ where: { organizationId } }))?.failingSince;
  await writeEvents(db, organizationId);
  await whileDelivering(db, async () => {
    await untilDelivered(db, endpoint);
    expect(await failingSince()).toBeNull();
    await writeEvents(db, organizationId);
    await until('the failure', async () => ((await failingSince())?.getTime() ?? 0) > Date.now() - DAY_MS);
  });
  const counts = await db.prisma.webhookDay.findMany({ where: { organizationId } });
  const total = (of: 'succeeded' | 'failed') => counts.reduce((sum, day) => sum + day[of], 0n);
  expect([total('succeeded'), total('failed')]).toEqual([1n, 1n]);
});

test('the webhooks of a suspended organization wait until it is resumed', async () => {
  const { receiver, organizationId, endpoint } = await create(FINE);
  const other = await create(FINE);
  await db.prisma.organization.update({ where: { id: organizationId }, data: { suspendedAt: new Date() } });
  await writeEvents(db, organizationId);
  await whileDelivering(db, async () => {
    await writeEvents(db, other.organizationId);
    await untilDelivered(db, other.endpoint);
    expect(receiver.received).toEqual([]);
    await db.prisma.organization.update({ where: { id: organizationId }, data: { suspendedAt: null } });
    await untilDelivered(db, endpoint);
  });
});

test('a delivery whose event is no longer kept fails for good, and not because of its endpoint', async () => {
  const { receiver, organizationId, endpoint } = await create(FINE);
  await writeEvents(db, organizationId);
  await db.pool.query('delete from events where organization_id = $1', [organizationId]);
  const [delivery] = await whileDelivering(db, () => untilDelivered(db, endpoint));
  expect(delivery).toMatchObject({ state: 'failed', attempts: 1 });
  expect(delivery?.log).toMatchObject([{ status: null, error: 'The event is no longer kept.' }]);
  expect(receiver.received).toEqual([]);
  const [row] = await db.prisma.webhookEndpoint.findMany({ where: { organizationId } });
  expect(row?.failingSince).toBeNull();
});
