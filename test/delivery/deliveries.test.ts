import { pino } from 'pino';
import { createSender } from '../../src/delivery/sender.ts';
import { Keyring } from '../../src/domain/keyring.ts';
import { DeliveryMeasures } from '../../src/observability/instruments/measures.ts';
import { deliveryMetrics } from '../../src/observability/metrics/app-metrics.ts';
import { Metrics } from '../../src/observability/metrics/metrics.ts';
import {
  expectedSignature,
  insertEndpoint,
  LOCAL,
  listDeliveries,
  skipWaits,
  startTestDeliveries,
  untilDelivered,
  whileDelivering,
  writeEvents,
} from '../support/data/deliveries.ts';
import { byLabel, seriesOf } from '../support/observability/metrics.ts';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { connectTo, createTenant } from '../support/postgres/store.ts';
import {
  respondsWith,
  type ScriptedServer,
  type Step,
  startScriptedServer,
  staysSilent,
} from '../support/servers/scripted-server.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const server = await useServer();
const { db } = server;

const opened: ScriptedServer[] = [];
afterEach(async () => {
  for (const receiver of opened.splice(0)) await receiver.close();
  await db.pool.query('delete from webhook_endpoints');
});

/** An organization with an endpoint, and its receiver. */
async function create(...steps: [Step, ...Step[]]) {
  const receiver = await startScriptedServer();
  opened.push(receiver);
  receiver.play(...steps);
  const { organizationId } = (await createTenant(db)).scope;
  return {
    receiver,
    organizationId,
    endpoint: await insertEndpoint(db, organizationId, { url: `${receiver.url}/hook` }),
  };
}

const FINE = respondsWith(200);

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
  const outcomes = async () => byLabel(await seriesOf(metrics), 'charter_webhook_attempts_total', 'outcome');
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
  const series = await seriesOf(metrics);
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

test('the waits after failures are those of the schedule, and after the eighth attempt a delivery has failed for good', async () => {
  const { receiver, organizationId, endpoint } = await create(respondsWith(503));
  const printed: string[] = [];
  const logger = pino({}, { write: (line: string) => void printed.push(line) });
  await writeEvents(db, organizationId);
  const waits: number[] = [];
  await whileDelivering(
    db,
    async () => {
      for (let failures = 1; failures <= 7; failures += 1) {
        await until(`failure ${failures}`, async () => (await listDeliveries(db, endpoint))[0]?.failures === failures);
        const { rows } = await db.pool.query<{ seconds: number }>(
          `select extract(epoch from d.next_attempt_at - max(a.at))::float8 as seconds
           from webhook_deliveries d join webhook_attempts a using (organization_id, endpoint_id, message_id)
           where d.endpoint_id = $1 group by d.next_attempt_at`,
          [endpoint.endpointId],
        );
        waits.push(rows[0]?.seconds ?? 0);
        await skipWaits(db);
      }
      const [delivery] = await untilDelivered(db, endpoint);
      expect(delivery).toMatchObject({ state: 'failed', attempts: 8, failures: 8, nextAttemptAt: null });
    },
    { logger },
  );
  for (const [i, seconds] of [5, 300, 1800, 7200, 18_000, 36_000, 36_000].entries()) {
    expect(waits[i]).toBeGreaterThanOrEqual(seconds);
    // A tenth more, and half a minute for a busy machine.
    expect(waits[i]).toBeLessThan(seconds * 1.1 + 30);
  }
  expect(receiver.received.length).toBe(8);
  const lines = printed.filter((line) => line.includes('failed for good'));
  expect(lines).toEqual([expect.stringContaining(`"endpointId":"${endpoint.endpointId}"`)]);
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

// The attack: the administrator corrects the URL while the former receiver is still responding.
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

// The bug: the results of the attempt were written, so nothing said any more that the endpoint had to be disabled.
test('an outage between an attempt and the disabling of its endpoint delays it, and counts the attempt once', async () => {
  const { organizationId } = await create(respondsWith(500));
  await db.prisma.webhookEndpoint.updateMany({
    where: { organizationId },
    data: { failingSince: new Date(Date.now() - 6 * DAY_MS) },
  });
  await writeEvents(db, organizationId);
  // Fails once: a sequence keeps its value when its transaction is rolled back.
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
    expect(byLabel(await seriesOf(metrics), 'charter_webhook_attempts_total', 'outcome')['retried']).toBe(1);
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

test('two processes send each webhook once', async () => {
  const { receiver, organizationId, endpoint } = await create(FINE);
  const ids = await writeEvents(db, organizationId, 300);
  const second = startTestDeliveries(db);
  await whileDelivering(db, () => untilDelivered(db, endpoint));
  await second.stop();
  expect(receiver.received.map(({ headers }) => headers['webhook-id'] ?? '').toSorted()).toEqual(ids);
});

test('a delivery that a killed process has claimed is taken over when its lease ends', async () => {
  const { receiver, organizationId, endpoint } = await create(FINE);
  await writeEvents(db, organizationId);
  // As after a kill: claimed, and no result.
  const claimed = { attempts: 1, nextAttemptAt: new Date(Date.now() + 3000) };
  await db.prisma.webhookDelivery.updateMany({ where: { organizationId }, data: claimed });
  const [delivery] = await whileDelivering(db, () => untilDelivered(db, endpoint));
  expect(receiver.received.length).toBe(1);
  expect(delivery?.log).toMatchObject([{ number: 2 }]);
  expect(delivery?.log[0]?.at.getTime()).toBeGreaterThanOrEqual(claimed.nextAttemptAt.getTime() - 100);
});

test('a stop waits for the attempt in progress, writes its result, and begins no other', async () => {
  let respond = () => {};
  const { receiver, organizationId, endpoint } = await create((res) => (respond = () => void res.end()));
  await writeEvents(db, organizationId);
  const deliveries = startTestDeliveries(db);
  await until('the attempt', () => receiver.received.length === 1);
  const stopped = deliveries.stop();
  await writeEvents(db, organizationId);
  respond();
  await stopped;
  const states = (await listDeliveries(db, endpoint)).map(({ state, attempts }) => [state, attempts]);
  expect(states).toEqual([
    ['succeeded', 1],
    ['pending', 0],
  ]);
});

// The attack: an endpoint that never responds keeps the process from stopping.
test('a stop abandons an attempt that takes longer than five seconds, which is repeated after the lease', async () => {
  const { receiver, organizationId, endpoint } = await create(staysSilent);
  await writeEvents(db, organizationId);
  const deliveries = startTestDeliveries(db, { leaseSeconds: 6 });
  await until('the attempt', () => receiver.received.length === 1);
  await deliveries.stop();
  expect((await listDeliveries(db, endpoint))[0]).toMatchObject({
    state: 'pending',
    attempts: 1,
    failures: 0,
    log: [],
  });
  receiver.play(FINE);
  await whileDelivering(db, () => untilDelivered(db, endpoint));
});

test('while the database is away, the deliveries pause; the result of an attempt in progress is kept', async () => {
  await using proxy = await proxyDatabase(server.databaseUrl);
  await using own = connectTo(proxy.url);
  const printed: string[] = [];
  const logger = pino({}, { write: (line: string) => void printed.push(line) });
  const linesWith = (text: string) => printed.filter((line) => line.includes(text)).length;
  let respond = () => {};
  const { receiver, organizationId, endpoint } = await create((res) => (respond = () => void res.end()), FINE);
  await writeEvents(db, organizationId);
  await whileDelivering(
    own,
    async () => {
      await until('the attempt', () => receiver.received.length === 1);
      await proxy.stop();
      const { query } = own.pool;
      let failedWrites = 0;
      const counting = async (...parameters: unknown[]) => {
        const isWrite = JSON.stringify(parameters).includes('record_webhook_attempts');
        return Promise.resolve(Reflect.apply(query, own.pool, parameters)).catch((error: unknown) => {
          if (isWrite) failedWrites += 1;
          throw error;
        });
      };
      Object.assign(own.pool, { query: counting });
      respond();
      await until('a write of the result to fail', () => failedWrites > 0);
      Object.assign(own.pool, { query });
      await proxy.start();
      const [delivery] = await untilDelivered(db, endpoint);
      expect(delivery).toMatchObject({ state: 'succeeded', attempts: 1 });
      await until('the end of the pause', () => linesWith('deliveries continue') === 1);
      await writeEvents(db, organizationId);
      await until('the next one', () => receiver.received.length === 2);
    },
    { logger },
  );
  expect(linesWith('deliveries pause')).toBe(1);
});

test('a process without the encryption key of a secret leaves its deliveries to others', async () => {
  const { receiver, organizationId, endpoint } = await create(FINE);
  const well = await create(FINE);
  await writeEvents(db, organizationId);
  const keyring = new Keyring([Buffer.alloc(32, 'other')]);
  const printed: string[] = [];
  const logger = pino({}, { write: (line: string) => void printed.push(line) });
  const warned = () => printed.filter((line) => line.includes('could not attempt')).length;
  await whileDelivering({ ...db, keyring }, () => until('a warning', warned), { logger, leaseSeconds: 1 });
  expect(printed.join('')).not.toContain(endpoint.secret.toString('base64'));
  await writeEvents(db, well.organizationId);
  await whileDelivering(db, () => Promise.all([untilDelivered(db, endpoint), untilDelivered(db, well.endpoint)]));
  expect(receiver.received.length).toBe(1);
});

test('now and then, a line in the log has the numbers of attempts and of deliveries that wait', async () => {
  const { organizationId, endpoint } = await create(FINE, respondsWith(500));
  const printed: string[] = [];
  const logger = pino({}, { write: (line: string) => void printed.push(line) });
  await writeEvents(db, organizationId, 2);
  const sum = (name: string) =>
    printed.reduce((total, line) => {
      const entry = JSON.parse(line);
      return total + (entry.msg === 'webhook deliveries' ? entry[name] : 0);
    }, 0);
  await whileDelivering(db, () => until('the numbers', () => sum('succeeded') === 1 && sum('failed') === 1), {
    logger,
    reportSeconds: 0.1,
  });
  const last = printed.findLast((line) => line.includes('"webhook deliveries"')) ?? '{}';
  expect(JSON.parse(last)).toMatchObject({ pending: 1, due: 0 });
  expect(printed.join('')).not.toContain('/hook');
  expect((await listDeliveries(db, endpoint)).length).toBe(2);
});

test('an endpoint that is deleted during an attempt keeps no other result from being written', async () => {
  const responses: (() => void)[] = [];
  const wait: Step = (res) => void responses.push(() => res.end());
  const [gone, kept] = [await create(wait), await create(wait)];
  for (const { organizationId } of [gone, kept]) await writeEvents(db, organizationId);
  await whileDelivering(db, async () => {
    await until('both attempts', () => responses.length === 2);
    await db.pool.query('delete from webhook_endpoints where organization_id = $1', [gone.organizationId]);
    for (const respond of responses) respond();
    await untilDelivered(db, kept.endpoint);
  });
});

const EVENTS = 100;

// The attack: an endpoint that keeps every connection open, and one that fails, take all places.
test(`one endpoint that hangs and one that responds with 500 do not delay a well one: ${EVENTS} events`, async () => {
  const hanging = await create(staysSilent);
  const broken = await create(respondsWith(500));
  const well = await create(FINE);
  for (const { receiver } of [hanging, broken]) await insertEndpoint(db, well.organizationId, { url: receiver.url });
  const ids = await writeEvents(db, well.organizationId, EVENTS);
  // Well before the first attempt at the one that hangs ends.
  const sender = createSender({ targets: LOCAL, timeoutSeconds: 600 });
  await whileDelivering(db, () => untilDelivered(db, well.endpoint), { sender });
  expect(well.receiver.received.map(({ headers }) => headers['webhook-id'] ?? '').toSorted()).toEqual(ids);
  expect(hanging.receiver.received.length).toBeLessThanOrEqual(8);
});
