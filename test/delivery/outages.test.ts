import { pino } from 'pino';
import { createSender } from '../../src/delivery/sender.ts';
import { Keyring } from '../../src/domain/keyring.ts';
import {
  FINE,
  insertEndpoint,
  listDeliveries,
  startTestDeliveries,
  untilDelivered,
  useReceivers,
  whileDelivering,
  writeEvents,
} from '../support/data/deliveries.ts';
import { LOCAL } from '../support/data/webhooks.ts';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { connectTo } from '../support/postgres/store.ts';
import { respondsWith, type Step, staysSilent } from '../support/servers/scripted-server.ts';
import { useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const server = await useServer();
const { db } = server;
const { create } = useReceivers(db);

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
  // Simulates a killed process: the delivery is claimed and has no result.
  const claimed = { attempts: 1, nextAttemptAt: new Date(Date.now() + 1500) };
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

// The attack: an endpoint that never responds, so that the process cannot stop.
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

// The attack: one endpoint that keeps every connection open, and one that fails, use up all concurrent attempts.
test(`one endpoint that hangs and one that responds with 500 do not delay a well one: ${EVENTS} events`, async () => {
  const hanging = await create(staysSilent);
  const broken = await create(respondsWith(500));
  const well = await create(FINE);
  for (const { receiver } of [hanging, broken]) await insertEndpoint(db, well.organizationId, { url: receiver.url });
  const ids = await writeEvents(db, well.organizationId, EVENTS);
  // With this time limit, the attempts at the hanging endpoint last longer than the test.
  const sender = createSender({ targets: LOCAL, timeoutSeconds: 600 });
  await whileDelivering(
    db,
    async () => {
      await untilDelivered(db, well.endpoint);
      expect(hanging.receiver.received.length).toBeLessThanOrEqual(8);
      // A graceful stop would wait for the hanging attempts.
      sender.close();
    },
    { sender },
  );
  expect(well.receiver.received.map(({ headers }) => headers['webhook-id'] ?? '').toSorted()).toEqual(ids);
});
