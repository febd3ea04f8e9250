import { pino } from 'pino';
import { DeliveryMeasures } from '../../src/observability/instruments/measures.ts';
import { deliveryMetrics } from '../../src/observability/metrics/app-metrics.ts';
import { Metrics } from '../../src/observability/metrics/metrics.ts';
import {
  expectedSignature,
  FINE,
  insertEndpoint,
  listDeliveries,
  skipWaits,
  untilDelivered,
  useReceivers,
  whileDelivering,
  writeEvents,
} from '../support/data/deliveries.ts';
import { byLabel, readSeries } from '../support/observability/metrics.ts';
import { createTenant } from '../support/postgres/store.ts';
import { respondsWith } from '../support/servers/scripted-server.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const server = await useServer();
const { db } = server;
const { create } = useReceivers(db);

test('a change is sent at once: signed, and with the body that GET /api/events/{id} returns', async () => {
  const { id: organizationId, client } = await createTestOrganization(server);
  const { receiver } = await create(FINE);
  const { secret } = await insertEndpoint(db, organizationId, { url: `${receiver.url}/hook?tenant=1` });
  await whileDelivering(db, async () => {
    const { body: program } = await client.post('/api/parent_programs', { name: 'Größe €5', description: '"quoted"' });
    await client.patch(`/api/parent_programs/${program.id}`, { name: 'Changed' });
    await client.delete(`/api/parent_programs/${program.id}`);
    await until('three webhooks', () => receiver.received.length === 3);
  });
  const types: string[] = [];
  for (const received of receiver.received) {
    const { method, url, headers, body } = received;
    expect({ method, url }).toEqual({ method: 'POST', url: '/hook?tenant=1' });
    const event = await client.get(`/api/events/${headers['webhook-id']}`);
    expect(body).toBe(event.text);
    types.push(event.body.type);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['user-agent']).toBe('Charter/test');
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(300);
    expect(headers['webhook-signature']).toBe(expectedSignature(received, secret));
  }
  expect(types.toSorted()).toEqual(['parent_program.created', 'parent_program.deleted', 'parent_program.updated']);
});

test('attempts are measured by their outcome, and the deliveries that have not ended are counted', async () => {
  const { organizationId } = await create(respondsWith(500), FINE);
  const measures = new DeliveryMeasures();
  const metrics = new Metrics();
  metrics.add(deliveryMetrics(measures));
  const startedAt = performance.now();
  const outcomes = async () => byLabel(await readSeries(metrics), 'charter_webhook_attempts_total', 'outcome');
  await whileDelivering(
    db,
    async () => {
      await writeEvents(db, organizationId);
      await until('a failed attempt', async () => (await outcomes())['retried'] === 1);
      await until('the delivery to be counted', () => measures.backlog.pending === 1);
      await skipWaits(db);
      await until('a successful attempt', async () => (await outcomes())['succeeded'] === 1);
      await until('the delivery to be gone', () => measures.backlog.pending === 0);
    },
    { measures, reportSeconds: 0 },
  );
  const series = await readSeries(metrics);
  expect(await outcomes()).toEqual({ succeeded: 1, retried: 1, failed: 0 });
  expect(series.get('charter_webhook_attempt_duration_seconds_count')).toBe(2);
  const seconds = series.get('charter_webhook_attempt_duration_seconds_sum');
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual((performance.now() - startedAt) / 1000);
});

test('a failed attempt is repeated with the same webhook-id and body, and a signature of its own', async () => {
  const { receiver, organizationId, endpoint } = await create(respondsWith(500, {}, 'broken'), FINE);
  const [id] = await writeEvents(db, organizationId);
  await whileDelivering(db, async () => {
    await until('the failure', async () => (await listDeliveries(db, endpoint))[0]?.failures === 1);
    await skipWaits(db);
    await untilDelivered(db, endpoint);
  });
  const [first, second] = receiver.received;
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
  expect(second?.body).toBe(first?.body);
  for (const received of receiver.received)
    expect(received.headers['webhook-signature']).toBe(expectedSignature(received, endpoint.secret));
  const [delivery] = await listDeliveries(db, endpoint);
  expect(delivery).toMatchObject({ state: 'succeeded', attempts: 2, nextAttemptAt: null });
  expect(delivery?.log).toMatchObject([
    { number: 1, status: 500, error: '', responseBody: Uint8Array.from(Buffer.from('"broken"')) },
    { number: 2, status: 200, error: '' },
  ]);
});

test('after a failure, the next attempt is due as the schedule says, and the eighth failure is for good', async () => {
  const { receiver, organizationId, endpoint } = await create(respondsWith(503));
  const { endpointId } = endpoint;
  const printed: string[] = [];
  const logger = pino({}, { write: (line: string) => void printed.push(line) });
  await writeEvents(db, organizationId);
  await whileDelivering(
    db,
    async () => {
      await until('a failure', async () => (await listDeliveries(db, endpoint))[0]?.failures === 1);
      const [delivery] = await listDeliveries(db, endpoint);
      const nextAt = delivery?.nextAttemptAt?.getTime() ?? 0;
      expect(nextAt - (delivery?.log[0]?.at.getTime() ?? 0)).toBeGreaterThanOrEqual(5000);
      // The wait lasts 5 to 5.5 seconds, and began before the failure was recorded.
      expect(nextAt - Date.now()).toBeLessThanOrEqual(5500);
      await db.prisma.webhookDelivery.updateMany({ where: { endpointId }, data: { failures: 7 } });
      await skipWaits(db);
      expect(await untilDelivered(db, endpoint)).toMatchObject([{ state: 'failed', failures: 8, nextAttemptAt: null }]);
    },
    { logger },
  );
  expect(receiver.received.length).toBe(2);
  const lines = printed.filter((line) => line.includes('failed for good'));
  expect(lines).toEqual([expect.stringContaining(`"endpointId":"${endpointId}"`)]);
  expect(lines[0]).not.toContain('/hook');
});

test('2xx is a success; any other status is a failure, a redirect too, which is not followed', async () => {
  const elsewhere = await create(FINE);
  const statuses = [200, 202, 204, 299, 301, 307, 400, 404, 500];
  const { receiver, organizationId, endpoint } = await create(FINE);
  const steps = statuses.map((status) => respondsWith(status, { Location: elsewhere.receiver.url }));
  const [first = FINE, ...others] = steps;
  receiver.play(first, ...others);
  await writeEvents(db, organizationId, statuses.length);
  await whileDelivering(db, () =>
    until('an attempt for each', async () => (await listDeliveries(db, endpoint)).every(({ log }) => log.length === 1)),
  );
  const deliveries = await listDeliveries(db, endpoint);
  const outcomes = deliveries.map(({ state, log }) => [log[0]?.status ?? 0, state] as const);
  expect(outcomes.toSorted(([a], [b]) => a - b)).toEqual(
    statuses.map((status) => [status, status < 300 ? 'succeeded' : 'pending']),
  );
  expect(elsewhere.receiver.received).toEqual([]);
});

test('an endpoint gets only the events that it wants, and none of another organization', async () => {
  const { receiver, organizationId } = await create(FINE);
  await insertEndpoint(db, organizationId, {
    url: `${receiver.url}/deletions`,
    eventTypes: ['parent_program.deleted'],
  });
  const others = await createTenant(db);
  await writeEvents(db, others.scope.organizationId);
  const [id] = await writeEvents(db, organizationId);
  await db.pool.query('delete from parent_programs where organization_id = $1', [organizationId]);
  await whileDelivering(db, () => until('three webhooks', () => receiver.received.length === 3));
  const seen = receiver.received.map(({ url, body }) => `${url} ${JSON.parse(body).type}`);
  expect(seen.toSorted()).toEqual([
    '/deletions parent_program.deleted',
    '/hook parent_program.created',
    '/hook parent_program.deleted',
  ]);
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toContain(id);
});

test('while a secret is being rotated, both secrets sign; afterwards only the new one', async () => {
  const { receiver, organizationId } = await create(FINE);
  const previousSecret = Buffer.alloc(32, 'previous');
  const url = `${receiver.url}/rotated`;
  await db.pool.query('delete from webhook_endpoints where organization_id = $1', [organizationId]);
  const during = { url, previousSecret, previousSecretUntil: new Date(Date.now() + 3_600_000) };
  const endpoint = await insertEndpoint(db, organizationId, during);
  await whileDelivering(db, async () => {
    await writeEvents(db, organizationId);
    await until('a webhook', () => receiver.received.length === 1);
    await db.prisma.webhookEndpoint.updateMany({ data: { previousSecretUntil: new Date(Date.now() - 1000) } });
    await writeEvents(db, organizationId);
    await until('another webhook', () => receiver.received.length === 2);
  });
  const [first, second] = receiver.received;
  if (first === undefined || second === undefined) throw new Error('Fewer than two webhooks were received.');
  expect(first.headers['webhook-signature']).toBe(expectedSignature(first, endpoint.secret, previousSecret));
  expect(second.headers['webhook-signature']).toBe(expectedSignature(second, endpoint.secret));
});

test('a test event is delivered like any other', async () => {
  const { receiver, endpoint } = await create(FINE);
  const { secret, ...place } = endpoint;
  const messageId = '019df30f-b339-734b-82ec-629b4675da22';
  const createdAt = new Date('2026-03-01T12:00:00.5Z');
  await db.prisma.webhookDelivery.create({ data: { ...place, messageId, isTest: true, createdAt } });
  await whileDelivering(db, () => untilDelivered(db, endpoint));
  const [received] = receiver.received;
  expect(JSON.parse(received?.body ?? '')).toEqual({
    id: messageId,
    type: 'webhook.test',
    timestamp: '2026-03-01T12:00:00.500Z',
    data: {},
  });
  expect(received?.headers['webhook-signature']).toBe(received && expectedSignature(received, secret));
});
